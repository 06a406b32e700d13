/** A page of events, filled row by row. What is returned is what was written, without a gap. */
import type { ReadOptions, ReadPage } from "../contract.ts";
import type { LogError } from "../log-error.ts";
import type { Damage, StreamName } from "./damage.ts";
import { checkedRow } from "./event-chunk.ts";
import { PackedEvents } from "./packed-events.ts";
import type { SqlRow } from "./row-readers.ts";
import { numbersOf, wordsOf } from "./run-length.ts";

export type Range = { after: number; before: number; limit: number; maxBytes: number };

/** Of which stream, in which order, and which types; undefined: all. */
export type Wanted = { stream: StreamName; range: Range; reverse: boolean; types: ReadonlySet<string> | undefined };

const PAGE_BYTES = 8 * 1024 * 1024;

/** What a read asks for, and the page it begins with. `last`: the last event there is. */
export function emptyPage(last: number, options: ReadOptions): { page: ReadPage; range: Range; reverse: boolean } {
  const range: Range = {
    after: Math.max(0, options.after ?? 0),
    before: Math.min(options.before ?? Number.POSITIVE_INFINITY, last + 1),
    limit: Math.max(1, options.limit ?? 1000),
    maxBytes: options.maxBytes ?? PAGE_BYTES,
  };
  const reverse = options.reverse === true;
  const next = reverse ? range.before : range.after;
  return { page: { events: [], sequences: [], types: [], natives: [], next, last, has_more: false }, range, reverse };
}

/** Nothing of the range is behind the page. */
export const isWhole = (page: ReadPage, range: Range, reverse: boolean): boolean =>
  reverse ? page.next <= range.after + 1 : page.next >= range.before - 1;

/** The sequence that a page needs next. */
export const nextOf = (page: ReadPage, reverse: boolean): number => (reverse ? page.next - 1 : page.next + 1);

export const missing = (damage: Damage, stream: StreamName, sequence: number): LogError =>
  damage.found(`Event ${sequence}`, stream);

export function mustFollow(
  page: ReadPage,
  row: { first: number; last: number },
  { stream, reverse }: Pick<Wanted, "stream" | "reverse">,
  damage: Damage,
): void {
  const next = nextOf(page, reverse);
  if (row.first > next || row.last < next) throw missing(damage, stream, next);
}

/** Adds what is wanted of one row to the page; false when the page is full. */
export function takeRow(page: ReadPage, row: SqlRow, wanted: Wanted, damage: Damage): boolean {
  const { stream, range, reverse, types } = wanted;
  const checked = checkedRow(row, stream, damage);
  mustFollow(page, checked, wanted, damage);
  const { first } = checked;
  const from = Math.max(first, reverse ? range.after + 1 : page.next + 1);
  const to = Math.min(checked.last, reverse ? page.next - 1 : range.before - 1);
  const events = PackedEvents.read(checked.body, first).events();
  const kinds = wordsOf(checked.types);
  const natives = numbersOf(checked.natives);
  for (let sequence = reverse ? to : from; reverse ? sequence >= from : sequence <= to; sequence += reverse ? -1 : 1) {
    if (page.events.length >= range.limit) return false;
    const index = sequence - first;
    const [event, type] = [events[index], kinds[index]];
    if (event === undefined || type === undefined) throw missing(damage, stream, sequence);
    page.next = sequence;
    if (types?.has(type) === false) continue;
    page.events.push(event);
    page.sequences.push(sequence);
    page.types.push(type);
    page.natives.push(natives[index] ?? null);
  }
  return page.events.length < range.limit;
}
