/** Permissions and questions of the loop: said as native messages, answered by the session. An interrupt withdraws them. */
import type { JsonObject } from "../../../openresponses/json.ts";
import type { Decision, PermissionPolicy } from "../../../runtime/call-runner.ts";
import type { PermissionSubject } from "../../../runtime/permission-subject.ts";
import { RulePolicy } from "../../../runtime/permissions/decide.ts";
import type { PermissionRule } from "../../../runtime/permissions/rules.ts";
import type { PermissionAnswer, PermissionAsker, PermissionRequest, Question, QuestionAsker } from "../../../runtime/ports.ts";
import type { PermissionMode } from "../../../runtime/settings.ts";
import { AgentError, type PermissionReply } from "../../contract.ts";
import type { Command, Statement } from "../translate/wire.ts";

type Speaker = { say(statement: Statement): void; told(command: Command): void };

type Waiting =
  | { kind: "permission"; request: PermissionRequest; answer(answer: PermissionAnswer): void }
  | { kind: "question"; answer(answers: readonly string[] | null): void };

export class Requests implements PermissionAsker {
  readonly #speaker: Speaker;
  readonly #policy: SessionPolicy;
  readonly #waiting = new Map<string, Waiting>();
  #count = 0;
  /** Shows what an edit would change. */
  readonly #diffOf: (tool: string, args: JsonObject) => Promise<string | null>;

  constructor(speaker: Speaker, policy: SessionPolicy, diffOf: (tool: string, args: JsonObject) => Promise<string | null>) {
    this.#speaker = speaker;
    this.#policy = policy;
    this.#diffOf = diffOf;
  }

  readonly questions: QuestionAsker = {
    ask: (questions, signal, call) => this.#askQuestions(questions, signal, call),
  };

  async ask(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer> {
    const { call, call_id, tool, subject, args, reason, input_digest } = request;
    const diff = await this.#diffOf(tool, args);
    if (signal.aborted) return { decision: "deny", input_digest };
    const id = this.#newId();
    return new Promise((resolve) => {
      const withdraw = this.#withdrawal(id, signal, () => resolve({ decision: "deny", input_digest }));
      this.#waiting.set(id, { kind: "permission", request, answer: (answer) => withdraw(() => resolve(answer)) });
      this.#speaker.say({ type: "permission.asked", id, call, call_id, tool, subject, args, reason, diff });
    });
  }

  #askQuestions(questions: readonly Question[], signal: AbortSignal, call: string | null): Promise<readonly string[] | null> {
    if (signal.aborted) return Promise.resolve(null);
    const id = this.#newId();
    return new Promise((resolve) => {
      const withdraw = this.#withdrawal(id, signal, () => resolve(null));
      this.#waiting.set(id, { kind: "question", answer: (answers) => withdraw(() => resolve(answers)) });
      this.#speaker.say({ type: "question.asked", id, call, questions: [...questions] });
    });
  }

  /** Ends the wait once: by an answer, or by an interrupt. */
  #withdrawal(id: string, signal: AbortSignal, interrupted: () => void): (settle: () => void) => void {
    const onAbort = (): void => {
      if (!this.#waiting.delete(id)) return;
      this.#speaker.say({ type: "request.withdrawn", id });
      interrupted();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    return (settle) => {
      signal.removeEventListener("abort", onAbort);
      this.#waiting.delete(id);
      settle();
    };
  }

  replyPermission(id: string, { reply, message }: PermissionReply): void {
    const waiting = this.#waiting.get(id);
    if (waiting?.kind !== "permission") throw gone();
    const { request } = waiting;
    this.#speaker.told({ type: "permission.reply", id, reply, message });
    if (reply === "always") this.#policy.allow(request.subject);
    const input_digest = request.input_digest;
    if (reply !== "reject") waiting.answer({ decision: "allow", input_digest });
    else
      waiting.answer({
        decision: "deny",
        input_digest,
        ...(message === null ? {} : { message: `The user does not allow this: ${message}` }),
      });
  }

  replyQuestion(id: string, answers: string[][] | null): void {
    const waiting = this.#waiting.get(id);
    if (waiting?.kind !== "question") throw gone();
    this.#speaker.told({ type: "question.reply", id, answers });
    waiting.answer(answers === null ? null : answers.map((chosen) => chosen.join(", ")));
  }

  #newId(): string {
    this.#count += 1;
    return `r${this.#count}`;
  }
}

const gone = (): AgentError => new AgentError("agent_gone", "This request is not open any more.");

/** The rules of the person and of a trusted directory, and what was allowed for the whole session. */
export class SessionPolicy implements PermissionPolicy {
  readonly #directory: string;
  readonly #rules: PermissionRule[];
  /** Folders of skills: outside the directory, and free to be read. */
  readonly #readable: readonly string[];
  #policy: RulePolicy;

  /** Throws `RuleError` for a rule that cannot be read. */
  constructor(directory: string, rules: readonly PermissionRule[], readable: readonly string[] = []) {
    this.#directory = directory;
    this.#rules = [...rules];
    this.#readable = readable;
    this.#policy = new RulePolicy({ directory, rules, readable });
  }

  decide(subject: PermissionSubject, mode: PermissionMode, call = "", allowed: readonly string[] = []): Decision {
    return this.#policy.decide(subject, mode, call, allowed);
  }

  /** What was allowed for good: this command line, edits of these files, this host, this tool. */
  allow(subject: PermissionSubject): void {
    const added = rulesFor(subject).map((rule) => ({ rule, decision: "allow" as const }));
    if (added.length === 0) return;
    try {
      const [directory, readable] = [this.#directory, this.#readable];
      this.#policy = new RulePolicy({ directory, rules: [...this.#rules, ...added], readable });
      this.#rules.push(...added);
    } catch {
      // A path or a line that no rule can say: it was allowed once, and is asked about again.
    }
  }
}

function rulesFor(subject: PermissionSubject): string[] {
  switch (subject.kind) {
    case "bash":
      return subject.unsandboxed ? [] : [`Bash(${subject.command})`];
    case "edit":
      return subject.paths.map((path) => `Edit(${path})`);
    case "read":
      return subject.paths.map((path) => `Read(${path})`);
    case "fetch":
      return URL.canParse(subject.url) ? [`Fetch(${new URL(subject.url).hostname})`] : [];
    case "other":
      return [subject.name];
    case "internal":
      return [];
    default:
      return subject satisfies never;
  }
}
