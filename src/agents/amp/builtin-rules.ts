// The permission rules an Amp build has inside. They are needed because of their `ask` entries: see permission-rules.
import { execFile } from "node:child_process";
import { records } from "../json.ts";
import { type PermissionRule, readRule } from "./permission-rules.ts";

const TIMEOUT_MS = 30_000;
const known = new Map<string, Promise<PermissionRule[]>>();

/** Asked once for each command while the daemon runs. Empty when the build cannot tell. */
export function builtinRules(command: string, args: string[], env: Record<string, string>): Promise<PermissionRule[]> {
  const name = JSON.stringify([command, args]);
  const before = known.get(name);
  if (before) return before;
  const asked = ask(command, args, env).then((rules) => {
    if (rules.length === 0) known.delete(name);
    return rules;
  });
  known.set(name, asked);
  return asked;
}

function ask(command: string, args: string[], env: Record<string, string>): Promise<PermissionRule[]> {
  return new Promise((resolve) => {
    const options = {
      env: { ...env, AMP_SKIP_UPDATE_CHECK: "1" },
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      maxBuffer: 8_388_608,
    } as const;
    const child = execFile(command, [...args, "permissions", "list", "--builtin", "--json"], options, (_error, stdout) => {
      try {
        resolve(records(JSON.parse(stdout)).flatMap((rule) => readRule(rule) ?? []));
      } catch {
        resolve([]);
      }
    });
    child.stdin?.end();
  });
}
