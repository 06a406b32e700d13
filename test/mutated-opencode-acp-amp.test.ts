/**
 * Recorded traces of OpenCode, Gemini CLI (which stands for ACP) and Amp, changed in ways that another version, a lost line or a slow machine could change them.
 * Whatever they say then, the story obeys every rule, and nothing of it is dropped without a reason.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { translators } from "../src/agents/registry.ts";
import { seedOf } from "../src/test-seed.ts";
import { replayTrace, type TraceRow } from "../src/verify/replay.ts";
import { parseRow } from "../src/verify/trace-file.ts";
import { random } from "./random.ts";

const ROOT = fileURLToPath(new URL("../traces/", import.meta.url));
/** Changes of each trace. */
const CHANGES = Number(process.env.DRAGOMAN_MUTATIONS ?? 8);

const filesOf = (agent: string): string[] =>
  readdirSync(join(ROOT, agent), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ndjson"))
    .sort()
    .map((name) => join(ROOT, agent, name));

const rowsOf = (file: string): TraceRow[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => {
      const parsed = line === "" ? undefined : parseRow(line);
      return parsed && "row" in parsed ? [parsed.row] : [];
    });

type Place = { holder: Record<string | number, unknown>; key: string | number; path: string };

/** Every place in a message that holds a value. */
function placesOf(value: unknown, path = ""): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string | number, unknown>;
  return Object.keys(holder).flatMap((key) => {
    const here = { holder, key: Array.isArray(value) ? Number(key) : key, path: `${path}/${key}` };
    return [here, ...placesOf(holder[key], here.path)];
  });
}

const WORDS = [
  "brand_new",
  "",
  "completed",
  "failed",
  "pending",
  "running",
  "error",
  "idle",
  "user",
  "assistant",
  "text",
  "tool",
];
const VALUES = [null, 0, -1, 1.5, true, "x", [], {}, ["x"], [null], { a: 1 }];
/** Fields whose values are words of the protocol. */
const WORDED = /\/(status|kind|type|sessionUpdate|stopReason|role|state|reason|finish|outcome|subtype|stop_reason|reply|tool)$/;

type Pick = <T>(list: readonly T[]) => T | undefined;

/** One change; `how` says which, for the person who reads that a test failed. */
function changed(rows: readonly TraceRow[], pick: Pick): { rows: TraceRow[]; how: string } {
  const said = rows.flatMap(({ dir }, index) => (dir === "out" || dir === "sse" ? [index] : []));
  const at = pick(said) ?? 0;
  const next = said[said.indexOf(at) + 1] ?? at;
  const row = structuredClone(rows[at]) as TraceRow;
  const replaced = (how: string) => ({ rows: rows.with(at, row), how: `row ${at + 1}: ${how}` });
  const places = placesOf(row.data);
  const [place, worded] = [pick(places), pick(places.filter(({ path }) => WORDED.test(path)))];
  const [word, value] = [pick(WORDS), pick(VALUES)];
  switch (pick(["cut", "killed", "repeated", "lost", "swapped", "without", "word", "value"])) {
    case "cut":
      return { rows: rows.slice(0, at + 1), how: `cut after row ${at + 1}` };
    case "killed": {
      const exit: TraceRow = { t_ms: row.t_ms, dir: "exit", data: { code: null, signal: "SIGKILL" } };
      return { rows: [...rows.slice(0, at + 1), exit], how: `killed after row ${at + 1}` };
    }
    case "repeated":
      return { rows: rows.toSpliced(pick(said) ?? at, 0, row), how: `row ${at + 1} again elsewhere` };
    case "lost":
      return { rows: rows.toSpliced(at, 1), how: `without row ${at + 1}` };
    case "swapped":
      return { rows: rows.with(at, rows[next] ?? row).with(next, row), how: `rows ${at + 1} and ${next + 1} swapped` };
    case "without":
      if (place && Array.isArray(place.holder)) place.holder.splice(Number(place.key), 1);
      else if (place) delete place.holder[place.key];
      return replaced(`without ${place?.path}`);
    case "word":
      if (worded) worded.holder[worded.key] = word;
      return replaced(`${worded?.path} is ${JSON.stringify(word)}`);
    default:
      if (place) place.holder[place.key] = structuredClone(value);
      return replaced(`${place?.path} is ${JSON.stringify(value)}`);
  }
}

describe.each(["opencode", "gemini", "amp"])("traces of %s, changed", (agent) => {
  const make = translators.get(agent);
  it.each(filesOf(agent).map((file) => [file.slice(ROOT.length), file]))("%s", (name, file) => {
    if (!make) throw new Error(`no agent ${agent}`);
    const next = random(seedOf(20_261_118) + Buffer.from(name).reduce((sum, byte) => sum * 31 + byte, 0));
    const pick: Pick = (list) => list[Math.floor(next() * list.length)];
    const rows = rowsOf(file);
    for (let count = 0; count < CHANGES; count++) {
      const { rows: other, how } = changed(rows, pick);
      const { sessions, unexplained, unparsed } = replayTrace(make, other, { location: agent });
      const faults = unparsed.filter(({ type }) => type === "fault" || type === "silent");
      const broken = sessions.flatMap(({ violations }) => violations);
      expect({ how, broken, unexplained, faults }).toEqual({ how, broken: [], unexplained: [], faults: [] });
    }
  });
});
