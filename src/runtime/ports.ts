/** What the runtime needs from outside, as small interfaces. Whoever embeds the loop passes them in; it imports no log, no session and no server. */
import type { JsonObject } from "../openresponses/json.ts";
import type { PermissionSubject } from "./permission-subject.ts";
import type { JournalRecord, RecordOf, TokenCount } from "./records.ts";

/** One block of a provider's stream, verbatim. */
export interface ReceivedBlock {
  readonly bytes: Buffer;
  /** The bytes as text, where somebody has read them as that. */
  readonly text: string | null;
  /** Its payload, where it is a JSON object and was read. */
  readonly data: JsonObject | null;
  /** The text it adds, where it differs from the block before only in that and its number: then its payload was not read. */
  readonly delta: string | null;
}

/** The journal of one session: records in order, never changed. */
export interface JournalStore {
  /** Adds a record. It is safe only after `written()` or `durable()`. `json`: the record as JSON, where the caller has it. */
  append(record: JournalRecord, json?: string): void;
  /** Keeps the bytes of an answer by itself. Absent: they become a record, which changes nothing. */
  received?(blocks: readonly ReceivedBlock[]): void;
  /** When it is over, everything appended so far survives a crash of this process. */
  written(): Promise<void> | void;
  /** Resolves when everything appended so far survives a crash of the machine. */
  durable(): Promise<void>;
  /** All records, from the first. */
  read(): Promise<readonly JournalRecord[]>;
}

/** Bytes by their digest: whole tool outputs, and the contents of files before and after a change. */
export interface BlobStore {
  /** Returns the sha256 in hex. Durable when it resolves. */
  put(bytes: Buffer): Promise<string>;
  /** Null when there is no such blob. */
  get(digest: string): Promise<Buffer | null>;
}

/** The time. In a replay it is the recorded one. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
}

/** New ids. */
export interface Ids {
  next(kind: "turn" | "message" | "task"): string;
}

/** A question whether a call may run. */
export interface PermissionRequest {
  /** The key of the call. */
  readonly call: string;
  readonly call_id: string;
  readonly tool: string;
  readonly subject: PermissionSubject;
  readonly args: JsonObject;
  /** Digest of the tool's name and its exact input. The answer must repeat it. */
  readonly input_digest: string;
  /** Why it is asked. */
  readonly reason: string;
}

/** The answer. An `allow` whose digest is not that of the request is no approval. */
export interface PermissionAnswer {
  readonly decision: "allow" | "deny";
  readonly input_digest: string;
  /** Given to the model when the call is denied. */
  readonly message?: string;
}

/** Asks a person. */
export interface PermissionAsker {
  ask(request: PermissionRequest, signal: AbortSignal): Promise<PermissionAnswer>;
}

/** A question of the model to the person. */
export interface Question {
  readonly question: string;
  /** Answers to choose from; the person may write another. */
  readonly options: readonly string[];
}

/** Puts questions to a person. After a crash they are put again. */
export interface QuestionAsker {
  /** One answer for each question; null when the person does not answer. `call`: the key of the call that asks; null where no call does. */
  ask(questions: readonly Question[], signal: AbortSignal, call: string | null): Promise<readonly string[] | null>;
}

/** A command that runs. */
export interface RunningTask {
  readonly id: string;
  /** Resolves once, when the command has ended and its output is read. */
  readonly ended: Promise<TaskExit>;
  /** Output so far, beginning and end kept when it is long. */
  output(): TaskOutput;
  /** Resolves when there is output after this many bytes, or it ended, or the time is over. */
  waitForOutput(afterBytes: number, waitMs: number, signal?: AbortSignal): Promise<void>;
  /** TERM to its group, KILL after the grace. Resolves when it has ended. */
  stop(graceMs?: number): Promise<TaskExit>;
  signal(name: NodeJS.Signals): boolean;
  /** Its call has an answer and it goes on: from now on whoever watches the tasks is informed of it. */
  outlive(): void;
}

/** Sees the commands that outlive their call, and only those. */
export interface TaskWatcher {
  started(task: { readonly id: string; readonly command: string; readonly cwd: string; readonly title: string }): void;
  /** First what was written before, then everything as it comes. */
  output(id: string, stream: "stdout" | "stderr", text: string): void;
  /** After the last output. `stopped`: it was ended, by the model, a person or its time. `exit_code` of one that a signal ended is 128 and its number. */
  ended(id: string, end: { readonly exit_code: number; readonly stopped: boolean }): void;
}

export interface TaskExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface TaskOutput {
  readonly text: string;
  /** All bytes there were. */
  readonly bytes: number;
  /** All of it, up to the store's limit. */
  readonly whole: Buffer;
}

/** What is to be run. */
export interface TaskSpec {
  readonly command: string;
  readonly cwd: string;
  readonly title: string;
  /** Outside the sandbox. A person has allowed it. */
  readonly unsandboxed?: boolean;
  onOutput?(stream: "stdout" | "stderr", chunk: string): void;
}

/** Starts commands and keeps those that outlive their call. */
export interface TaskStarter {
  start(spec: TaskSpec): Promise<RunningTask>;
  /** Undefined when there is no such task in this session. */
  get(id: string): RunningTask | undefined;
  list(): readonly { readonly id: string; readonly title: string; readonly running: boolean }[];
  /** Ends all of them. */
  close(): Promise<void>;
}

/** The skills of a session. */
export interface SkillReader {
  /** What the model is informed of at the beginning. `allowed`: in the names of our own tools. `project`: it comes from the directory. */
  readonly offered: readonly {
    readonly name: string;
    readonly description: string;
    readonly allowed: readonly string[];
    readonly project: boolean;
  }[];
  /** Reads one anew; null when there is none of this name. */
  load(name: string, args: string): Promise<Omit<RecordOf<"skill.used">, "type" | "time" | "by"> | null>;
}

/** What a sub-agent is to be. */
export interface SubAgentRequest {
  /** The key of the call that starts it. The same call never gets a second child. */
  readonly call: string;
  /** Null: one like this. */
  readonly agent: string | null;
  readonly model: string | null;
  /** Absolute, without links. */
  readonly directory: string;
  readonly title: string;
}

/** How a sub-agent's turn ended. */
export interface SubAgentEnd {
  /** The last thing it said. */
  readonly text: string;
  /** Null when its agent counts no tokens. */
  readonly usage: TokenCount | null;
  /** Why it did not come to its end; null when it did. */
  readonly fault: string | null;
}

/** A session of another agent that works for a call. */
export interface SubAgent {
  readonly session_id: string;
  run(prompt: string): Promise<SubAgentEnd>;
  /** After a crash: waits for what it was given, and gives it the task only when it never got it. */
  goOn(prompt: string): Promise<SubAgentEnd>;
  /** Ends its session. May be called twice. */
  end(): Promise<void>;
}

/** Starts sub-agents. */
export interface SubAgents {
  /** Which ones there are. */
  readonly agents: readonly string[];
  /** Rejects with a sentence for the model. */
  open(request: SubAgentRequest): Promise<SubAgent>;
  /** The child of a call that was started before a crash; null when there is none. */
  find(call: string): Promise<SubAgent | null>;
}
