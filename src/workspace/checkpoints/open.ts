/** Opens the checkpoints of a directory. Whoever opens the same directory in this process shares them; the last one to close ends them. */
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { Checkpoints } from "./checkpoints.ts";
import type { CheckpointError } from "./errors.ts";
import type { CheckpointOptions } from "./options.ts";
import { realDirectory, refusalOf } from "./place.ts";
import { Store, storeOf } from "./store.ts";

type Shared = { checkpoints: Promise<Checkpoints>; users: number };
const open = new Map<string, Shared>();

/** `stores`: the folder with the stores of all workspaces. Options count for the one who opens it first. */
export async function openCheckpoints(directory: string, stores: string, options: CheckpointOptions = {}): Promise<Checkpoints> {
  const real = realDirectory(directory);
  // Without links: a store inside of the workspace has to be recognized.
  mkdirSync(stores, { recursive: true, mode: 0o700 });
  const folder = storeOf(realpathSync(stores), real);
  const known = open.get(folder);
  if (known) {
    known.users += 1;
    return known.checkpoints;
  }
  const shared: Shared = { checkpoints: start(real, folder, refusalOf(real, options.home), options), users: 1 };
  open.set(folder, shared);
  try {
    return await shared.checkpoints;
  } catch (error) {
    open.delete(folder);
    throw error;
  }
}

/** Gives up one use. */
export async function closeCheckpoints(checkpoints: Checkpoints): Promise<void> {
  for (const [folder, shared] of open) {
    if ((await shared.checkpoints) !== checkpoints) continue;
    shared.users -= 1;
    if (shared.users > 0) return;
    open.delete(folder);
  }
  await checkpoints.close();
}

async function start(
  directory: string,
  folder: string,
  refusal: CheckpointError | null,
  options: CheckpointOptions,
): Promise<Checkpoints> {
  // What only knows touched files must never be compared with a whole tree: a store of its own.
  const store = Store.open(refusal ? `${folder}-touched` : folder, directory, options.durable ?? false);
  const checkpoints = new Checkpoints(directory, store, refusal, options);
  try {
    await checkpoints.recover();
    return checkpoints;
  } catch (error) {
    await checkpoints.close();
    throw error;
  }
}

/** Removes everything that is stored of a directory that nobody has open. */
export function removeStore(directory: string, stores: string): void {
  let folder: string;
  try {
    folder = storeOf(realpathSync(stores), directory);
  } catch {
    return;
  }
  if (isOpen(folder)) return;
  for (const each of [folder, `${folder}-touched`]) rmSync(each, { recursive: true, force: true });
}

/** Bytes of all stores. */
export function storesBytes(stores: string): number {
  const size = (path: string): number => {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat?.isDirectory()) return stat?.size ?? 0;
    return readdirSync(path).reduce((sum, name) => sum + size(join(path, name)), 0);
  };
  return size(stores);
}

/**
 * Cleans up the stores of all workspaces: those that nobody used for `max_age_ms` go whole, then the longest unused ones until the rest is under `max_bytes`.
 * Stores that are open are pruned by themselves, and go last.
 */
export async function pruneStores(
  stores: string,
  policy: { max_bytes: number; max_age_ms: number; now?: number },
): Promise<{ removed: string[] }> {
  const now = policy.now ?? Date.now();
  const removed: string[] = [];
  const closed = folders(stores)
    .filter(({ folder }) => !isOpen(folder))
    .sort((a, b) => a.used - b.used);
  let bytes = storesBytes(stores);
  for (const { folder, used } of closed) {
    if (now - used <= policy.max_age_ms && bytes <= policy.max_bytes) continue;
    bytes -= storesBytes(folder);
    rmSync(folder, { recursive: true, force: true });
    removed.push(folder);
  }
  const all = [...open.values()];
  for (const { checkpoints } of all) {
    const each = await checkpoints;
    const most = each.usage().bytes - Math.max(0, bytes - policy.max_bytes);
    const { freed_bytes } = await each.prune({ max_bytes: Math.max(0, most), max_age_ms: policy.max_age_ms, now });
    bytes -= freed_bytes;
  }
  return { removed };
}

const isOpen = (folder: string): boolean => {
  if ([...open.keys()].some((key) => folder === key || folder === `${key}-touched`)) return true;
  try {
    return (
      Number(readFileSync(join(folder, "lock"), "utf8")) !== process.pid &&
      isRunning(Number(readFileSync(join(folder, "lock"), "utf8")))
    );
  } catch {
    return false;
  }
};

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function folders(stores: string): { folder: string; used: number }[] {
  try {
    return readdirSync(stores).map((name) => {
      const folder = join(stores, name);
      return { folder, used: statSync(join(folder, "journal"), { throwIfNoEntry: false })?.mtimeMs ?? 0 };
    });
  } catch {
    return [];
  }
}
