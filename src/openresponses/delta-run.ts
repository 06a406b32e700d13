/**
 * Pieces of streamed text that follow one another. A block that differs from the one before only in its text and in its numbers is a piece like that one: as valid,
 * at the same place, so it is neither parsed nor checked again. Whatever is not exactly that is an event like any other.
 */
import type { ReceivedEvent } from "./provider-event.ts";
import type { ReadBlock } from "./sse-reader.ts";
import type { ResponseStream } from "./state-machine.ts";

/** What may differ between two pieces. `obfuscation`: OpenAI fills pieces up to one length with it. */
const VARYING = { delta: "string", sequence_number: "number", obfuscation: "string" } as const;
type Varying = keyof typeof VARYING;

/** A stream whose pieces differ in more than that is not looked at any longer. */
const MAX_FAILURES = 8;

/** The text around what varies: one more than the names. */
type Template = { readonly names: readonly Varying[]; readonly fixed: readonly string[] };

export class DeltaRun {
  readonly #stream: ResponseStream;
  #template: Template | null = null;
  #failures = 0;

  constructor(stream: ResponseStream) {
    this.#stream = stream;
  }

  /** The text of the next piece; null when the block must be read as an event. */
  next({ text, oversize }: ReadBlock): string | null {
    const template = this.#template;
    if (template === null || oversize !== null) return null;
    const piece = read(text, template);
    if (piece !== null && this.#stream.repeated(piece.delta, piece.sequence)) {
      this.#failures = 0;
      return piece.delta;
    }
    this.#template = null;
    return null;
  }

  /** After an event that was read: the next one may repeat it. */
  learn({ text }: ReadBlock, event: ReceivedEvent | null): void {
    this.#template = null;
    if (event?.data === null || event === null || !this.#stream.isStreaming || this.#failures >= MAX_FAILURES) return;
    if (event.errors.length > 0) return;
    this.#failures += 1;
    this.#template = templateOf(text, event.data);
  }
}

function templateOf(text: string, data: Readonly<Record<string, unknown>>): Template | null {
  const places: { name: Varying; start: number; end: number }[] = [];
  for (const [key, value] of Object.entries(data)) {
    // Inside of another value a key could have the same name.
    if (typeof value === "object" && value !== null && !(Array.isArray(value) && value.length === 0)) return null;
    if (!Object.hasOwn(VARYING, key)) continue;
    const name = key as Varying;
    const start = valueAt(text, name);
    const end = start === -1 ? -1 : VARYING[name] === "string" ? stringEnd(text, start) : numberEnd(text, start);
    if (end === -1 || typeof value !== VARYING[name]) return null;
    places.push({ name, start, end });
  }
  places.sort((one, other) => one.start - other.start);
  if (!places.some(({ name }) => name === "delta")) return null;
  const ends = [0, ...places.map(({ end }) => end)];
  const starts = [...places.map(({ start }) => start), text.length];
  return { names: places.map(({ name }) => name), fixed: ends.map((end, index) => text.slice(end, starts[index])) };
}

/** Where the value of a key begins, a string behind its quote; -1 when the key stands there twice. A key inside of a string has other quotes. */
function valueAt(text: string, name: Varying): number {
  const key = `"${name}":`;
  const at = text.indexOf(key);
  if (at === -1 || text.lastIndexOf(key) !== at) return -1;
  let start = at + key.length;
  while (text.charCodeAt(start) === SPACE) start += 1;
  if (VARYING[name] === "number") return start;
  return text.charCodeAt(start) === QUOTE ? start + 1 : -1;
}

function read(text: string, { names, fixed }: Template): { delta: string; sequence: number | null } | null {
  let at = 0;
  let delta = "";
  let sequence: number | null = null;
  for (let index = 0; index < names.length; index++) {
    const before = fixed[index] as string;
    if (!text.startsWith(before, at)) return null;
    at += before.length;
    const name = names[index] as Varying;
    const end = VARYING[name] === "string" ? stringEnd(text, at) : numberEnd(text, at);
    if (end === -1) return null;
    if (name === "sequence_number") sequence = Number(text.slice(at, end));
    else {
      const said = stringOf(text.slice(at, end));
      if (said === null) return null;
      if (name === "delta") delta = said;
    }
    at = end;
  }
  const last = fixed[names.length] as string;
  return text.length === at + last.length && text.endsWith(last) ? { delta, sequence } : null;
}

/** Where a string ends: at its quote. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH && end - 1 - slashes >= start) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return -1;
}

/** Where a whole number that a double holds ends; -1 for any other. */
function numberEnd(text: string, start: number): number {
  let end = start;
  while (text.charCodeAt(end) >= ZERO && text.charCodeAt(end) <= NINE) end += 1;
  const digits = end - start;
  return digits === 0 || digits > 15 || (digits > 1 && text.charCodeAt(start) === ZERO) ? -1 : end;
}

/** What stands between the quotes; null where JSON does not allow it, and for bytes that were no text. */
function stringOf(inner: string): string | null {
  if (!UNUSUAL.test(inner)) return inner;
  if (inner.includes("\ufffd")) return null;
  try {
    return JSON.parse(`"${inner}"`) as string;
  } catch {
    return null;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none in a string.
const UNUSUAL = /[\u0000-\u001f\\\ufffd]/;
const [SPACE, QUOTE, BACKSLASH, ZERO, NINE] = [0x20, 0x22, 0x5c, 0x30, 0x39];
