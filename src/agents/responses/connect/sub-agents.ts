/**
 * Sub-agents of a session: sessions of their own, of any agent. What they say and do is reported in this session too, as part of the call that started them; their
 * requests can be answered in either. Their id is made of the call, so that a call never gets a second child, also after a crash.
 */
import { createHash } from "node:crypto";
import type { SubAgent, SubAgentEnd, SubAgentRequest, SubAgents } from "../../../runtime/ports.ts";
import type { TokenCount } from "../../../runtime/records.ts";
import type { UniversalEvent } from "../../../schema/event.ts";
import { AgentError, type ChildSession, type ChildSessions, type PermissionReply, type SessionConfig } from "../../contract.ts";
import { isInside } from "../../inside-directory.ts";
import { num, rec } from "../../json.ts";
import { OWN_PREFIX } from "../../own-environment.ts";
import { CHILD_EVENTS } from "../translate/child-drafts.ts";
import type { Statement } from "../translate/wire.ts";

export type SubAgentLimits = {
  /** How many sessions may be above one that works. */
  depth: number;
  /** Started by one turn. */
  count: number;
  /** At the same time. */
  at_once: number;
};

export function subAgentLimits(settings: Record<string, unknown>): SubAgentLimits {
  const { depth, count, at_once } = rec(settings.subagents);
  return { depth: num(depth) ?? 2, count: num(count) ?? 16, at_once: num(at_once) ?? 4 };
}

export type SubAgentOptions = {
  children: ChildSessions;
  limits: SubAgentLimits;
  /** The agent of this session: what a child is when nothing else is asked for. */
  own: string;
  config: SessionConfig;
  say(statement: Statement): void;
  /** The running turn. */
  turn(): string | null;
};

type OpenRequest = { child: ChildSession; id: string };

export class ChildAgents implements SubAgents {
  readonly #options: SubAgentOptions;
  readonly #requests = new Map<string, OpenRequest>();
  #running = 0;
  #started: { turn: string | null; count: number } = { turn: null, count: 0 };

  constructor(options: SubAgentOptions) {
    this.#options = options;
  }

  get agents(): readonly string[] {
    return this.#options.children.agents();
  }

  async open(request: SubAgentRequest): Promise<SubAgent> {
    this.#mustHaveRoom();
    // Its place is taken before it is there: calls of one answer come together.
    this.#running += 1;
    try {
      return this.#held(await this.#create(request), request.call);
    } catch (error) {
      this.#running -= 1;
      throw error;
    }
  }

  async find(call: string): Promise<SubAgent | null> {
    const { children, config } = this.#options;
    const child = await children.find(this.#idOf(call), config.session_id);
    if (child === null) return null;
    this.#running += 1;
    return this.#held(child, call);
  }

  async #create(request: SubAgentRequest): Promise<ChildSession> {
    const { children, own, config } = this.#options;
    if (!isInside(config.directory, request.directory))
      throw new AgentError("agent_refused", `A sub-agent works inside ${config.directory}, not in ${request.directory}.`);
    const agent = request.agent ?? own;
    if (!this.agents.includes(agent))
      throw new AgentError("agent_refused", `There is no agent ${JSON.stringify(agent)}. There are: ${this.agents.join(", ")}.`);
    return children.create({
      session_id: this.#idOf(request.call),
      parent_session_id: config.session_id,
      agent,
      directory: request.directory,
      trusted: config.trusted,
      model: request.model ?? (agent === own ? config.model : null),
      permission_mode: config.permission_mode,
      env: agent === own ? withoutOwn(config.env) : {},
      title: request.title,
    });
  }

  /** False: it is no request of a sub-agent. */
  async replyPermission(id: string, { reply, message }: PermissionReply): Promise<boolean> {
    const request = this.#requests.get(id);
    if (request === undefined) return false;
    await request.child.replyPermission(request.id, { reply, message });
    return true;
  }

  async replyQuestion(id: string, answers: string[][] | null): Promise<boolean> {
    const request = this.#requests.get(id);
    if (request === undefined) return false;
    await request.child.replyQuestion(request.id, answers);
    return true;
  }

  #idOf(call: string): string {
    return `sub_${createHash("sha256").update(`${this.#options.config.session_id}\n${call}`).digest("hex").slice(0, 24)}`;
  }

  #mustHaveRoom(): void {
    const { limits, turn } = this.#options;
    const now = turn();
    if (this.#started.turn !== now) this.#started = { turn: now, count: 0 };
    if (this.#started.count >= limits.count)
      throw new AgentError("agent_refused", `This turn has started its ${limits.count} sub-agents. Do the rest yourself.`);
    if (this.#running >= limits.at_once)
      throw new AgentError("agent_refused", `${limits.at_once} sub-agents work already. Wait for one of them.`);
    this.#started.count += 1;
  }

  #held(child: ChildSession, call: string): SubAgent {
    this.#options.say({ type: "child.started", call, session_id: child.session_id, agent: child.agent });
    let ended: Promise<void> | null = null;
    return {
      session_id: child.session_id,
      run: (prompt) => this.#work(child, call, () => child.send(prompt)),
      goOn: (prompt) => this.#goOn(child, call, prompt),
      end: () => {
        if (ended === null) this.#running -= 1;
        ended ??= child.end();
        return ended;
      },
    };
  }

  async #goOn(child: ChildSession, call: string, prompt: string): Promise<SubAgentEnd> {
    if ((await child.state()) === "new") return this.#work(child, call, () => child.send(prompt));
    // Our own agent goes on by itself; another one was cut off for good.
    if ((await child.state()) === "idle" && child.agent === this.#options.own)
      return this.#work(child, call, () => child.resume(), true);
    if ((await child.state()) === "busy") return this.#work(child, call, () => Promise.resolve(), true);
    return endOf(await child.history(["turn.ended", "item.completed", "error"]));
  }

  /** `cut`: nothing is sent, so there may be no turn to wait for. */
  async #work(child: ChildSession, call: string, begin: () => Promise<void>, cut = false): Promise<SubAgentEnd> {
    let stop = (): void => {};
    try {
      return await new Promise<SubAgentEnd>((resolve, reject) => {
        const seen: UniversalEvent[] = [];
        stop = child.follow((event) => {
          this.#tell(child, call, event);
          if (event.type === "item.completed" || event.type === "error") seen.push(event);
          if (event.type === "turn.ended") resolve(endOf([...seen, event]));
          if (event.type === "session.ended") resolve({ text: "", usage: null, fault: "its session was ended" });
        });
        const begun = async (): Promise<void> => {
          await begin();
          if (cut && (await child.state()) !== "busy")
            resolve(endOf(await child.history(["turn.ended", "item.completed", "error"])));
        };
        begun().catch(reject);
      });
    } finally {
      stop();
      for (const [id, request] of this.#requests) if (request.child === child) this.#resolved(id, false, null);
    }
  }

  #tell(child: ChildSession, call: string, event: UniversalEvent): void {
    const { say } = this.#options;
    switch (event.type) {
      case "permission.requested": {
        const id = this.#request(child, event.data.permission_id);
        return say({ type: "child.permission", id, call, permission: { ...event.data } });
      }
      case "question.requested": {
        const id = this.#request(child, event.data.question_id);
        return say({ type: "child.question", id, call, questions: event.data.questions.map((question) => ({ ...question })) });
      }
      case "permission.resolved":
        return this.#resolved(requestId(child, event.data.permission_id), event.data.status === "approved", null);
      case "question.resolved":
        return this.#resolved(requestId(child, event.data.question_id), false, event.data.answers ?? null);
      default:
        if (isTold(event)) say({ type: "child.event", call, session_id: child.session_id, event: told(event) });
    }
  }

  #request(child: ChildSession, native: string): string {
    const id = requestId(child, native);
    this.#requests.set(id, { child, id: native });
    return id;
  }

  #resolved(id: string, approved: boolean, answers: string[][] | null): void {
    if (this.#requests.delete(id)) this.#options.say({ type: "child.resolved", id, approved, answers });
  }
}

/** Variables were meant for this agent; those of the daemon it sets itself. */
const withoutOwn = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(OWN_PREFIX)));

const requestId = (child: ChildSession, native: string): string => `${child.session_id}:${native}`;

/** The prompt stands in the call already. */
function isTold(event: UniversalEvent): boolean {
  if (!(CHILD_EVENTS as readonly string[]).includes(event.type)) return false;
  return !("item" in event.data) || rec(event.data.item).role !== "user";
}

const told = (event: UniversalEvent) => ({ type: event.type, data: { ...event.data } });

/** The last turn of these events. */
function endOf(events: readonly UniversalEvent[]): SubAgentEnd {
  const end = events.findLast((event) => event.type === "turn.ended");
  const failure = events.findLast((event) => event.type === "error");
  const answers = events.flatMap((event) => (event.type === "item.completed" ? [event.data.item] : []));
  const last = answers.findLast((item) => item.kind === "message" && item.role === "assistant" && item.parent_id === null);
  const text = (last?.content ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
  if (end?.type !== "turn.ended") return { text, usage: null, fault: "it was cut off before its first answer" };
  const { stop_reason, usage } = end.data;
  const why = failure?.type === "error" ? `${stop_reason} (${failure.data.message})` : stop_reason;
  return { text, usage: tokens(usage), fault: stop_reason === "end_turn" ? null : why };
}

function tokens(usage: Extract<UniversalEvent, { type: "turn.ended" }>["data"]["usage"]): TokenCount | null {
  if (usage === undefined) return null;
  const { input_tokens = 0, output_tokens = 0, cache_read_tokens = 0, reasoning_tokens = 0 } = usage;
  return { input: input_tokens, output: output_tokens, cached: cache_read_tokens, reasoning: reasoning_tokens };
}
