/**
 * Runs the loop again from a journal: with the recorded bytes of the provider, the recorded results of tools and the recorded answers of people. Nothing is asked
 * and nothing is run. Every request must come out with the same bytes, and every outcome the same.
 */
import { outcome, type StreamedResponse, type StreamHandlers } from "../openresponses/client.ts";
import { ResponsesError, type ResponsesErrorCode } from "../openresponses/errors.ts";
import { objectOf, textOf } from "../openresponses/json.ts";
import { Annotator } from "../openresponses/provider-event.ts";
import { type SseBlock, SseReader } from "../openresponses/sse-reader.ts";
import { AgentLoop } from "./agent-loop.ts";
import type { PermissionPolicy } from "./call-runner.ts";
import { RUNNING_TASKS } from "./compaction.ts";
import { canonicalJson, sha256 } from "./digest.ts";
import type { FrameListener } from "./frames.ts";
import { MemoryBlobs, MemoryJournal } from "./memory-stores.ts";
import { type CallPerformer, finished } from "./perform.ts";
import type { PermissionAsker, TaskStarter } from "./ports.ts";
import { type JournalRecord, type RecordOf, type RecordType, recordsOf } from "./records.ts";
import { RuntimeState } from "./state.ts";
import type { ModelTransport } from "./step.ts";
import type { ToolRegistry } from "./tools/registry.ts";

export interface ReplayOptions {
  /** The tools of the session: their schemas and subjects are used, they are not run. */
  readonly registry: ToolRegistry;
  readonly directory: string;
  readonly onFrame?: FrameListener;
}

export interface ReplayReport {
  /** Requests that were built again. */
  readonly requests: number;
  /** Requests whose bytes are not the recorded ones. */
  readonly differentRequests: readonly { readonly n: number; readonly attempt: number }[];
  /** The first outcome that is not the recorded one. */
  readonly firstDifference: { readonly recorded: unknown; readonly replayed: unknown } | null;
  /** The journal that was made. */
  readonly records: readonly JournalRecord[];
}

/** What must come out the same. Times, durations and the bytes themselves are inputs. */
const COMPARED: ReadonlySet<RecordType> = new Set<RecordType>([
  "turn.started",
  "input.added",
  "response.ended",
  "compacted",
  "turn.ended",
]);

export async function replay(records: readonly JournalRecord[], options: ReplayOptions): Promise<ReplayReport> {
  return new Replay(records, options).run();
}

class Replay {
  readonly #records: readonly JournalRecord[];
  readonly #options: ReplayOptions;
  readonly #journal = new MemoryJournal();
  readonly #different: { n: number; attempt: number }[] = [];
  /** What tools put into the state while they ran. */
  readonly #duringCalls: readonly JournalRecord[];
  #requests = 0;
  #applied = 0;
  #loop: AgentLoop | null = null;

  constructor(records: readonly JournalRecord[], options: ReplayOptions) {
    this.#records = records;
    this.#options = options;
    this.#duringCalls = records.filter(
      (record) =>
        record.type === "plan.updated" ||
        record.type === "call.started" ||
        record.type === "call.output" ||
        record.type === "call.file" ||
        record.type === "child.ended" ||
        (record.type === "skill.used" && record.by === "model"),
    );
  }

  async run(): Promise<ReplayReport> {
    const [opened] = this.#of("session.opened");
    if (opened === undefined) throw new Error("The journal has no session.opened record: there is nothing to replay.");
    const { registry, directory, onFrame } = this.#options;
    this.#loop = await AgentLoop.open({
      sessionId: opened.session_id,
      settings: opened.settings,
      directory,
      journal: this.#journal,
      blobs: new MemoryBlobs(),
      clock: { now: () => this.#records[Math.min(this.#journal.records.length, this.#records.length - 1)]?.time ?? 0 },
      ids: this.#ids(),
      transport: this.#transport(),
      registry,
      policy: this.#policy(),
      asker: this.#asker(),
      tasks: { ...NO_TASKS, list: () => this.#runningTasks() },
      performer: this.#performer(),
      compactAtProvider: () => this.#compacted(),
      beforeRequest: (n) => this.#applyUntil((record) => record.type === "request.sent" && record.n === n),
      // Recorded waits are over.
      retry: { retries: 1_000, baseMs: 0, maxMs: 0, random: () => 0 },
      ...(onFrame === undefined ? {} : { onFrame }),
    });
    for (const turn of this.#of("turn.started")) {
      if (RuntimeState.from(this.#journal.records).turn !== null)
        throw new Error("The replay is in a turn that should have ended.");
      if (this.#journal.records.some((record) => record.type === "turn.started" && record.turn_id === turn.turn_id)) continue;
      this.#applyUntil((record) => record === turn);
      // A queued message starts its turn by itself.
      if (!this.#loop.busy) void this.#loop.prompt(turn.items).catch(() => {});
      await this.#loop.idle();
    }
    const { records } = this.#journal;
    return { requests: this.#requests, differentRequests: this.#different, firstDifference: this.#difference(), records };
  }

  #of<T extends RecordType>(type: T): RecordOf<T>[] {
    return recordsOf(this.#records, type);
  }

  /** What came from outside up to here: messages and settings. */
  #applyUntil(stop: (record: JournalRecord) => boolean): void {
    while (this.#applied < this.#records.length) {
      const record = this.#records[this.#applied] as JournalRecord;
      if (stop(record)) return;
      // Before it is acted upon: a message can start a turn, which comes back here.
      this.#applied += 1;
      if (record.type === "message.queued") {
        if (record.steer) this.#loop?.steer(record.items);
        else this.#loop?.enqueue(record.items);
      } else if (record.type === "message.removed" && record.why === "removed") this.#loop?.removeQueued(record.message_id);
      else if (record.type === "settings.changed") this.#loop?.changeSettings(record.settings);
      else if (record.type === "skill.used" && record.by === "person") {
        const { type: _, time: __, ...skill } = record;
        this.#loop?.takeSkill(skill);
      }
    }
  }

  #ids() {
    const turns = this.#of("turn.started").map((record) => record.turn_id);
    const messages = this.#of("message.queued").map((record) => record.message_id);
    return { next: (kind: "turn" | "message" | "task") => (kind === "turn" ? turns : messages).shift() ?? "unexpected" };
  }

  #transport(): ModelTransport {
    return {
      stream: async (body, request, handlers) => {
        const same = (record: { n: number; attempt: number }): boolean =>
          record.n === request.n && record.attempt === request.attempt;
        const sent = this.#of("request.sent").find(same);
        this.#requests += 1;
        if (sent?.body_sha256 !== sha256(body)) this.#different.push({ ...request });
        const at = this.#records.indexOf(sent as JournalRecord);
        this.#applied = Math.max(this.#applied, at + 1);
        // Messages that came while this step ran are seen after it.
        this.#applyUntil((record) => (record.type === "request.sent" && record.n !== request.n) || record.type === "turn.ended");
        const failed = this.#of("response.failed").find(same);
        const bytes = this.#of("received")
          .filter(same)
          .map((record) => Buffer.from(record.bytes, record.encoding));
        const streamed = await feed(bytes, handlers, failed === undefined && this.#of("response.ended").some(same));
        if (streamed !== null) return streamed;
        if (failed?.code === "aborted") void this.#loop?.interrupt();
        // A request without an end was cut off by a crash, and asked again.
        const code = (failed?.code ?? "cut") as ResponsesErrorCode;
        throw new ResponsesError(code, failed?.message ?? "crash", { retryable: failed?.retryable ?? true, retryAfterMs: 0 });
      },
    };
  }

  #finishedOf(call: string): RecordOf<"call.finished"> | undefined {
    return this.#of("call.finished").find((record) => record.call === call);
  }

  #policy(): PermissionPolicy {
    return {
      decide: (_subject, _mode, call) => {
        const approved = this.#of("call.approved").find((record) => record.call === call);
        if (approved?.by === "policy") return { decision: "allow", reason: "" };
        const { note, output } = this.#finishedOf(call) ?? {};
        const text = typeof output === "string" ? output : "";
        if (approved === undefined && note === "denied" && text.startsWith("Not allowed: ")) {
          return { decision: "deny", reason: text.slice("Not allowed: ".length) };
        }
        return { decision: "ask", reason: "recorded" };
      },
    };
  }

  #asker(): PermissionAsker {
    return {
      ask: async ({ call, input_digest }) => {
        if (this.#of("call.approved").some((record) => record.call === call)) return { decision: "allow", input_digest };
        const ended = this.#finishedOf(call);
        if (ended?.note === "interrupted") void this.#loop?.interrupt();
        if (ended !== undefined) return { decision: "deny", input_digest, message: String(ended.output) };
        // The question about a loop: a note of ours after it says that it went on.
        const notes = (list: readonly JournalRecord[]) =>
          list.filter((record) => record.type === "input.added" && record.why === "note").length;
        return { decision: notes(this.#records) > notes(this.#journal.records) ? "allow" : "deny", input_digest };
      },
    };
  }

  #performer(): CallPerformer {
    return {
      perform: async (call) => {
        const ended = this.#finishedOf(call.key);
        if (ended === undefined) return finished("not recorded", { is_error: true });
        for (const record of this.#duringCalls) if (this.#isDuring(record, call.key)) this.#loopAppend(record);
        if (ended.note === "interrupted") void this.#loop?.interrupt();
        const { output, is_error, note, exit_code, artifacts } = ended;
        return { output, is_error, note, exit_code, artifacts };
      },
      recover: () => Promise.resolve(null),
    };
  }

  #isDuring(record: JournalRecord, call: string): boolean {
    if ("call" in record) return record.call === call;
    const at = this.#records.indexOf(record);
    const started = this.#records.findLastIndex((one, index) => index < at && one.type === "call.started");
    const by = this.#records[started];
    return by?.type === "call.started" && by.call === call;
  }

  #loopAppend(record: JournalRecord): void {
    this.#journal.append(record);
    if (this.#loop) (this.#loop.state as RuntimeState).apply(record);
  }

  #compacted(): Promise<RecordOf<"compacted">["items"]> {
    const done = this.#journal.records.filter((record) => record.type === "compacted").length;
    const recorded = this.#of("compacted")[done];
    if (recorded?.method === "provider") return Promise.resolve(recorded.items);
    return Promise.reject(new Error("the provider did not compact"));
  }

  /** Which tasks ran when the conversation was made shorter is an input: it stands in the text that was made of them. */
  #runningTasks() {
    const done = this.#journal.records.filter((record) => record.type === "compacted").length;
    const texts = (this.#of("compacted")[done]?.items ?? [])
      .filter(({ role }) => role === "developer")
      .map((item) => {
        const [part] = Array.isArray(item.content) ? item.content : [];
        return textOf(objectOf(part).text) ?? "";
      });
    const [, list = ""] = texts.join("\n\n").split(`\n\n${RUNNING_TASKS}`);
    return list.split("\n").flatMap((line) => {
      const [, id, title] = /^- (\S+): (.*)$/.exec(line) ?? [];
      return id === undefined || title === undefined ? [] : [{ id, title, running: true }];
    });
  }

  #difference(): ReplayReport["firstDifference"] {
    const essence = (records: readonly JournalRecord[]) =>
      records.filter((record) => COMPARED.has(record.type)).map(({ time: _, ...record }) => record);
    const recorded = essence(this.#records);
    const replayed = essence(this.#journal.records);
    const at = recorded.findIndex((record, index) => canonicalJson(record) !== canonicalJson(replayed[index]));
    if (at !== -1) return { recorded: recorded[at], replayed: replayed[at] ?? null };
    return recorded.length < replayed.length ? { recorded: null, replayed: replayed[recorded.length] } : null;
  }
}

const OPEN_BRACE = 0x7b;
const EMPTY_BLOCK = { event: null, id: null, comments: [], oversize: null };

/** Null when the recorded answer had no good end. */
async function feed(bytes: readonly Buffer[], handlers: StreamHandlers, ended: boolean): Promise<StreamedResponse | null> {
  const annotator = new Annotator();
  const blocks: SseBlock[] = [];
  const reader = new SseReader({ maxBlockBytes: Number.MAX_SAFE_INTEGER, onBlock: (block) => blocks.push(block) });
  for (const chunk of bytes) {
    // A message of a WebSocket has no frame around it.
    if (chunk[0] === OPEN_BRACE) blocks.push({ ...EMPTY_BLOCK, bytes: chunk, data: chunk.toString("utf8") });
    else reader.push(chunk);
    for (const block of blocks.splice(0)) {
      const event = annotator.annotate(block);
      if (event !== null) await handlers.onEvent(event);
    }
  }
  return ended ? { ...outcome(annotator.stream, "The journal"), rest: reader.end() } : null;
}

const NO_TASKS: TaskStarter = {
  start: () => Promise.reject(new Error("A replay starts nothing.")),
  get: () => undefined,
  list: () => [],
  close: () => Promise.resolve(),
};
