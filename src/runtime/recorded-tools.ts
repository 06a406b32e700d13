/** The tools of a recorded session, for a replay: ours as they are, and those that came from elsewhere by their names alone. They are never run. */
import Type from "typebox";
import { type Effect, type JournalRecord, recordsOf } from "./records.ts";
import { baseTools } from "./tools/index.ts";
import { ToolRegistry } from "./tools/registry.ts";
import { type AnyTool, defineTool } from "./tools/tool.ts";

export function recordedTools(records: readonly JournalRecord[]): ToolRegistry {
  const own = baseTools();
  const names = new Set(
    [...recordsOf(records, "session.opened"), ...recordsOf(records, "settings.changed")].flatMap(({ settings }) =>
      settings.tools.map((tool) => String(tool.name)),
    ),
  );
  const effects = effectsByName(records);
  const others = [...names].filter((name) => !own.some((tool) => tool.name === name));
  return new ToolRegistry([
    ...own.filter(({ name }) => names.has(name)),
    ...others.map((name) => recordedTool(name, effects.get(name) ?? "unknown")),
  ]);
}

function effectsByName(records: readonly JournalRecord[]): Map<string, Effect> {
  const names = new Map(recordsOf(records, "call.accepted").map(({ call, name }) => [call, name]));
  return new Map(recordsOf(records, "call.started").map(({ call, effect }) => [names.get(call) ?? "", effect]));
}

function recordedTool(name: string, effect: Effect): AnyTool {
  const run = (): Promise<never> => Promise.reject(new Error("A replay runs nothing."));
  const base = { name, description: "", parameters: Type.Record(Type.String(), Type.Unknown()) };
  const subject = () => ({ kind: "other", name }) as const;
  return defineTool({ ...base, subject, effect: effect === "none" ? "none" : "unknown", run });
}
