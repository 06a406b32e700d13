/**
 * The checkpoints of all directories that sessions work in: opened when they are needed, closed when nobody has used them for a while, removed with the sessions
 * that needed them. One rewind at a time in a directory, and none while a turn runs there.
 */
import { join } from "node:path";
import type { Log } from "../log/contract.ts";
import type { ChangedPath, RewindResult } from "../schema/checkpoint.ts";
import { type ProblemCode, ProblemError } from "../schema/problem-codes.ts";
import { ageMs } from "../schema/prune.ts";
import type { CheckpointReason, FilesRewind, TakenCheckpoint, WorkspaceCheckpoints } from "../session/workspace-checkpoints.ts";
import {
  CheckpointError,
  type CheckpointErrorCode,
  type Checkpoints,
  closeCheckpoints,
  openCheckpoints,
  pruneStores,
  removeStore,
} from "../workspace/checkpoints/index.ts";
import type { LogLevel } from "./agent-host.ts";
import { type Config, defaults } from "./config.ts";

/** A checkpoint that is being taken is named in no session yet. */
const FRESH_MS = 60_000;
const IDLE_MS = 15 * 60_000;
const CARE_MS = 60_000;
const PRUNE_MS = 60 * 60_000;
/** Removals in a row are cleaned up after once. */
const SWEEP_MS = 1_000;

export type DirectoryCheckpointsOptions = {
  log: Log;
  /** The folder with the stores of all directories. */
  stores: string;
  /** Never looked at. */
  dataDir: string;
  quota_bytes: number;
  max_age_ms: number;
  wait_ms: number;
  home?: string | undefined;
  warn(message: string, fields: Record<string, unknown>): void;
};

type Place = {
  opened: Promise<Checkpoints> | null;
  used: number;
  /** Calls under way. */
  calls: number;
  /** Calls that were ever made. */
  made: number;
  /** Sessions with a running turn. */
  running: Set<string>;
  rewinding: Promise<unknown> | null;
};

export class DirectoryCheckpoints implements WorkspaceCheckpoints {
  readonly #options: DirectoryCheckpointsOptions;
  readonly #places = new Map<string, Place>();
  readonly #swept = new Set<string>();
  readonly #care: NodeJS.Timeout;
  #sweeping: NodeJS.Timeout | null = null;
  #pruned = 0;
  #closed = false;

  constructor(options: DirectoryCheckpointsOptions) {
    this.#options = options;
    this.#care = setInterval(() => void this.#lookAfter(), CARE_MS).unref();
  }

  get wait_ms(): number {
    return this.#options.wait_ms;
  }

  warm(directory: string): void {
    this.#with(directory, async (checkpoints) => {
      if (!checkpoints.refusal) await checkpoints.take({ kind: "manual", label: "at an agent's start", auto: true });
    }).catch(() => {
      // The checkpoint of the turn says why.
    });
  }

  async enter(directory: string, sessionId: string): Promise<void> {
    const place = this.#place(directory);
    while (place.rewinding) await place.rewinding.catch(() => {});
    place.running.add(sessionId);
  }

  begun(directory: string, sessionId: string): void {
    this.#place(directory).running.add(sessionId);
  }

  leave(directory: string, sessionId: string): void {
    this.#place(directory).running.delete(sessionId);
  }

  take(directory: string, { paths, label, tool_name, kind, session_id }: CheckpointReason): Promise<TakenCheckpoint> {
    return this.#with(directory, async (checkpoints) => {
      const first = checkpoints.list().length === 0;
      const taken = await checkpoints.take({
        kind,
        session_id,
        ...(label === undefined ? {} : { label }),
        ...(tool_name === undefined ? {} : { tool_name }),
        ...(paths === undefined ? {} : { paths }),
      });
      const { added, modified, deleted } = taken.counts;
      const { id, created, files, created_at } = taken;
      return { id, label: taken.label, created_at, created, first, files, changed: added + modified + deleted };
    });
  }

  diff(
    directory: string,
    from: string,
    to: string,
    options: { text: boolean; paths?: readonly string[] },
  ): Promise<ChangedPath[]> {
    return this.#with(directory, (checkpoints) => checkpoints.diff(from, to, options));
  }

  async rewind(directory: string, id: string, options: FilesRewind): Promise<RewindResult> {
    const place = this.#place(directory);
    if (options.dry_run) return this.#with(directory, (checkpoints) => checkpoints.rewind(id, options));
    if (place.running.size > 0)
      throw new ProblemError(
        "session_busy",
        `A turn is running in ${directory} (${[...place.running].join(", ")}). Wait for its end, or interrupt it, then rewind.`,
      );
    if (place.rewinding) throw new ProblemError("session_busy", `Another rewind is under way in ${directory}.`);
    const work = this.#with(directory, (checkpoints) => checkpoints.rewind(id, options));
    place.rewinding = work;
    try {
      return await work;
    } finally {
      place.rewinding = null;
    }
  }

  stored(directory: string, ids: readonly string[]): Promise<Set<string>> {
    if (ids.length === 0) return Promise.resolve(new Set());
    return this.#with(directory, async (checkpoints) => {
      const all = new Set(checkpoints.list().map(({ id }) => id));
      return new Set(ids.filter((id) => all.has(id)));
    });
  }

  refusal(directory: string): Promise<string | null> {
    return this.#with(directory, async (checkpoints) => checkpoints.refusal?.message ?? null);
  }

  removed(directory: string): void {
    this.#swept.add(directory);
    this.#sweeping ??= setTimeout(() => {
      this.#sweeping = null;
      void this.sweep();
    }, SWEEP_MS).unref();
  }

  /** Removes the checkpoints that no session names any more, in directories where one was removed. */
  async sweep(): Promise<void> {
    const directories = [...this.#swept];
    this.#swept.clear();
    if (directories.length === 0 || this.#closed) return;
    try {
      const made = new Map(directories.map((directory) => [directory, this.#place(directory).made]));
      const named = await this.#named();
      for (const directory of directories) await this.#sweepOne(directory, named, made.get(directory) ?? 0);
    } catch (error) {
      this.#options.warn("checkpoints of removed sessions could not be removed yet", { error: String(error) });
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#care);
    if (this.#sweeping) clearTimeout(this.#sweeping);
    await Promise.allSettled([...this.#places.values()].map(({ opened }) => opened?.then(closeCheckpoints)));
  }

  async #named(): Promise<Set<string>> {
    const named = new Set<string>();
    for (const { body } of await this.#options.log.documents.list("checkpoint", { limit: Number.MAX_SAFE_INTEGER })) {
      const { checkpoint_id } = JSON.parse(body) as { checkpoint_id?: string };
      if (checkpoint_id !== undefined) named.add(checkpoint_id);
    }
    return named;
  }

  /** `made`: the calls before the names were read. */
  async #sweepOne(directory: string, named: ReadonlySet<string>, made: number): Promise<void> {
    const place = this.#place(directory);
    let isEmpty = false;
    try {
      await this.#with(directory, async (checkpoints) => {
        const all = checkpoints.list();
        const limit = Date.now() - FRESH_MS;
        isEmpty = all.every(({ id }) => !named.has(id));
        const left = all.filter(({ id, created_at }) => !named.has(id) && Date.parse(created_at) < limit);
        if (left.length > 0) await checkpoints.drop(left.map(({ id }) => id));
      });
    } catch (error) {
      // The directory is gone, and nobody can go back to anything in it.
      if (!(error instanceof ProblemError) || error.code !== "directory_not_found") throw error;
      isEmpty = true;
    }
    if (!isEmpty || place.running.size > 0 || place.calls > 0) return;
    // Somebody took a checkpoint meanwhile, perhaps: nobody would find its name among those. The call of this sweep is one of them.
    if (place.made > made + 1) return this.removed(directory);
    this.#places.delete(directory);
    await place.opened?.then(closeCheckpoints, () => {});
    removeStore(directory, this.#options.stores);
  }

  async #lookAfter(): Promise<void> {
    const { stores, quota_bytes, max_age_ms, warn } = this.#options;
    try {
      const now = Date.now();
      for (const [directory, place] of this.#places) {
        if (place.calls > 0 || place.running.size > 0 || now - place.used < IDLE_MS) continue;
        this.#places.delete(directory);
        await place.opened?.then(closeCheckpoints, () => {});
      }
      if (now - this.#pruned < PRUNE_MS) return;
      this.#pruned = now;
      await pruneStores(stores, { max_bytes: quota_bytes, max_age_ms });
    } catch (error) {
      warn("old checkpoints could not be removed", { error: String(error) });
    }
  }

  #place(directory: string): Place {
    const known = this.#places.get(directory);
    if (known) return known;
    const place: Place = { opened: null, used: Date.now(), calls: 0, made: 0, running: new Set(), rewinding: null };
    this.#places.set(directory, place);
    return place;
  }

  async #with<T>(directory: string, work: (checkpoints: Checkpoints) => Promise<T>): Promise<T> {
    if (this.#closed) throw new ProblemError("not_ready", "The daemon is stopping.");
    const { stores, dataDir, quota_bytes, home } = this.#options;
    const place = this.#place(directory);
    place.calls += 1;
    place.made += 1;
    place.used = Date.now();
    try {
      place.opened ??= openCheckpoints(directory, stores, {
        hidden: [dataDir],
        quota_bytes,
        ...(home === undefined ? {} : { home }),
      });
      return await work(await place.opened.catch((error: unknown) => this.#unopened(place, error)));
    } catch (error) {
      throw asProblem(error);
    } finally {
      place.calls -= 1;
    }
  }

  /** The next one tries again. */
  #unopened(place: Place, error: unknown): never {
    place.opened = null;
    throw error;
  }
}

type DaemonParts = {
  config: Config;
  dataDir: string;
  env: NodeJS.ProcessEnv;
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void;
};

/** As the configuration says; null: switched off. */
export function checkpointsOf({ config, dataDir, env, log: say }: DaemonParts, log: Log): DirectoryCheckpoints | null {
  const { enabled = true, max_age, ...given } = config.checkpoints ?? {};
  if (!enabled) return null;
  const { quota_bytes, wait_ms } = { ...defaults.checkpoints, ...given };
  return new DirectoryCheckpoints({
    ...{ log, dataDir, quota_bytes, wait_ms, home: env.HOME },
    stores: join(dataDir, "checkpoints"),
    max_age_ms: ageMs(max_age ?? defaults.checkpoints.max_age),
    warn: (message, fields) => say("warn", message, fields),
  });
}

const CODES: Record<CheckpointErrorCode, ProblemCode> = {
  directory_missing: "directory_not_found",
  root_directory: "checkpoint_refused",
  home_directory: "checkpoint_refused",
  too_many_files: "checkpoint_refused",
  too_many_bytes: "checkpoint_refused",
  quota_exceeded: "checkpoint_refused",
  disk_full: "disk_full",
  unknown_checkpoint: "checkpoint_not_found",
  store_locked: "not_ready",
  content_unavailable: "checkpoint_refused",
  path_outside: "invalid_request",
  closed: "not_ready",
};

const asProblem = (error: unknown): unknown =>
  error instanceof CheckpointError ? new ProblemError(CODES[error.code], error.message, { cause: error }) : error;
