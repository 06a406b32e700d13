/**
 * Transcripts: the items that a session's events add up to. Reading a long session is costly, so those who ask for the same one at the same time share it.
 * The result is kept for a moment only.
 */
import type { Stream } from "../log/contract.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { ItemProjection } from "../schema/projection/item-projection.ts";
import type { ItemList } from "../schema/session.ts";
import { ownTurn } from "./pacing.ts";

const ITEM_TYPES = ["item.started", "item.updated", "item.delta", "item.completed", "item.removed"];
const PAGE_BYTES = 256 * 1024;
const KEEP_MS = 1_000;

type Kept = { stream: Stream; last: number; list: Promise<ItemList>; timer: NodeJS.Timeout | null };

export class Transcripts {
  /** The last one that was asked for. */
  #kept: Kept | null = null;

  /** Do not change what is returned: others have it too. */
  of(stream: Stream): Promise<ItemList> {
    const known = this.#kept;
    if (known !== null && known.stream.id === stream.id && known.last === stream.lastCommitted) return known.list;
    const kept: Kept = { stream, last: stream.lastCommitted, list: fold(stream), timer: null };
    if (known?.timer) clearTimeout(known.timer);
    this.#kept = kept;
    const forget = (): void => {
      if (this.#kept === kept) this.#kept = null;
    };
    kept.list.then(() => {
      kept.timer = setTimeout(forget, KEEP_MS).unref();
    }, forget);
    return kept.list;
  }
}

/** Reads page by page, each in a turn of its own. */
async function fold(stream: Stream): Promise<ItemList> {
  const items = new ItemProjection();
  for (let after = 0; ; ) {
    const page = stream.read({ after, limit: 1_000, types: ITEM_TYPES, maxBytes: PAGE_BYTES });
    for (const json of page.events) items.apply(JSON.parse(json) as UniversalEvent);
    if (!page.has_more) return { items: items.items(), last_sequence: page.last };
    after = page.next;
    await ownTurn();
  }
}
