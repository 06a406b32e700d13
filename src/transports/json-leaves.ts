/** Where the plain texts and whole numbers of a line of JSON are. For lines that were parsed before: it does not check them. */

export type Leaf = {
  kind: "text" | "integer";
  /** Of a text: without its quotes. */
  start: number;
  end: number;
  /** The keys and indexes that lead to it. */
  path: (string | number)[];
};

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_RECORD, CLOSE_RECORD] = [0x5b, 0x5d, 0x7b, 0x7d];
const SPACE = 0x20;
/** Deeper ones are left out: no agent nests so deep what it streams. */
const DEEPEST = 16;
/** Exact as a number, whatever its digits. */
const INTEGER = /^-?(?:0|[1-9]\d{0,14})$/;

/** Null: nested too deeply. Texts with escapes, other numbers, true, false and null are no leaves. */
export function leavesOf(line: string): Leaf[] | null {
  const scanner = new Scanner(line);
  return scanner.value([]) ? scanner.leaves : null;
}

class Scanner {
  readonly leaves: Leaf[] = [];
  readonly #line: string;
  #at = 0;

  constructor(line: string) {
    this.#line = line;
  }

  value(path: (string | number)[]): boolean {
    if (path.length > DEEPEST) return false;
    const code = this.#next();
    if (code === OPEN_RECORD) return this.#record(path);
    if (code === OPEN_LIST) return this.#list(path);
    const start = this.#at;
    if (code === QUOTE) {
      const escaped = this.#text();
      if (!escaped) this.leaves.push({ kind: "text", start: start + 1, end: this.#at - 1, path });
      return true;
    }
    while (this.#at < this.#line.length && !ends(this.#line.charCodeAt(this.#at))) this.#at++;
    if (INTEGER.test(this.#line.slice(start, this.#at))) this.leaves.push({ kind: "integer", start, end: this.#at, path });
    return true;
  }

  #record(path: (string | number)[]): boolean {
    this.#at++;
    while (this.#next() !== CLOSE_RECORD) {
      const start = this.#at;
      const escaped = this.#text();
      const key = escaped ? String(JSON.parse(this.#line.slice(start, this.#at))) : this.#line.slice(start + 1, this.#at - 1);
      if (this.#next() === COLON) this.#at++;
      if (!this.value([...path, key])) return false;
      if (this.#next() === COMMA) this.#at++;
    }
    this.#at++;
    return true;
  }

  #list(path: (string | number)[]): boolean {
    this.#at++;
    for (let index = 0; this.#next() !== CLOSE_LIST; index++) {
      if (!this.value([...path, index])) return false;
      if (this.#next() === COMMA) this.#at++;
    }
    this.#at++;
    return true;
  }

  /** Goes behind the text that begins here; true when it has escapes. */
  #text(): boolean {
    let escaped = false;
    for (this.#at++; this.#at < this.#line.length; this.#at++) {
      const code = this.#line.charCodeAt(this.#at);
      if (code === QUOTE) break;
      if (code !== BACKSLASH) continue;
      escaped = true;
      this.#at++;
    }
    this.#at++;
    return escaped;
  }

  #next(): number {
    while (this.#line.charCodeAt(this.#at) <= SPACE) this.#at++;
    return this.#line.charCodeAt(this.#at);
  }
}

const ends = (code: number): boolean => code === COMMA || code === CLOSE_LIST || code === CLOSE_RECORD || code <= SPACE;
