// Reads a recorded trace line by line, whatever its size. A line that is no row of a trace is reported, not thrown: the rest still counts.
import { createReadStream } from "node:fs";
import { LineFramer } from "../transports/index.ts";
import type { TraceRow } from "./replay.ts";

const DIRECTIONS: ReadonlySet<string> = new Set<TraceRow["dir"]>(["in", "out", "err", "exit", "http", "sse", "daemon"]);

export type TraceLine = { line: number; row: TraceRow } | { line: number; fault: string };

export async function* readTrace(file: string): AsyncGenerator<TraceLine, void, undefined> {
  const ready: TraceLine[] = [];
  let line = 0;
  // Not readline: it takes U+2028 for a line end, and agents write it.
  const framer = new LineFramer({
    keepBlankLines: true,
    onLine: (bytes) => {
      line++;
      const text = bytes.toString("utf8");
      if (text.trim() !== "") ready.push({ line, ...parseRow(text) });
    },
    onOversize: ({ bytes }) => {
      line++;
      ready.push({ line, fault: `a line of ${bytes} bytes` });
    },
  });
  for await (const chunk of createReadStream(file)) {
    framer.push(chunk as Buffer);
    yield* ready.splice(0);
  }
  framer.end();
  yield* ready.splice(0);
}

export function parseRow(text: string): { row: TraceRow } | { fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { fault: `not JSON (${error instanceof Error ? error.message : String(error)})` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { fault: "not an object" };
  const { t_ms, dir, data } = value as Record<string, unknown>;
  if (typeof t_ms !== "number") return { fault: "no number t_ms" };
  if (typeof dir !== "string" || !DIRECTIONS.has(dir)) return { fault: `dir must be one of ${[...DIRECTIONS].join(", ")}` };
  if (data === undefined) return { fault: "no data" };
  return { row: { t_ms, dir: dir as TraceRow["dir"], data } };
}
