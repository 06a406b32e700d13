/**
 * What the simulation has in the place of the log on Postgres: a commit of one stream is all or nothing, fenced by the epoch and by the expected sequence, and takes queued messages out only
 * if they are there. A rule can be broken on purpose (`broken`); the checks of the simulation must find it. It also watches what the code under test cannot see: who really was the newest
 * writer when something was written.
 */
import { Violation } from "./test-world.ts";

export const BROKEN_RULES = ["fence", "sequence", "visible", "prompt", "count"] as const;
/**
 * `fence`: appends are not compared with the epoch. `sequence`: nor with the expected sequence. `visible`: followers get what is not committed. `prompt`: the agent gets a message before its
 * turn is committed. `count`: a turn begins although its message is not queued any more.
 */
export type BrokenRule = (typeof BROKEN_RULES)[number];

export type Line = { sequence: number; epoch: number; text: string };
type StoredStream = { epoch: number; writer: string; lines: Line[]; queue: string[]; keys: Set<string> };

export type Commit = {
  writer: string;
  epoch: number;
  first: number;
  texts: readonly string[];
  /** A message that is queued with it, known by its key. */
  put?: string;
  /** The message whose turn begins with it. */
  remove?: string;
};

/** `gone`: the message to remove is not queued any more. `fenced`: another writes this stream now, or it is not where the writer thinks. */
export type Committed = "ok" | "gone" | "fenced";

export class Store {
  readonly streams = new Map<string, StoredStream>();
  readonly #broken: BrokenRule | null;

  constructor(broken: BrokenRule | null) {
    this.#broken = broken;
  }

  create(id: string, epoch: number, writer: string): boolean {
    if (this.streams.has(id)) return false;
    this.streams.set(id, { epoch, writer, lines: [], queue: [], keys: new Set() });
    return true;
  }

  /** Another owner was chosen: with that the writer before is refused. */
  fence(id: string, epoch: number): void {
    const stream = this.streams.get(id);
    if (stream) Object.assign(stream, { epoch, writer: "" });
  }

  /** Takes the writer under the epoch of an owner; undefined when a higher one was taken. */
  take(id: string, epoch: number, writer: string): { last: number; queue: string[]; keys: Set<string> } | "absent" | undefined {
    const stream = this.streams.get(id);
    if (!stream) return "absent";
    if (stream.epoch > epoch) return undefined;
    Object.assign(stream, { epoch, writer });
    return { last: stream.lines.length, queue: [...stream.queue], keys: new Set(stream.keys) };
  }

  commit(id: string, { writer, epoch, first, texts, put, remove }: Commit): Committed {
    const stream = this.#stream(id);
    if (this.#broken !== "fence" && stream.epoch !== epoch) return "fenced";
    if (this.#broken === "sequence" ? stream.lines.length < first - 1 : stream.lines.length !== first - 1) return "fenced";
    if (remove !== undefined && this.#broken !== "count" && !stream.queue.includes(remove)) return "gone";
    if (stream.epoch !== epoch || stream.writer !== writer)
      throw new Violation(
        `${writer} wrote ${id}:${first} under epoch ${epoch}, but its writer is ${stream.writer} under ${stream.epoch}`,
      );
    if (stream.lines.length !== first - 1) throw new Violation(`${id}:${first} is reported twice`);
    texts.forEach((text, index) => void stream.lines.push({ sequence: first + index, epoch, text }));
    if (put !== undefined) {
      stream.queue.push(put);
      stream.keys.add(put);
    }
    if (remove !== undefined) stream.queue = stream.queue.filter((message) => message !== remove);
    return "ok";
  }

  /** Puts a message into the queue without the owner: only for histories in which messages come so. */
  enqueue(id: string, message: string): void {
    const stream = this.#stream(id);
    if (stream.keys.has(message)) return;
    stream.keys.add(message);
    stream.queue.push(message);
  }

  /** What a writer asks whose answer was lost. */
  look(id: string): { epoch: number; last: number } {
    const { epoch, lines } = this.#stream(id);
    return { epoch, last: lines.length };
  }

  read(id: string, after: number, limit: number): Line[] {
    return this.#stream(id).lines.slice(after, after + limit);
  }

  queued(id: string): string[] {
    return [...this.#stream(id).queue];
  }

  #stream(id: string): StoredStream {
    const stream = this.streams.get(id);
    if (!stream) throw new Error(`there is no stream ${id}`);
    return stream;
  }
}
