// The events of a session by position: sequences have no gaps, so any stretch of a million events can be asked for alone. With a filter, the newest that match, older on demand.
import type { EventSource, UniversalEvent } from "../../../src/schema/event.ts";
import type { EventType } from "../../../src/schema/event-data.ts";
import { eventPage } from "../state/daemon.ts";
import { sessions } from "../state/sessions.ts";
import { Signal } from "../state/store.ts";

const PAGE = 200;
const FILTERED_PAGE = 500;

export type EventFilter = { types: readonly EventType[]; source: EventSource | "any" };

export class EventLog {
  readonly id: string;
  readonly changed = new Signal();
  readonly #filter: EventFilter;
  readonly #pages = new Map<number, UniversalEvent[]>();
  readonly #asked = new Set<number>();
  #matches: UniversalEvent[] = [];
  #before: number | null = null;
  #loading = false;
  #last: number;
  #version = 0;
  #close = (): void => {};
  readonly #abort = new AbortController();

  constructor(id: string, filter: EventFilter, last: number) {
    this.id = id;
    this.#filter = filter;
    this.#last = last;
  }

  get filtered(): boolean {
    return this.#filter.types.length > 0 || this.#filter.source !== "any";
  }

  open(): void {
    this.#close = sessions.watch(this.id, (event) => this.#receive(event));
    if (this.filtered) void this.older();
  }

  close(): void {
    this.#abort.abort();
    this.#close();
  }

  readonly version = (): number => this.#version;
  readonly count = (): number => (this.filtered ? this.#matches.length : this.#last);

  at(index: number): UniversalEvent | undefined {
    if (this.filtered) return this.#matches[index];
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Reads what is missing of a stretch. */
  want(from: number, to: number): void {
    if (this.filtered) {
      if (from < 20) void this.older();
      return;
    }
    for (let page = Math.floor(from / PAGE); page <= Math.floor(to / PAGE); page++) void this.#read(page);
  }

  async #read(page: number): Promise<void> {
    const wanted = Math.min(PAGE, this.#last - page * PAGE);
    if (this.#asked.has(page) || (this.#pages.get(page)?.length ?? 0) >= wanted) return;
    this.#asked.add(page);
    const known = this.#pages.get(page)?.length ?? 0;
    let read = 0;
    try {
      const { events } = await eventPage(this.id, { after: page * PAGE, limit: PAGE }, this.#abort.signal);
      read = events.length;
      this.#pages.set(page, events);
      this.#tell();
    } catch {
      // Asked for again when it is next in sight.
    } finally {
      this.#asked.delete(page);
    }
    // Events that came while the page was on its way belong to it too.
    if (read > known) void this.#read(page);
  }

  /** The session has at least this many events, whether they were seen coming or not. */
  reach(last: number): void {
    if (last <= this.#last) return;
    this.#last = last;
    this.#tell();
  }

  async older(): Promise<void> {
    if (this.#loading || this.#before === 0) return;
    this.#loading = true;
    try {
      const page = await eventPage(
        this.id,
        {
          order: "desc",
          limit: FILTERED_PAGE,
          ...(this.#filter.types.length > 0 ? { types: this.#filter.types } : {}),
          ...(this.#before === null ? {} : { before: this.#before }),
        },
        this.#abort.signal,
      );
      const newest = this.#matches[0]?.sequence ?? Number.POSITIVE_INFINITY;
      this.#matches = [
        ...page.events.reverse().filter((event) => event.sequence < newest && this.#fits(event)),
        ...this.#matches,
      ];
      this.#before = page.has_more ? page.next : 0;
      this.#tell();
    } catch {
      // The next scroll asks again. Asked for at once, a list that was closed would ask for ever, and hold the page.
      return;
    } finally {
      this.#loading = false;
    }
    if (this.#matches.length < 50 && this.#before) void this.older();
  }

  #fits(event: UniversalEvent): boolean {
    const { types, source } = this.#filter;
    return (source === "any" || event.source === source) && (types.length === 0 || types.includes(event.type));
  }

  #receive(event: UniversalEvent): void {
    this.#last = Math.max(this.#last, event.sequence);
    if (this.filtered) {
      if (this.#fits(event) && event.sequence > (this.#matches.at(-1)?.sequence ?? 0)) this.#matches.push(event);
    } else {
      const index = event.sequence - 1;
      const page = this.#pages.get(Math.floor(index / PAGE));
      if (page && page.length === index % PAGE) page.push(event);
    }
    this.#version++;
    this.changed.schedule();
  }

  #tell(): void {
    this.#version++;
    this.changed.flush();
  }
}
