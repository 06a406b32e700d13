/**
 * The agent's side of a session: each native message goes into the ledger and what it means into the story; what the connection itself knows is written, too,
 * and the end of the agent's process. No fault of the log or of ours reaches an event emitter from here. Not here: what clients ask for (session.ts).
 */
import type { ExitInfo, SessionPort, Translation } from "../agents/contract.ts";
import type { StreamWriter } from "../log/contract.ts";
import type { Draft } from "../schema/draft.ts";
import type { AgentTasks } from "./agent-tasks.ts";
import type { AgentWatch } from "./agent-watch.ts";
import { dispositionOf, type Intake, type NativeRecord, unparsedOf } from "./channel.ts";
import { endOf } from "./outcomes.ts";
import type { SessionCheckpoints } from "./session-checkpoints.ts";
import type { SessionRecord } from "./session-record.ts";

export type IntakeOptions = {
  record: SessionRecord;
  stream: StreamWriter;
  watch: AgentWatch;
  checkpoints: SessionCheckpoints | null;
  tasks: AgentTasks | null;
  /** The agent can go on with the session in a new process. */
  resumable: boolean;
  /** The agent's side of the connection is gone. False when that was our own doing. */
  broke(): boolean;
  /** Messages that wait can be delivered again. */
  pump(): void;
};

export class AgentIntake implements SessionPort, Intake {
  readonly #options: IntakeOptions;
  readonly #record: SessionRecord;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#record = options.record;
  }

  get session_id(): string {
    return this.#record.row.session_id;
  }

  attached(freshKeys: boolean): void {
    this.#record.guard(() => this.#record.decide({ do: "process", fresh_keys: freshKeys }));
  }

  ingest(message: NativeRecord, translations: Translation[]): void {
    const record = this.#record;
    if (record.projection.ended || record.lost) return;
    const { stream, watch, checkpoints, tasks } = this.#options;
    try {
      this.#write(message, translations, watch.sign() - stream.created_at);
      checkpoints?.seen(translations);
      if (tasks) for (const { drafts } of translations) tasks.take(drafts);
    } catch (error) {
      // As `guard` does, without a function for every message of the agent.
      record.lose(error);
    }
  }

  /** `t_ms`: since the session began. */
  #write(message: NativeRecord, translations: Translation[], t_ms: number): void {
    const { stream } = this.#options;
    const { scribe, row } = this.#record;
    const { dir, raw } = message;
    const before = stream.last;
    const { type, disposition } = dispositionOf(translations);
    const answers = dir === "in" && translations.some(({ drafts }) => drafts.some((draft) => draft.do === "question.resolve"));
    const kept = answers ? scribe.requests.secrets.masked(raw) : raw;
    const native = stream.appendNative({ dir, t_ms, type, disposition, raw: kept });
    scribe.turns.exit = message.exit ?? null;
    if (message.exit) scribe.exited = native;
    for (const translation of translations)
      scribe.translation(
        row.named ? keepTitle(translation) : translation,
        native,
        dir !== "in",
        unparsedOf(translation, row.agent, message),
      );
    scribe.turns.exit = null;
    this.#record.settled(before);
  }

  say(drafts: Draft[]): void {
    this.#record.guard(() => {
      this.#record.emit(drafts);
      this.#options.tasks?.take(drafts);
    });
  }

  closed(info: { exit: ExitInfo | null; message?: string }): void {
    this.#options.tasks?.lost("its agent has ended");
    if (this.#options.broke()) this.#record.guard(() => this.#disconnected(info));
  }

  /** [S1] An agent's death does not end a session that the agent can resume. */
  #disconnected(info: { exit: ExitInfo | null; message?: string }): void {
    const record = this.#record;
    if (record.projection.ended) return;
    if (!this.#options.resumable) return record.scribe.afterExit(() => record.end(endOf(info)));
    const before = this.#options.stream.last;
    record.decide({ do: "lost", ...info });
    record.settled(before);
    setImmediate(this.#options.pump);
  }
}

/** What a person named stays named: the agent's own title is kept beside it. */
function keepTitle(translation: Translation): Translation {
  const drafts = translation.drafts.map((draft): Draft => {
    if (draft.do !== "event" || draft.type !== "session.updated" || draft.data.title === undefined) return draft;
    const { title, metadata, ...data } = draft.data;
    return { ...draft, data: { ...data, metadata: { ...metadata, native_title: title } } };
  });
  return { ...translation, drafts };
}
