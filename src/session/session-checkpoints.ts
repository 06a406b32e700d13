/**
 * The checkpoints of one session: when they are taken, which of the directory's it knows, and going back. Nothing here makes a turn fail: what cannot be stored
 * is reported once as `checkpoint.failed`. The stream keeps a document for each checkpoint and one for each turn (from which to which), so that nothing has to be
 * read to list them; they go with the session. Not here: what a checkpoint is (workspace/checkpoints).
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Translation } from "../agents/contract.ts";
import type { StreamDocuments } from "../log/contract.ts";
import type { Changes, Checkpoint, CheckpointKind, RewindResult } from "../schema/checkpoint.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import { ChangingTools } from "./changing-tools.ts";
import type { SessionRecord } from "./session-record.ts";
import type { CheckpointReason, FilesRewind, TakenCheckpoint, WorkspaceCheckpoints } from "./workspace-checkpoints.ts";

/** Kinds of the stream's documents. */
const CHECKPOINT = "checkpoint";
const TURN = "turn_files";
/** What a listing of changes shows at most. */
const LISTED = 2_000;

/** `sequence`: the last event before the turn; absent in what older versions stored. */
type TurnFiles = { turn_id: string; from: string; to: string | null; sequence?: number };

export type SessionCheckpointsOptions = {
  port: WorkspaceCheckpoints;
  record: SessionRecord;
  documents: StreamDocuments;
  directory: string;
};

export class SessionCheckpoints {
  readonly #options: SessionCheckpointsOptions;
  readonly #tools = new ChangingTools();
  /** What the stream's documents say, read when it is needed first. */
  #read: { checkpoints: Checkpoint[]; turns: Map<string, TurnFiles> } | null = null;
  /** Reported once: the same again is no news. */
  #failure: string | null = null;
  /** A checkpoint after a tool is on its way; a further result waits for the next one. */
  #after: { tool_name: string | null; again: boolean } | null = null;

  constructor(options: SessionCheckpointsOptions) {
    this.#options = options;
  }

  /** The agent is being started: the directory is looked at meanwhile. */
  warm(): void {
    this.#options.port.warm(this.#options.directory);
  }

  /** Right before the agent gets the message of this turn. */
  async beforePrompt(turnId: string): Promise<void> {
    const { port, directory } = this.#options;
    await port.enter(directory, this.#id);
    const { sequence } = this.#options.record.projection;
    await this.#bounded({ kind: "turn_start" }, turnId, (taken) =>
      this.#noteTurn({ turn_id: turnId, from: taken.id, to: null, sequence }),
    );
  }

  /** The message did not get to the agent, or its turn is over. */
  left(): void {
    this.#options.port.leave(this.#options.directory, this.#id);
  }

  /** Right before a person's consent reaches the agent. */
  beforePermission(toolName: string, paths: readonly string[]): Promise<void> {
    const inside = paths.filter((path) => !path.startsWith("/") || path.startsWith(`${this.#options.directory}/`));
    return this.#bounded(
      { kind: "before_permission", tool_name: toolName, ...(inside.length > 0 ? { paths: inside } : {}) },
      this.#turn,
    );
  }

  /** After each native message. Cheap: a checkpoint is taken only after the result of a tool that may have changed files, and nothing waits for it. */
  seen(translations: readonly Translation[]): void {
    const tool = this.#tools.changed(translations);
    if (tool === undefined) return;
    if (this.#after) {
      Object.assign(this.#after, { tool_name: tool, again: true });
      return;
    }
    this.#after = { tool_name: tool, again: false };
    void this.#afterTool(this.#after);
  }

  async #afterTool(round: { tool_name: string | null; again: boolean }): Promise<void> {
    do {
      round.again = false;
      const { tool_name } = round;
      await this.#taken({ kind: "after_tool", ...(tool_name === null ? {} : { tool_name }) }, this.#turn);
    } while (round.again);
    this.#after = null;
  }

  /** Agents begin turns of their own, too. */
  turnStarted(): void {
    this.#options.port.begun(this.#options.directory, this.#id);
  }

  turnEnded(turnId: string): void {
    this.#tools.clear();
    this.left();
    void this.#taken({ kind: "turn_end" }, turnId, (taken) => {
      const turn = this.#known.turns.get(turnId);
      if (turn) this.#noteTurn({ ...turn, to: taken.id });
    });
  }

  /** The oldest first; those that are not stored any more are left out. `reason`: why only touched files are stored. */
  async list(): Promise<{ checkpoints: Checkpoint[]; reason: string | null }> {
    const { port, directory } = this.#options;
    const known = this.#known.checkpoints;
    try {
      const stored = await port.stored(
        directory,
        known.map(({ checkpoint_id }) => checkpoint_id),
      );
      return {
        checkpoints: known.filter(({ checkpoint_id }) => stored.has(checkpoint_id)),
        reason: await port.refusal(directory),
      };
    } catch (error) {
      // Its directory is gone: there is nothing to go back to, and the list says why.
      if (error instanceof ProblemError && error.code === "directory_not_found")
        return { checkpoints: [], reason: error.message };
      throw error;
    }
  }

  async take(label: string | undefined): Promise<Checkpoint> {
    const reason: CheckpointReason = { kind: "manual", session_id: this.#id, ...(label === undefined ? {} : { label }) };
    const taken = await this.#options.port.take(this.#options.directory, reason);
    // A person asked for it and names it: it is reported, also when nothing has changed.
    return this.#note(reason, this.#turn, taken, true);
  }

  /** Throws `checkpoint_not_found`. */
  find(id: string): Checkpoint {
    const found = this.#known.checkpoints.findLast(({ checkpoint_id }) => checkpoint_id === id);
    if (found) return found;
    throw new ProblemError(
      "checkpoint_not_found",
      `Session ${this.#id} has no checkpoint ${JSON.stringify(id)}. List them with GET /v1/sessions/${this.#id}/checkpoints.`,
    );
  }

  /** The event up to which the conversation goes back: where the checkpoint was taken, or what was before a turn. Throws `turn_not_found`. */
  placeOf(id: string, turnId: string | undefined): number {
    const { sequence } = this.find(id);
    return turnId === undefined ? sequence : (this.#turnOf(turnId).sequence ?? sequence);
  }

  #turnOf(turnId: string): TurnFiles {
    const turn = this.#known.turns.get(turnId);
    if (turn) return turn;
    throw new ProblemError(
      "turn_not_found",
      `Nothing is stored of the files of a turn ${JSON.stringify(turnId)} in this session.`,
    );
  }

  async diff(from: string, to: string, options: { text: boolean; paths?: readonly string[] }): Promise<Changes> {
    this.find(from);
    if (to !== "now") this.find(to);
    return this.#changes(from, to, null, options);
  }

  /** Of one turn, or of the session: from its first checkpoint to its last, to now while a turn runs. */
  async changes(turnId: string | null, options: { text: boolean; paths?: readonly string[] }): Promise<Changes> {
    const { turns, checkpoints } = this.#known;
    if (turnId !== null) {
      const turn = this.#turnOf(turnId);
      return this.#changes(turn.from, turn.to ?? "now", turnId, options);
    }
    const first = checkpoints.at(0)?.checkpoint_id ?? null;
    const last = [...turns.values()].at(-1);
    return this.#changes(
      first,
      this.#turn !== null ? "now" : (last?.to ?? checkpoints.at(-1)?.checkpoint_id ?? null),
      null,
      options,
    );
  }

  async rewind(id: string, options: FilesRewind): Promise<RewindResult> {
    const { port, directory, record } = this.#options;
    const target = this.find(id);
    try {
      const result = await port.rewind(directory, id, options);
      if (options.dry_run) return result;
      const files = result.files.slice(0, LISTED);
      record.guard(() => {
        this.#keep(result.undo_id, "before_rewind", `before the rewind to ${target.label}`, 0);
        if (!record.projection.ended) record.append("checkpoint.rewound", { checkpoint_id: id, label: target.label, files });
        if (result.after_id !== null) this.#keep(result.after_id, "rewind", `rewind to ${target.label}`, result.files.length);
      });
      return result;
    } catch (error) {
      if (!(error instanceof ProblemError) || error.status >= 500) this.#failed("rewind", error);
      throw error;
    }
  }

  get #id(): string {
    return this.#options.record.row.session_id;
  }

  get #turn(): string | null {
    return this.#options.record.projection.turn?.turn_id ?? null;
  }

  async #changes(
    from: string | null,
    to: string | null,
    turn_id: string | null,
    options: { text: boolean; paths?: readonly string[] },
  ): Promise<Changes> {
    const none = { from, to, turn_id, changes: [], added: 0, removed: 0, left_off: 0 };
    if (from === null || to === null || from === to) return none;
    const all = await this.#options.port.diff(this.#options.directory, from, to, options);
    const changes = all.slice(0, LISTED);
    return { ...none, changes, ...lineCounts(changes), left_off: all.length - changes.length };
  }

  /** Waits for a checkpoint, but not for ever: what comes too late is no state of before, and is reported as such. */
  async #bounded(
    reason: Omit<CheckpointReason, "session_id">,
    turnId: string | null,
    then?: (taken: TakenCheckpoint) => void,
  ): Promise<void> {
    const { wait_ms } = this.#options.port;
    const late = new AbortController();
    let over = false;
    const work = this.#taken(
      { ...reason },
      turnId,
      (taken) => over || then?.(taken),
      () => over,
    );
    const timer = delay(wait_ms, true, { signal: late.signal, ref: false }).catch(() => false);
    over = await Promise.race([work.then(() => false), timer]);
    late.abort();
    if (over)
      this.#failed(
        "create",
        new Error(
          `The directory could not be stored within ${wait_ms / 1000} s, so the agent went on without. A rewind cannot give the state before this ${reason.kind === "turn_start" ? "turn" : "step"}.`,
        ),
      );
  }

  async #taken(
    reason: Omit<CheckpointReason, "session_id">,
    turnId: string | null,
    then: (taken: TakenCheckpoint) => void = () => {},
    isLate: () => boolean = () => false,
  ): Promise<void> {
    const { port, directory, record } = this.#options;
    try {
      const taken = await port.take(directory, { ...reason, session_id: this.#id });
      this.#failure = null;
      record.guard(() => {
        this.#note(isLate() ? { ...reason, kind: "after_tool", label: "late" } : reason, turnId, taken);
        then(taken);
      });
    } catch (error) {
      this.#failed("create", error);
    }
  }

  #note(reason: Omit<CheckpointReason, "session_id">, turnId: string | null, taken: TakenCheckpoint, always = false): Checkpoint {
    const { record } = this.#options;
    const { kind, tool_name = null } = reason;
    const label = reason.label ?? kind.replace("_", " ");
    const entry = this.#entry(taken.id, kind, label, taken.changed, { turnId, tool_name, created_at: taken.created_at });
    if (taken.id === this.#known.checkpoints.at(-1)?.checkpoint_id && !always) return entry;
    if (!record.projection.ended)
      record.append("checkpoint.created", {
        checkpoint_id: taken.id,
        label,
        created_at: taken.created_at,
        files: taken.first ? [] : taken.files,
        auto: entry.auto,
        tool_name,
      });
    this.#put(entry);
    return entry;
  }

  #keep(id: string, kind: CheckpointKind, label: string, changed: number): void {
    this.#put(this.#entry(id, kind, label, changed, { turnId: null, tool_name: null, created_at: new Date().toISOString() }));
  }

  #entry(
    checkpoint_id: string,
    kind: CheckpointKind,
    label: string,
    files: number,
    more: { turnId: string | null; tool_name: string | null; created_at: string },
  ): Checkpoint {
    const { sequence } = this.#options.record.projection;
    const { turnId: turn_id, tool_name, created_at } = more;
    const reached_at = new Date().toISOString();
    return { checkpoint_id, kind, label, created_at, reached_at, auto: kind !== "manual", tool_name, turn_id, sequence, files };
  }

  #put(entry: Checkpoint): void {
    const { checkpoints } = this.#known;
    this.#options.documents.put(CHECKPOINT, String(checkpoints.length).padStart(8, "0"), JSON.stringify(entry));
    checkpoints.push(entry);
  }

  #failed(action: "create" | "rewind", error: unknown): void {
    const { record } = this.#options;
    const message = error instanceof Error ? error.message : String(error);
    if (record.projection.ended || (action === "create" && message === this.#failure)) return;
    if (action === "create") this.#failure = message;
    record.guard(() => record.append("checkpoint.failed", { action, error: message }));
  }

  get #known(): { checkpoints: Checkpoint[]; turns: Map<string, TurnFiles> } {
    const { documents } = this.#options;
    this.#read ??= {
      checkpoints: documents.list(CHECKPOINT).map(({ body }) => JSON.parse(body) as Checkpoint),
      turns: new Map(
        documents.list(TURN).map(({ body }) => {
          const turn = JSON.parse(body) as TurnFiles;
          return [turn.turn_id, turn];
        }),
      ),
    };
    return this.#read;
  }

  #noteTurn(turn: TurnFiles): void {
    this.#known.turns.set(turn.turn_id, turn);
    this.#options.documents.put(TURN, turn.turn_id, JSON.stringify(turn));
  }
}

function lineCounts(changes: Changes["changes"]): { added: number; removed: number } {
  let [added, removed] = [0, 0];
  for (const { patch = "" } of changes)
    for (const line of patch.split("\n").slice(2)) {
      if (line.startsWith("+")) added += 1;
      else if (line.startsWith("-")) removed += 1;
    }
  return { added, removed };
}
