// Mutated native messages through every translator and the scribe: nothing throws, the grammar holds, and what makes no event has a reason. The messages come from the recorded traces.
// DRAGOMAN_FUZZ_SEED and DRAGOMAN_FUZZ_RUNS change the run; DRAGOMAN_FUZZ_TRACES takes traces from elsewhere.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { translators } from "../src/agents/registry.ts";
import { seedOf } from "../src/test-seed.ts";
import { replayTrace, type TraceRow } from "../src/verify/replay.ts";

const SEED = Number(process.env.DRAGOMAN_FUZZ_SEED ?? seedOf(20_261_115));
const RUNS = Number(process.env.DRAGOMAN_FUZZ_RUNS ?? 40);
const TRACES = process.env.DRAGOMAN_FUZZ_TRACES ?? fileURLToPath(new URL("../traces", import.meta.url));

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const STRANGE: unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  "constructor",
  "__proto__",
  "\u2028",
  [],
  {},
  [null],
  { toString: 1 },
  { type: "text" },
  { length: 3 },
  "x".repeat(300),
];

/** The value with one place in it changed: dropped, replaced, doubled, renamed. */
function mutated(value: unknown, dice: () => number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(dice() * list.length)] as T;
  if (typeof value !== "object" || value === null || dice() < 0.1) return pick(STRANGE);
  if (Array.isArray(value)) {
    const copy = [...value];
    const at = Math.floor(dice() * copy.length);
    const fate = copy.length === 0 ? 0 : dice();
    if (fate < 0.2) copy.push(pick(STRANGE));
    else if (fate < 0.4) copy.splice(at, 1);
    else copy[at] = mutated(copy[at], dice);
    return copy;
  }
  const copy: Record<string, unknown> = { ...value };
  const keys = Object.keys(copy);
  const key = pick(keys);
  if (key === undefined) return { surprise: pick(STRANGE) };
  if (dice() < 0.15) delete copy[key];
  else copy[key] = mutated(copy[key], dice);
  return copy;
}

/** A word of an enumeration, replaced by one that nobody knows yet. */
function renamed(value: unknown, dice: () => number): unknown {
  const words = /"([a-z][A-Za-z_]{2,30})"(?!:)/g;
  const text = JSON.stringify(value) ?? "null";
  const found = [...text.matchAll(words)];
  const word = found[Math.floor(dice() * found.length)];
  if (!word) return value;
  return JSON.parse(`${text.slice(0, word.index)}"word_of_tomorrow"${text.slice(word.index + word[0].length)}`);
}

/** Cut off at some place, or with neighbours in the other order. */
function disturbed(rows: TraceRow[], dice: () => number): TraceRow[] {
  const fate = dice();
  if (fate < 0.2) return rows.slice(0, Math.floor(dice() * rows.length));
  if (fate > 0.4) return rows;
  const swapped = [...rows];
  for (let at = 1; at < swapped.length; at++) {
    const [one, other] = [swapped[at - 1], swapped[at]];
    if (one?.dir === "out" && other?.dir === "out" && dice() < 0.1) swapped.splice(at - 1, 2, other, one);
  }
  return swapped;
}

function mutatedTrace(all: TraceRow[], dice: () => number): TraceRow[] {
  return disturbed(all, dice).flatMap((row) => {
    const fate = dice();
    if (fate < 0.03) return [];
    if (fate < 0.06) return [row, row];
    if (fate < 0.2) return [{ ...row, data: mutated(row.data, dice) }];
    if (fate < 0.26) return [{ ...row, data: renamed(row.data, dice) }];
    if (fate < 0.28) return [{ ...row, data: "not JSON" }, row];
    return [row];
  });
}

const filesUnder = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesUnder(path) : path.endsWith(".ndjson") ? [path] : [];
  });

const readRows = (file: string): TraceRow[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TraceRow);

const translatorOf = (agent: string) => translators.get(agent);

const folders = readdirSync(TRACES).filter((name) => translatorOf(name) && statSync(join(TRACES, name)).isDirectory());

describe.each(folders)("mutated traces of %s", (agent) => {
  it(`neither throw, nor break the grammar, nor vanish (seed ${SEED}, ${RUNS} runs)`, () => {
    const create = translatorOf(agent);
    const files = filesUnder(join(TRACES, agent));
    const dice = random(SEED);
    for (let run = 0; run < RUNS; run++) {
      const file = files[Math.floor(dice() * files.length)];
      if (!file || !create) continue;
      const { sessions, unparsed, unexplained } = replayTrace(create, mutatedTrace(readRows(file), dice), { location: agent });
      const thrown = unparsed.filter(({ error }) => error.startsWith("the translator"));
      expect({ file, run, thrown }).toEqual({ file, run, thrown: [] });
      const broken = sessions.flatMap(({ violations }) => violations);
      expect({ file, run, broken }).toEqual({ file, run, broken: [] });
      expect({ file, run, unexplained }).toEqual({ file, run, unexplained: [] });
    }
  });
});
