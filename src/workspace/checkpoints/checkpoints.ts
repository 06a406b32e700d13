/**
 * Checkpoints of one workspace, for any agent: it only looks at the files. The user's git repository is read, never written. All work on a workspace is done one
 * after another. Open with `openCheckpoints` (open.ts), which shares one object per directory.
 */
import { isAbsolute, relative } from "node:path";
import { isBelow, rawOf } from "../raw-path.ts";
import { addUp, inverted, named } from "./changes.ts";
import { contentOf } from "./entry.ts";
import { asCheckpointError, CheckpointError } from "./errors.ts";
import { type Details, type Freed, History } from "./history.ts";
import { type CheckpointOptions, IDLE_MS, type Taken, type TakeReason } from "./options.ts";
import type { ChangedPath, CheckpointRecord, RewindResult } from "./record.ts";
import type { RewindOptions } from "./rewind.ts";
import { type Recovery, Rewinder } from "./rewinder.ts";
import type { Store } from "./store.ts";
import { addPatch } from "./text-diff.ts";

export type DiffOptions = { /** With unified diffs. */ text?: boolean; paths?: readonly string[] };
const NOW: Details = { kind: "manual", label: "comparison", session_id: null, tool_name: null, auto: true };

export class Checkpoints {
  readonly directory: string;
  readonly #history: History;
  readonly #rewinder: Rewinder;
  readonly #idleMs: number;
  #queue: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(directory: string, store: Store, refusal: CheckpointError | null, options: CheckpointOptions) {
    this.directory = directory;
    this.#history = new History(directory, store, refusal, options);
    this.#rewinder = new Rewinder(this.#history);
    this.#idleMs = options.idle_ms ?? IDLE_MS;
  }

  /** Why only touched files are stored; null: the whole tree is. */
  get refusal(): CheckpointError | null {
    return this.#history.refusal;
  }

  /** Remembers the directory as it is. The same tree twice is one checkpoint. */
  take(reason: TakeReason): Promise<Taken> {
    return this.#next(async () => {
      const history = this.#history;
      const by = history.author();
      const pins = (reason.paths ?? []).map((path) => this.#inside(path));
      try {
        if (history.refusal && pins.length === 0) throw history.refusal;
        return await history.take(detailsOf(reason), () => by, reason.full ?? false, pins);
      } catch (error) {
        if (!history.becomesTouched(error) || pins.length === 0) throw error;
        return await history.take(detailsOf(reason), () => by, false, pins);
      } finally {
        await this.#noteTurn(reason);
      }
    });
  }

  /** Oldest first. */
  list(): CheckpointRecord[] {
    return this.#history.store.checkpoints.map(({ spot: _, ...record }) => record);
  }

  /** What changed from one checkpoint to another, `to` being "now" or an id; in either direction. */
  diff(from: string, to: string, options: DiffOptions = {}): Promise<ChangedPath[]> {
    return this.#next(async () => {
      const last = to === "now" ? (await this.#history.take(NOW, this.#history.author, false, [])).id : to;
      const [a, b] = [this.#history.store.indexOf(from), this.#history.store.indexOf(last)];
      const forward = addUp(this.#history.store.changesBetween(Math.min(a, b), Math.max(a, b)));
      const found: ChangedPath[] = [];
      for (const each of [...forward.values()].sort((one, other) => (one.path < other.path ? -1 : 1))) {
        const change = a <= b ? each : inverted(each);
        const shown = named(change);
        if (!shown || (options.paths && !options.paths.some((path) => isBelow(shown.path, path)))) continue;
        found.push(
          options.text
            ? await addPatch(shown, change.path, change.before, change.after, (id, path) => this.#history.content(id, path))
            : shown,
        );
      }
      return found;
    });
  }

  /** The content of a file at a checkpoint; null when it was no file. */
  contentAt(id: string, path: string): Promise<Buffer | null> {
    return this.#next(async () => {
      const raw = this.#inside(path);
      const back = addUp(
        this.#history.store.changesBetween(this.#history.store.indexOf(id), this.#history.store.checkpoints.length - 1),
      ).get(raw);
      const entry = back ? undefined : (await this.#history.live.tree()).get(raw);
      const content = back ? contentOf(back.before) : entry?.kind === "f" ? entry.id : null;
      return content === null ? null : this.#history.content(content, raw);
    });
  }

  /** Back to a checkpoint. Can be undone by a rewind to `undo_id`. */
  rewind(id: string, options: RewindOptions = {}): Promise<RewindResult> {
    return this.#next(() => this.#rewinder.rewind(id, options));
  }

  /** Finishes a rewind that a crash interrupted; undoes it when it cannot be finished. */
  recover(): Promise<Recovery | null> {
    return this.#next(() => this.#rewinder.recover());
  }

  /** Removes checkpoints; the newest always stays. Answers with how many bytes are free again. */
  drop(ids: readonly string[]): Promise<Freed> {
    return this.#next(async () => {
      for (const id of ids) this.#history.store.indexOf(id);
      return this.#history.drop(new Set(ids));
    });
  }

  /** Removes what is too old, and the oldest until the rest fits. */
  prune(policy: { max_bytes?: number; max_age_ms?: number; now?: number }): Promise<Freed> {
    return this.#next(async () => {
      const limit = (policy.now ?? Date.now()) - (policy.max_age_ms ?? Number.POSITIVE_INFINITY);
      const old = this.#history.store.checkpoints.filter(({ created_at }) => Date.parse(created_at) < limit).map(({ id }) => id);
      const first = await this.#history.drop(new Set(old));
      const rest = await this.#history.shrink(policy.max_bytes ?? Number.POSITIVE_INFINITY);
      return { dropped: first.dropped + rest.dropped, freed_bytes: first.freed_bytes + rest.freed_bytes };
    });
  }

  usage(): {
    bytes: number;
    quota_bytes: number;
    checkpoints: number;
    watched_directories: number;
    watch_failure: string | null;
    warning: string | null;
  } {
    const { directories, failure } = this.#history.live.watching;
    return {
      bytes: this.#history.store.bytes(),
      quota_bytes: this.#history.quota,
      checkpoints: this.#history.store.checkpoints.length,
      watched_directories: directories,
      watch_failure: failure,
      warning: this.#history.store.warning,
    };
  }

  /** Ends everything; waits for what is under way. */
  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#next(async () => {
      this.#closed = true;
      await this.#history.sleep();
      await this.#history.store.close();
    });
    if (this.#idle) clearTimeout(this.#idle);
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(async () => {
      if (this.#closed) throw new CheckpointError("closed", "The checkpoints of this workspace are closed.");
      try {
        return await work();
      } catch (error) {
        throw asCheckpointError(error);
      } finally {
        this.#restIn(this.#idleMs);
      }
    });
    this.#queue = result.catch(() => {});
    return result;
  }

  async #noteTurn({ kind, session_id }: TakeReason): Promise<void> {
    if (kind !== "turn_start" && kind !== "turn_end") return;
    const [session, open] = [session_id ?? "", kind === "turn_start"];
    const { store } = this.#history;
    if (store.openTurns.has(session) !== open) await store.note({ k: "turn", session, open }, false);
  }

  #restIn(ms: number): void {
    if (this.#idle) clearTimeout(this.#idle);
    if (this.#closed) return;
    this.#idle = setTimeout(() => {
      this.#queue = this.#queue.then(() => this.#history.sleep()).catch(() => {});
    }, ms).unref();
  }

  /** A path of the workspace, raw and relative. */
  #inside(path: string): string {
    const within = isAbsolute(path) ? relative(this.directory, path) : path.replace(/^(\.\/)+/, "");
    if (within === "" || within.includes("\0") || isAbsolute(within) || within.split("/").includes(".."))
      throw new CheckpointError("path_outside", `${path} is not a path inside the workspace.`);
    return rawOf(within.replace(/\/+$/, ""));
  }
}

function detailsOf({ kind, label, session_id, tool_name, auto }: TakeReason): Details {
  return {
    kind,
    label: label ?? kind.replace("_", " "),
    session_id: session_id ?? null,
    tool_name: tool_name ?? null,
    auto: auto ?? kind !== "manual",
  };
}
