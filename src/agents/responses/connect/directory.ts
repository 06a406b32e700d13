/**
 * What of a directory steers our own agent: instructions, and rules of its own. Both count only where the person trusts it; and its rules may forbid or ask, never
 * allow: what a repository allows counts in no mode.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import Type from "typebox";
import { Value } from "typebox/value";
import { PermissionRule } from "../../../runtime/permissions/rules.ts";
import { AgentError, type AgentHost, type LoadedFile } from "../../contract.ts";
import { type FileRule, findFiles } from "../../directory-files.ts";
import { MCP_FILE } from "./mcp-config.ts";

export const RULES_FILE = ".dragoman/rules.json";
const Rules = Type.Array(PermissionRule, { maxItems: 1000 });

const FILES: readonly FileRule[] = [
  { path: "AGENTS.md", upTo: "root", kind: "instructions", does: "is added to the model's instructions" },
  { path: MCP_FILE, kind: "mcp_servers", does: "names programs and addresses that are started as MCP servers" },
  { path: RULES_FILE, kind: "permissions", does: "says which commands and edits are forbidden or asked about" },
];

export const responsesFiles = (directory: string): Promise<LoadedFile[]> => findFiles(directory, FILES);

/** The person's rules come from the configuration; those of the directory after them. A list that cannot be read is refused: half a list is a hole. */
export async function rulesOf(host: AgentHost, directory: string, trusted: boolean): Promise<PermissionRule[]> {
  const own = host.settings.rules === undefined ? [] : checked(host.settings.rules, "agents.responses.rules");
  if (!trusted) return own;
  const text = await readFile(join(directory, RULES_FILE), "utf8").catch(() => null);
  if (text === null) return own;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  return [...own, ...checked(value, join(directory, RULES_FILE)).filter(({ decision }) => decision !== "allow")];
}

function checked(value: unknown, place: string): PermissionRule[] {
  if (Value.Check(Rules, value)) return value;
  const advice = `Write a list such as [{"rule": "Bash(git status:*)", "decision": "allow"}].`;
  throw new AgentError("agent_refused", `${place} is no list of rules. ${advice}`);
}
