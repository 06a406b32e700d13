/**
 * Lines of JSON to values, as `JSON.parse` does, in a fifth of the time where lines in a row differ only in some plain texts and whole numbers: so are the
 * pieces of an answer while an agent streams it. Two neighbours make a template; lines that fit it are not parsed, the value is made from the template's.
 *
 * Values of lines in a row share the parts that are the same in both. These are frozen: who changes one gets an error, and no other message changes with it.
 */
import { parseMessage } from "../json/depth.ts";
import { type Leaf, leavesOf } from "./json-leaves.ts";

/** Longer lines are parsed: they do not come by the thousand. */
const LONGEST = 4096;
const MOST_HOLES = 4;
/** A template that was used so often was worth its making. */
const WORTH = 16;
/** Tries in a row that may fail before the next ones are rarer. */
const FREE_TRIES = 4;
const LONGEST_WAIT = 1024;

/** A backslash or a control character: the text is not what stands there, or no JSON. It ends at the next quote, so it has none. */
const UNPLAIN = /[^ -[\]-~\u00a0-\uffff]/;
const INTEGER_END = /[^-\d]/g;
const INTEGER = /^-?(?:0|[1-9]\d{0,14})$/;

/** Parts of the value that lie on the way to a hole: made anew for each line. The others are shared. */
type Way = { base: object; steps: [key: string | number, to: Way | number][] };

type Template = {
  /** What stands before each hole, and behind the last. */
  fixed: string[];
  holes: Leaf["kind"][];
  /** Where each hole is in the value. */
  paths: Leaf["path"][];
  way: Way;
};

/** Takes the next line unparsed, when it differs from the one before only in the text at `path` and in what is `ignored`. */
export type NextAlike = {
  path: readonly (string | number)[];
  ignored?: readonly (readonly (string | number)[])[];
  /** False: it is a line like any other. */
  take(line: string, text: string): boolean;
};

/** Who takes the next line, and in which hole its text is. `same`: holes that must stay as they are. */
type Expected = { next: NextAlike; hole: number; same: number[] };

export class LineParser {
  #template: Template | null = null;
  #uses = 0;
  /** The line before, from which a template can be made. */
  #before = "";
  #failures = 0;
  #wait = 0;
  /** What stood in the holes of the last line; null when it did not fit. */
  #values: (string | number)[] | null = null;
  #expected: Expected | null = null;

  /** Throws as `JSON.parse` does. */
  parse(line: string): unknown {
    const template = this.#template;
    const values = template === null ? null : valuesIn(template, line);
    this.#values = values;
    this.#expected = null;
    if (template !== null && values !== null) {
      this.#uses++;
      return make(template.way, values);
    }
    const value: unknown = parseMessage(line);
    this.#learn(line, value);
    return value;
  }

  /** After a line was parsed: whoever got its value wants those that are like it unparsed. */
  expect(next: NextAlike): void {
    const template = this.#template;
    if (template === null || this.#values === null) return;
    const hole = template.paths.findIndex((path, index) => template.holes[index] === "text" && samePath(path, next.path));
    if (hole === -1) return;
    const isFree = (path: Leaf["path"]): boolean => next.ignored?.some((ignored) => samePath(path, ignored)) ?? false;
    const same = template.paths.flatMap((path, index) => (index === hole || isFree(path) ? [] : [index]));
    this.#expected = { next, hole, same };
  }

  /** True: the line was like the one before, and was taken by who expected it. */
  taken(line: string): boolean {
    const expected = this.#expected;
    if (expected === null || this.#template === null) return false;
    const values = valuesIn(this.#template, line);
    if (values !== null) {
      const text = values[expected.hole];
      if (typeof text === "string" && this.#agree(expected.same, values) && expected.next.take(line, text)) {
        this.#uses++;
        return true;
      }
    }
    this.#expected = null;
    return false;
  }

  #agree(same: readonly number[], values: readonly (string | number)[]): boolean {
    for (const index of same) if (values[index] !== this.#values?.[index]) return false;
    return true;
  }

  #learn(line: string, value: unknown): void {
    const before = this.#before;
    this.#before = line.length <= LONGEST ? line : "";
    if (this.#wait > 0) {
      this.#wait--;
      return;
    }
    if (this.#uses >= WORTH) this.#failures = 0;
    this.#uses = 0;
    const made = before === "" || this.#before === "" ? null : templateOf(before, line, value);
    if (made !== null) this.#template = made;
    this.#failures++;
    if (this.#failures > FREE_TRIES) this.#wait = Math.min(LONGEST_WAIT, 2 ** (this.#failures - FREE_TRIES));
  }
}

/** What stands in the holes, or null when the line does not fit. Slices are compared as memory; `startsWith` goes character by character. */
function valuesIn({ fixed, holes }: Template, line: string): (string | number)[] | null {
  // Of its final length: a list that is pushed to gets room for seventeen.
  const values = new Array<string | number>(holes.length);
  let at = 0;
  for (let i = 0; i < holes.length; i++) {
    const expected = fixed[i] ?? "";
    const start = at + expected.length;
    if (line.slice(at, start) !== expected) return null;
    at = holes[i] === "text" ? line.indexOf('"', start) : integerEnd(line, start);
    if (at === -1) return null;
    const found = line.slice(start, at);
    if (holes[i] === "integer") {
      if (!INTEGER.test(found)) return null;
      values[i] = Number(found);
    } else if (UNPLAIN.test(found)) return null;
    // A copy: a piece of the line would keep the whole chunk alive that it came in, as long as the piece is.
    else values[i] = ` ${found}`.slice(1);
  }
  return line.slice(at) === fixed[holes.length] ? values : null;
}

const samePath = (one: readonly (string | number)[], other: readonly (string | number)[]): boolean =>
  one.length === other.length && one.every((key, index) => key === other[index]);

function integerEnd(line: string, start: number): number {
  INTEGER_END.lastIndex = start;
  return INTEGER_END.exec(line)?.index ?? line.length;
}

function make({ base, steps }: Way, values: (string | number)[]): unknown {
  const made: unknown[] | Record<string | number, unknown> = Array.isArray(base) ? [...base] : { ...base };
  for (const [key, to] of steps) set(made, key, typeof to === "number" ? values[to] : make(to, values));
  return made;
}

function set(made: unknown[] | Record<string | number, unknown>, key: string | number, value: unknown): void {
  if (!Array.isArray(made)) made[key] = value;
  else if (typeof key === "number") made[key] = value;
}

/** From two neighbours; `value` is the second's. Null when they differ in more than a template can say. */
function templateOf(one: string, other: string, value: unknown): Template | null {
  const [ones, others] = [leavesOf(one), leavesOf(other)];
  if (ones === null || others === null || ones.length !== others.length) return null;
  const holes: Leaf[] = [];
  for (const [index, leaf] of others.entries()) {
    const twin = ones[index];
    if (twin === undefined || twin.kind !== leaf.kind) return null;
    if (one.slice(twin.start, twin.end) !== other.slice(leaf.start, leaf.end)) holes.push(leaf);
  }
  if (holes.length === 0 || holes.length > MOST_HOLES) return null;
  const fixed = [...holes, null].map((hole, index) => other.slice(holes[index - 1]?.end ?? 0, hole?.start));
  const way = wayTo(holes, value);
  if (way === null) return null;
  const template = { fixed, holes: holes.map(({ kind }) => kind), paths: holes.map(({ path }) => path), way };
  // A key that comes twice, or anything else not thought of: what does not make the same values is no template.
  if (!makes(template, one, JSON.parse(one)) || !makes(template, other, value)) return null;
  freezeShared(way);
  return template;
}

/** All that is not on the way to a hole. */
function freezeShared({ base, steps }: Way): void {
  for (const [key, value] of Object.entries(base)) {
    const step = steps.find(([name]) => String(name) === key);
    if (step === undefined) freeze(value);
    else if (typeof step[1] !== "number") freezeShared(step[1]);
  }
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  Object.freeze(value);
  for (const part of Object.values(value)) freeze(part);
}

function makes(template: Template, line: string, value: unknown): boolean {
  const values = valuesIn(template, line);
  return values !== null && JSON.stringify(make(template.way, values)) === JSON.stringify(value);
}

function wayTo(holes: Leaf[], value: unknown): Way | null {
  if (typeof value !== "object" || value === null) return null;
  const root: Way = { base: value, steps: [] };
  for (const [index, { path }] of holes.entries()) {
    let way = root;
    for (const [depth, key] of path.entries()) {
      // Assigned, it would not become a key.
      if (key === "__proto__") return null;
      const known = way.steps.find(([step]) => step === key);
      if (depth === path.length - 1) way.steps.push([key, index]);
      else if (known !== undefined && typeof known[1] !== "number") way = known[1];
      else {
        const base = child(way.base, key);
        if (base === null) return null;
        const next: Way = { base, steps: [] };
        way.steps.push([key, next]);
        way = next;
      }
    }
  }
  return root;
}

function child(base: object, key: string | number): object | null {
  const found: unknown = new Map<string, unknown>(Object.entries(base)).get(String(key));
  return typeof found === "object" && found !== null ? found : null;
}
