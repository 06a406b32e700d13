/**
 * One session as it is looked at: its state and newest items, older ones on demand, live events as they come, or the session as it stood at some sequence.
 * However long it is, it opens with a snapshot and one page.
 */
import { DragomanError } from "../../../src/client/error.ts";
import type { UniversalEvent } from "../../../src/schema/event.ts";
import type { Item } from "../../../src/schema/item.ts";
import { allEventTypes } from "../debug/event-families.ts";
import { daemon, eventPage, isOtherHistory, problemText } from "./daemon.ts";
import { sessions } from "./sessions.ts";
import { Signal } from "./store.ts";
import { type PastPage, TranscriptFold } from "./transcript-fold.ts";

const ITEMS_PAGE = 150;
const LARGEST_PAGE = 10_000;
/** A page left open for days lets go of what lies far above, while nobody reads there. */
const MOST_ENTRIES = 6_000;

/** What pages of items do not say. */
const BESIDE_ITEMS = allEventTypes.filter((type) => type === "item.removed" || !type.startsWith("item."));

export type Loading = { state: "loading" } | { state: "ready" } | { state: "failed"; detail: string; code: string };

export class Transcript {
  readonly id: string;
  readonly changed = new Signal();
  fold = new TranscriptFold();
  loading: Loading = { state: "loading" };
  /** Everything up to here is in the fold. */
  last = 0;
  /** The sequence the session is replayed to, or null for live. */
  replay: number | null = null;
  hasOlder = false;
  /** True while the reader is at the end. */
  following = true;
  /** Everything from here on is in the fold. */
  #oldest = 0;
  /** Older pages are as of this event; null: as of now. */
  #at: number | null = null;
  /** Of the log that the fold was read from. */
  #epoch: string | undefined;
  #version = 0;
  #waiting: UniversalEvent[] = [];
  #busy = true;
  #olderRunning = false;
  #abort = new AbortController();
  readonly #close: (() => void)[] = [];

  constructor(id: string) {
    this.id = id;
  }

  /** Watches the session until `close`. */
  open(): void {
    this.#close.push(
      sessions.watch(this.id, (event) => this.#receive(event)),
      sessions.caughtUp.subscribe(() => void this.#catchUp()),
    );
    void this.load(null);
  }

  close(): void {
    this.#abort.abort();
    for (const close of this.#close.splice(0)) close();
  }

  readonly version = (): number => this.#version;
  readonly item = (id: string): Item | undefined => this.fold.item(id);

  /** The session's newest events, or its newest as of a sequence. */
  async load(replay: number | null): Promise<void> {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#busy = true;
    this.replay = replay;
    try {
      const session = daemon.session(this.id);
      const snapshot = await session.snapshot({ ...(replay === null ? {} : { at: replay }), signal });
      const fold = new TranscriptFold(snapshot);
      const past = await this.#past(snapshot.sequence + 1, snapshot.sequence, signal);
      fold.prepend(past);
      this.fold = fold;
      this.last = snapshot.sequence;
      this.#at = replay;
      this.loading = { state: "ready" };
      this.#busy = false;
      this.#drain();
      this.#tell();
    } catch (error) {
      if (signal.aborted) return;
      this.#busy = false;
      this.#fail(error);
    }
  }

  /** The stretch before this event: a page of items and everything else between them. */
  async #past(before: number, at: number | null, signal: AbortSignal): Promise<PastPage> {
    const query = { order: "desc", limit: ITEMS_PAGE, before, ...(at === null ? {} : { at }), signal } as const;
    const { items, sequences, has_more, next } = await daemon.session(this.id).items(query);
    const from = has_more ? next : 0;
    const events: UniversalEvent[] = [];
    for (let after = Math.max(0, from - 1), more = true; more; ) {
      const page = await eventPage(this.id, { after, before, limit: LARGEST_PAGE, types: BESIDE_ITEMS }, signal);
      events.push(...page.events);
      [after, more] = [page.next, page.has_more];
      this.#epoch = page.epoch;
    }
    this.hasOlder = has_more;
    this.#oldest = from;
    return { items, sequences, events };
  }

  async loadOlder(): Promise<void> {
    if (this.#olderRunning || !this.hasOlder || this.#busy) return;
    this.#olderRunning = true;
    const { signal } = this.#abort;
    try {
      const { fold } = this;
      const past = await this.#past(this.#oldest, this.#at, signal);
      if (fold === this.fold) fold.prepend(past);
      this.#tell();
    } catch {
      // The next scroll asks again.
    } finally {
      this.#olderRunning = false;
    }
  }

  /** Replays on by so many events; false when the end is reached. */
  async advance(count: number): Promise<boolean> {
    if (this.replay === null || this.#busy) return this.replay !== null;
    const { signal } = this.#abort;
    const page = await eventPage(this.id, { after: this.last, limit: count }, signal);
    if (signal.aborted) return false;
    for (const event of page.events) {
      this.fold.apply(event);
      this.last = event.sequence;
    }
    this.replay = this.last;
    this.#tell();
    return page.has_more;
  }

  #receive(event: UniversalEvent): void {
    if (this.replay !== null) return;
    this.#waiting.push(event);
    if (!this.#busy) this.#drain();
  }

  #drain(): void {
    for (const event of this.#waiting.splice(0)) {
      if (event.sequence <= this.last) continue;
      if (event.sequence > this.last + 1) {
        this.#waiting.push(event);
        void this.#catchUp();
        return;
      }
      this.fold.apply(event);
      this.last = event.sequence;
    }
    this.#tellSoon();
    if (this.following && this.fold.size > MOST_ENTRIES) void this.load(null);
  }

  /** Reads what the stream did not say: after a gap or a new connection. */
  async #catchUp(): Promise<void> {
    if (this.replay !== null || this.#busy) return;
    if (this.loading.state === "failed") return this.load(null);
    this.#busy = true;
    const { signal } = this.#abort;
    try {
      for (let more = true; more; ) {
        const page = await eventPage(this.id, { after: this.last, epoch: this.#epoch, limit: LARGEST_PAGE }, signal);
        for (const event of page.events) {
          this.fold.apply(event);
          this.last = event.sequence;
        }
        more = page.has_more;
        this.#epoch = page.epoch;
      }
      this.#busy = false;
      this.#drain();
      this.#tell();
    } catch (error) {
      if (signal.aborted) return;
      this.#busy = false;
      if (error instanceof DragomanError && isOtherHistory(error)) await this.load(null);
      if (error instanceof DragomanError && error.code === "session_not_found") this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const code = error instanceof DragomanError ? error.code : "";
    this.loading = { state: "failed", detail: problemText(error), code };
    this.#tell();
    // Removed elsewhere: no event says so, and the list would show it until the next connection.
    if (code === "session_not_found") sessions.removed(this.id);
  }

  #tell(): void {
    this.#version++;
    this.changed.flush();
  }

  #tellSoon(): void {
    this.#version++;
    this.changed.schedule();
  }
}
