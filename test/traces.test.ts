// Every trace under traces/ is replayed through its translator: nothing unparsed, no rule broken, and a transcript that a person has reviewed.
// `UPDATE_GOLDEN=1 npx vitest run test/traces.test.ts` writes the transcripts anew; read the difference before you commit it.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { translators } from "../src/agents/registry.ts";
import { replayTrace } from "../src/verify/replay.ts";
import { transcript } from "../src/verify/report/transcript.ts";
import { parseRow } from "../src/verify/trace-file.ts";

const ROOT = fileURLToPath(new URL("../traces/", import.meta.url));
const files = existsSync(ROOT)
  ? readdirSync(ROOT, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ndjson"))
      .sort()
  : [];

/** Scenarios in which the agent says what is no message, on purpose. */
const GARBAGE = /mock-garbage/;

function rowsOf(file: string) {
  const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const parsed = parseRow(line);
      if ("fault" in parsed) throw new Error(`${file}: ${parsed.fault}`);
      return parsed.row;
    });
}

describe("recorded traces", () => {
  it("exist", () => expect(files.length).toBeGreaterThan(0));

  it.each(files)("%s", (file) => {
    const agent = relative(ROOT, join(ROOT, file)).split("/")[0] ?? "";
    const translator = translators.get(agent);
    if (!translator) throw new Error(`traces/${agent} has the name of no agent.`);
    const replay = replayTrace(translator, rowsOf(file), { location: agent });
    if (!GARBAGE.test(file)) expect(replay.unparsed).toEqual([]);
    expect(replay.unexplained).toEqual([]);
    expect(replay.sessions.flatMap((session) => session.violations)).toEqual([]);
    const told = replay.sessions.map((session) => transcript(session.events)).join("\n");
    const golden = join(ROOT, file.replace(/\.ndjson$/, ".golden.txt"));
    if (process.env.UPDATE_GOLDEN === "1") writeFileSync(golden, told);
    expect(told).toBe(existsSync(golden) ? readFileSync(golden, "utf8") : "no golden file yet: run with UPDATE_GOLDEN=1");
  });

  it("name no machine", () => {
    const named = /\/tmp\/dragoman|\/root\/\.|\/work\/main|\/home\/(?!user\b)/;
    const found = files.filter((file) => named.test(readFileSync(join(ROOT, file), "utf8")));
    expect(found).toEqual([]);
  });
});
