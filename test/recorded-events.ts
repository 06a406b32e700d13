/** The events of every recorded trace: real agents' sessions, for tests of whatever reads events. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { translators } from "../src/agents/registry.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { replayTrace } from "../src/verify/replay.ts";
import { parseRow } from "../src/verify/trace-file.ts";

const ROOT = fileURLToPath(new URL("../traces/", import.meta.url));

export type RecordedSession = { name: string; events: UniversalEvent[] };

export function recordedSessions(): RecordedSession[] {
  const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ndjson"));
  return files.sort().flatMap((file) => {
    const agent = file.split("/")[0] ?? "";
    const translator = translators.get(agent);
    if (!translator) throw new Error(`traces/${agent} has the name of no agent.`);
    const lines = readFileSync(join(ROOT, file), "utf8").split("\n");
    const rows = lines
      .filter((line) => line !== "")
      .flatMap((line) => {
        const parsed = parseRow(line);
        return "row" in parsed ? [parsed.row] : [];
      });
    return replayTrace(translator, rows, { location: agent }).sessions.map(({ session_id, events }) => ({
      name: `${file} ${session_id}`,
      events,
    }));
  });
}
