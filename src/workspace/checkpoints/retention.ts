/**
 * Forgets checkpoints. The changes of a dropped one go into its successor, so what is left still adds up. Contents that nothing needs any more leave with their
 * pack, or when a pack is mostly waste: then what is left of it moves to the newest pack. One pack at a time, so it never needs twice the disk.
 */
import { addUp } from "./changes.ts";
import { contentOf } from "./entry.ts";
import type { CheckpointRecord } from "./record.ts";
import type { Store } from "./store.ts";
import { type Change, entries, type Tree } from "./tree.ts";

/** A pack with less of use than this is rewritten. */
const USEFUL = 0.5;
/** How much of the history one round of shrinking gives up. */
const SHARE = 0.1;

/** `ids` must not name the newest: the manifest is its tree. */
export async function dropCheckpoints(store: Store, tree: Tree, ids: ReadonlySet<string>): Promise<void> {
  const left: { record: CheckpointRecord; changes: Change[] }[] = [];
  let carried: Change[] = [];
  for (const { spot, ...record } of store.checkpoints) {
    const changes = store.changesAt(spot);
    if (ids.has(record.id)) {
      carried = [...carried, ...changes];
      continue;
    }
    // Nobody can go back beyond the first.
    left.push({
      record,
      changes: left.length === 0 ? [] : carried.length === 0 ? changes : [...addUp([...carried, ...changes]).values()],
    });
    carried = [];
  }
  const needed = neededContents(left, tree);
  for (const id of [...store.packs.ids()]) if (!needed.has(id)) store.packs.forget(id);
  for (const pack of wastefulPacks(store)) {
    const moved = [...store.packs.ids()].filter((id) => store.packs.place(id)!.pack === pack);
    for (const id of moved) store.packs.put(id, store.packs.read(id), true);
    store.packs.written();
    await store.packs.durable();
    store.rewrite(left);
    store.packs.committed();
    store.packs.remove(pack);
  }
  store.rewrite(left);
}

function neededContents(left: readonly { changes: readonly Change[] }[], tree: Tree): Set<string> {
  const needed = new Set<string>();
  for (const [, entry] of entries(tree.root, "")) if (entry.kind === "f") needed.add(entry.id);
  for (const entry of tree.loose.values()) if (entry.kind === "f") needed.add(entry.id);
  for (const { changes } of left)
    for (const { before, after } of changes) {
      const [was, is] = [contentOf(before), contentOf(after)];
      if (was !== null) needed.add(was);
      if (is !== null) needed.add(is);
    }
  return needed;
}

function wastefulPacks(store: Store): number[] {
  const useful = new Map<number, number>();
  for (const id of store.packs.ids()) {
    const { pack, length } = store.packs.place(id)!;
    useful.set(pack, (useful.get(pack) ?? 0) + length);
  }
  const wasteful = store.packs.packs.filter((pack) => (useful.get(pack) ?? 0) < store.packs.sizeOf(pack) * USEFUL);
  // The newest one can only be emptied into another.
  if (wasteful.includes(store.packs.current)) store.packs.nextPack();
  return wasteful;
}

/** Rounds of ids to drop, the oldest first, until only the newest is left. */
export function* oldestFirst(store: Store): Generator<() => Set<string>> {
  while (store.checkpoints.length > 1) {
    const many = Math.max(1, Math.floor(store.checkpoints.length * SHARE));
    yield () => new Set(store.checkpoints.slice(0, Math.min(many, store.checkpoints.length - 1)).map(({ id }) => id));
  }
}
