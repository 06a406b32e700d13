// Every recorded trace as frames: what holds for all agents, whatever the order in which they tell things.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { builtInAgents } from "../src/agents/registry.ts";
import { framesDialect } from "../src/dialects/frames/index.ts";
import { contractErrors } from "../src/dialects/frames/test-contract.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { replayTrace } from "../src/verify/replay.ts";
import { parseRow } from "../src/verify/trace-file.ts";

const ROOT = fileURLToPath(new URL("../traces/", import.meta.url));
const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ndjson"));

type AnyFrame = { seq: number; type: string; tool_id?: string; [field: string]: unknown };

function sessionsOf(file: string): UniversalEvent[][] {
  const translator = builtInAgents.find(({ id }) => id === file.split("/")[0])?.createTranslator;
  if (!translator) throw new Error(`${file}: no such agent`);
  const rows = readFileSync(join(ROOT, file), "utf8")
    .split("\n")
    .flatMap((line) => {
      const parsed = line === "" ? { fault: "" } : parseRow(line);
      return "fault" in parsed ? [] : [parsed.row];
    });
  return replayTrace(translator, rows, { location: file }).sessions.map(({ events }) => events);
}

function framesOf(events: UniversalEvent[], after = 0): AnyFrame[] {
  const reader = framesDialect.open({ kind: "session", id: events[0]?.session_id ?? "", version: 1 });
  return events.flatMap((event) => {
    const taken = { json: JSON.stringify(event) };
    if (event.sequence > after) return reader.lines(taken).map(({ json }) => JSON.parse(json) as AnyFrame);
    reader.remember(taken);
    return [];
  });
}

describe.each(files)("%s", (file) => {
  const sessions = sessionsOf(file);

  it("counts every event once, in frames that fit the contract field by field", () => {
    for (const events of sessions) {
      const frames = framesOf(events);
      // Nothing was said and nothing ended: the first frame still waits for its input.
      if (frames.length === 0) continue;
      expect(frames.length).toBe(events.length);
      expect(contractErrors(frames, 1)).toEqual([]);
    }
  });

  it("starts a tool once, and ends it once after that", () => {
    for (const events of sessions) {
      const open = new Set<string>();
      const known = new Set<string>();
      for (const { type, tool_id = "", args, error } of framesOf(events)) {
        if (type === "tool_started") {
          expect(known.has(tool_id)).toBe(false);
          expect(args).toBeTypeOf("object");
          known.add(tool_id);
          open.add(tool_id);
        }
        if (type === "tool_stdout" || type === "tool_stderr") expect(open.has(tool_id)).toBe(true);
        if (type === "tool_ended" || type === "tool_failed") expect(open.delete(tool_id)).toBe(true);
        if (type === "tool_failed") expect(error).not.toBe("");
      }
      // A trace that stops in the middle leaves its last tool open.
      if (events.at(-1)?.type === "session.ended") expect([...open]).toEqual([]);
    }
  });

  it("streams as output what the agent said, and nothing else", () => {
    for (const events of sessions) {
      const frames = framesOf(events);
      if (frames.length === 0) continue;
      const output = frames.flatMap(({ type, delta }) => (type === "output_text_delta" ? [String(delta)] : [])).join("");
      const roles = new Map<string, string>();
      let said = "";
      for (const { type, data } of events) {
        if (type === "item.started") roles.set(data.item.item_id, `${data.item.kind} ${data.item.role}`);
        if (type === "item.delta" && data.part_type === "text" && roles.get(data.item_id) === "message assistant")
          said += data.delta;
      }
      expect(output).toBe(said);
    }
  });

  it("is the same from the middle on", () => {
    for (const events of sessions) {
      const whole = framesOf(events);
      for (const after of [Math.floor(events.length / 3), Math.floor(events.length / 2), events.length - 3]) {
        const held = whole.length > 0 && framesOf(events, after).length > events.length - after;
        if (after > 0 && !held) expect(framesOf(events, after)).toEqual(whole.slice(after));
      }
    }
  });
});
