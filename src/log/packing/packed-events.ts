/**
 * The events of a chunk as they lie on the disk: what neighbours have in common is written once, so that a delta costs a few bytes beside its text. What
 * comes out is, to the byte, what went in. It knows the parts of an event, not what they mean.
 *
 * A body is lines. `*12 ["…","…"]` begins a run of 12 events of one shape, each a line `head⇥counter⇥time⇥value`; an empty head or time is that of the
 * event before. `*3` begins a run of 3 events in full. A body that begins with `{` has one event a line, as the first version wrote them.
 */
import { ENVELOPE_CHARS, EnvelopeJoiner, type EventText, type Shape } from "../../schema/envelope.ts";
import { TextBuffer, type TextEncoding } from "./text-buffer.ts";

/** The last piece of text is given room for three bytes a character. */
const MARGIN = 40 * 1024;
/** Characters around an event, about. */
const FRAME_CHARS = 24;

/** Events in a row that have all this in common. */
type Run = { readonly shape: Shape | null; readonly head: string; readonly time: string; count: number };

export class PackedEvents {
  readonly #first: number;
  readonly #encoding: TextEncoding;
  readonly #runs: Run[] = [];
  readonly #counters: string[] = [];
  readonly #values: string[] = [];
  /** Of the events in full, about. */
  #chars = 0;

  constructor(first: number, encoding: TextEncoding = "utf8") {
    this.#first = first;
    this.#encoding = encoding;
  }

  add(text: EventText): void {
    if (typeof text === "string") this.#push(null, "", "", "", text);
    else this.#push(text.shape, text.head, text.counter, text.time, text.value);
  }

  #push(shape: Shape | null, head: string, counter: string, time: string, value: string): void {
    const run = this.#runs[this.#runs.length - 1];
    if (run !== undefined && run.shape === shape && run.time === time && run.head === head) run.count++;
    else this.#runs.push({ shape, head, time, count: 1 });
    this.#counters.push(counter);
    this.#values.push(value);
    this.#chars += ENVELOPE_CHARS + (shape === null ? value.length : shape.before.length + value.length + shape.after.length);
  }

  get count(): number {
    return this.#values.length;
  }

  get chars(): number {
    return this.#chars;
  }

  /** The events behind the first `skip`, each between what the caller puts around it: frames of a stream, lines, whatever it sends. One pass, one encoding. */
  framed(skip: number, before: (index: number) => string, after: string): Buffer {
    const out = new TextBuffer(this.#encoding, this.#chars + this.count * FRAME_CHARS + MARGIN);
    const joiner = new EnvelopeJoiner();
    let index = 0;
    for (const run of this.#runs) {
      for (const end = index + run.count; index < end; index++) {
        if (index < skip) continue;
        out.add(`${before(index)}${this.#json(run, index, joiner)}${after}`);
      }
    }
    return out.bytes();
  }

  /** The JSON of one event. */
  event(index: number): string {
    let end = 0;
    for (const run of this.#runs) {
      end += run.count;
      if (index < end) {
        const json = this.#json(run, index, new EnvelopeJoiner());
        return this.#encoding === "utf8" ? json : Buffer.from(json, this.#encoding).toString("utf8");
      }
    }
    return "";
  }

  #json({ shape, head, time }: Run, index: number, joiner: EnvelopeJoiner): string {
    const value = this.#values[index] ?? "";
    if (shape === null) return value;
    return joiner.join(head, this.#counters[index] ?? "", this.#first + index, time, shape, value);
  }

  /** The JSON of each event. */
  events(): string[] {
    const lines = this.framed(0, () => "", "\n")
      .toString("utf8")
      .split("\n");
    lines.pop();
    return lines;
  }

  /** For the disk, and kept beside it for late readers. */
  body(): Buffer {
    const out = new TextBuffer(this.#encoding);
    let index = 0;
    let before: Run | undefined;
    for (const [at, run] of this.#runs.entries()) {
      const { shape, head, time, count } = run;
      const goesOn = before !== undefined && before.shape === shape;
      if (!goesOn)
        out.add(`*${this.#countOfShape(at)}${shape === null ? "" : ` ${JSON.stringify([shape.before, shape.after])}`}\n`);
      let ahead = goesOn && before?.head === head ? "" : head;
      let when = goesOn && before?.time === time ? "" : time;
      for (const end = index + count; index < end; index++) {
        const start = shape === null ? "" : `${ahead}\t${this.#counters[index]}\t${when}\t`;
        out.add(`${start}${this.#values[index]}\n`);
        ahead = "";
        when = "";
      }
      before = run;
    }
    return out.ownBytes();
  }

  /** How many events have the shape of this run, from there on. */
  #countOfShape(at: number): number {
    const { shape } = this.#runs[at] ?? { shape: null };
    let count = 0;
    for (let next = this.#runs[at]; next !== undefined && next.shape === shape; next = this.#runs[++at]) count += next.count;
    return count;
  }

  /** As bytes, one a unit: what is only passed on need not be decoded. */
  static read(body: Buffer, first: number): PackedEvents {
    const events = new PackedEvents(first, "latin1");
    const lines = body.toString("latin1").split("\n");
    if (body[0] !== "*".charCodeAt(0)) for (const line of lines) events.add(line);
    else for (let at = 0; at < lines.length - 1; ) at = events.#readRun(lines, at);
    return events;
  }

  #readRun(lines: readonly string[], at: number): number {
    const [, count = "0", constants] = /^\*(\d+)(?: (.*))?$/.exec(lines[at] ?? "") ?? [];
    const end = at + 1 + Number(count);
    if (constants === undefined) {
      for (let next = at + 1; next < end; next++) this.#push(null, "", "", "", lines[next] ?? "");
      return end;
    }
    const [before = "", after = ""]: string[] = JSON.parse(constants);
    const shape = { before, after };
    let [head, time] = ["", ""];
    for (let next = at + 1; next < end; next++) {
      const line = lines[next] ?? "";
      const one = line.indexOf("\t");
      const two = line.indexOf("\t", one + 1);
      const three = line.indexOf("\t", two + 1);
      if (one > 0) head = line.slice(0, one);
      if (three > two + 1) time = line.slice(two + 1, three);
      this.#push(shape, head, line.slice(one + 1, two), time, line.slice(three + 1));
    }
    return end;
  }
}
