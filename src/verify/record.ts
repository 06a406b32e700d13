// Writes what `verify --record` keeps: one trace a session, in the folder of its agent and version.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ScenarioResult } from "./scenario-result.ts";

/** Returns the files written. A scenario that failed is recorded too: that is the one worth looking at. */
export async function recordTraces(folder: string, version: string | null, result: ScenarioResult): Promise<string[]> {
  const target = join(folder, result.agent, (version ?? "unknown").replaceAll(/[^\w.+-]/g, "_"));
  const files: string[] = [];
  for (const [index, trace] of result.traces.entries()) {
    if (trace === "") continue;
    await mkdir(target, { recursive: true });
    const file = join(target, `${result.scenario}${index === 0 ? "" : `.${index + 1}`}.ndjson`);
    await writeFile(file, trace);
    files.push(file);
  }
  return files;
}
