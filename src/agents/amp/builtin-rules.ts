// The permission rules an Amp build has inside. They are needed because of their `ask` entries: see permission-rules.
import type { ProcessRecorder } from "../../transports/index.ts";
import { records } from "../json.ts";
import { askAmp } from "./ask-amp.ts";
import { type PermissionRule, readRule } from "./permission-rules.ts";

const known = new Map<string, Promise<PermissionRule[]>>();

/** Asked once for each command while the daemon runs. Empty when the build cannot tell. */
export function builtinRules(
  command: string,
  args: string[],
  env: Record<string, string>,
  recorder?: ProcessRecorder,
): Promise<PermissionRule[]> {
  const name = JSON.stringify([command, args]);
  const before = known.get(name);
  if (before) return before;
  const asked = ask(command, args, env, recorder).then((rules) => {
    if (rules.length === 0) known.delete(name);
    return rules;
  });
  known.set(name, asked);
  return asked;
}

async function ask(
  command: string,
  args: string[],
  env: Record<string, string>,
  recorder?: ProcessRecorder,
): Promise<PermissionRule[]> {
  const said = await askAmp(command, [...args, "permissions", "list", "--builtin", "--json"], env, recorder);
  try {
    return records(JSON.parse(said ?? "[]")).flatMap((rule) => readRule(rule) ?? []);
  } catch {
    return [];
  }
}
