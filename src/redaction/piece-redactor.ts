/**
 * Redacts a text that comes in pieces, such as deltas and chunks of a file, where a secret can begin in one piece and end in another. What could be the
 * beginning of a secret is held back until the next piece shows what it is.
 *
 * Caught whatever the cut: the known shapes. Of a value without a shape (a token of the daemon, a variable) at most its first 19 characters get out.
 * Shapes of the user's own are caught across a cut when they hold no white space.
 */
import type { Redactor } from "./redactor.ts";
import { START, secretShapes } from "./secret-shapes.ts";

/** A word as long as this could be a token: held back until it ends. */
const LONG_WORD = 20;
/** Longer than any secret of one word. Texts come from agents: whatever is looked at has a bound. */
const LONGEST_WORD = 4_096;
/** Longer than any private key. */
const LONGEST_KEY = 20_000;
/** Words that lead up to a secret, and the secret. */
const LONGEST_LEAD = 600;
/** What was given out already, so that a secret that began there is seen. */
const CONTEXT = 160;

const begins = [...new Set(secretShapes.flatMap((shape) => shape.begins))].filter((word) => /^\w/.test(word));
const escaped = (word: string): string => word.replace(/[.+]/g, "\\$&");

/** The word, or the beginning of it: `sk-`, `sk`, `s`. */
const partial = (word: string): string => [...word].reduceRight((rest, letter) => `${escaped(letter)}(?:${rest})?`, "");

const BEGIN = new RegExp(`${START}(?:${begins.map(escaped).join("|")})`, "g");
const PART_OF_BEGIN = new RegExp(`${START}(?:${begins.map(partial).join("|")})$`);
const VALUE = "[A-Za-z0-9._~+/=-]{0,500}";
const LEADS: readonly RegExp[] = [
  new RegExp(`${START}Bearer\\s{1,9}${VALUE}$`),
  new RegExp(
    `${START}authorization\\\\{0,9}["']?\\s{0,9}(?:[:=]\\s{0,9}\\\\{0,9}["']?(?:[a-z]{0,9}|(?:bearer|basic|token)\\s{1,9}${VALUE}))?$`,
    "i",
  ),
  /\b[a-z][a-z0-9+.-]{0,30}:(?:\/(?:\/[^\s@/"'\\]{0,300})?)?$/i,
];
const KEY_BEGIN = "-----BEGIN ";
const KEY_END = /-----END [A-Z0-9 ]{0,40}-----/g;
const PART_OF_KEY = /-{1,5}(?:B(?:E(?:G(?:I(?:N ?)?)?)?)?)?$/;
const WORD = /[A-Za-z0-9_-]/;
const DOTTED_WORD = /[A-Za-z0-9_.-]/;

export class PieceRedactor {
  readonly #redactor: Redactor;
  #context = "";
  #held = "";

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** What can be given out now, with this piece. */
  add(piece: string): string {
    const text = this.#held + piece;
    const cut = this.#whole(text, text.length - this.#unfinished(text));
    this.#held = text.slice(cut);
    return this.#give(text.slice(0, cut));
  }

  /** What is held back now. */
  get held(): string {
    return this.#held;
  }

  /** Nothing more will come: what was held back. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return this.#give(held);
  }

  #give(text: string): string {
    if (text === "") return "";
    const whole = this.#context + text;
    const out = this.#redactor.rest(whole, this.#context.length);
    this.#context = whole.slice(-CONTEXT);
    return out;
  }

  /** How many characters at the end could be the beginning of a secret. */
  #unfinished(text: string): number {
    const all = this.#context + text;
    const word = endOf(all, WORD);
    const lead = all.slice(-LONGEST_LEAD);
    const keep = Math.max(
      begunWord(all),
      begunKey(all),
      word >= LONG_WORD ? word : 0,
      ...[PART_OF_BEGIN, ...LEADS].map((expression) => expression.exec(lead)?.[0].length ?? 0),
      this.#redactor.hasOwnShapes ? endOf(all, /\S/) : 0,
    );
    return Math.min(keep, text.length);
  }

  /** The cut, moved to the beginning of a secret that it would divide. */
  #whole(text: string, cut: number): number {
    const before = this.#context.length;
    for (const { from, to } of this.#redactor.find(this.#context + text))
      if (from - before < cut && cut < to - before) return Math.max(0, from - before);
    return cut;
  }
}

/** How many characters of this kind stand at the end; 0 when they are more than any secret has. */
function endOf(text: string, kind: RegExp): number {
  let length = 0;
  while (length < text.length && kind.test(text.charAt(text.length - 1 - length))) if (++length > LONGEST_WORD) return 0;
  return length;
}

/** The end of the text from where a word begins like a secret. */
function begunWord(text: string): number {
  BEGIN.lastIndex = text.length - endOf(text, DOTTED_WORD);
  const at = BEGIN.exec(text)?.index;
  return at === undefined ? 0 : text.length - at;
}

/** The end of the text from where a private key begins that is not whole yet. */
function begunKey(text: string): number {
  let end = 0;
  for (const match of text.matchAll(KEY_END)) end = match.index + match[0].length;
  const begin = text.indexOf(KEY_BEGIN, end);
  const length = begin < 0 ? (PART_OF_KEY.exec(text.slice(-12))?.[0].length ?? 0) : text.length - begin;
  return length > LONGEST_KEY ? 0 : length;
}
