// The four permission modes in OpenCode's words: rules of the session, which come after those of its configuration and its agent.
import type { PermissionMode } from "../../schema/event-data.ts";
import type { SessionConfig } from "../contract.ts";

export type Rule = { permission: string; pattern: string; action: "allow" | "deny" | "ask" };

const rule = (permission: string, action: Rule["action"]): Rule => ({ permission, pattern: "*", action });

/** OpenCode itself allows nearly everything: what changes something is asked for. Rules the person wrote in the configuration stay as they are. */
export function permissionRules(
  mode: PermissionMode,
  { mcp_servers }: Pick<SessionConfig, "mcp_servers">,
  configured: boolean,
): Rule[] {
  const mcp = mcp_servers.map(({ name }) => rule(`${name}_*`, "ask"));
  // 1.18: a sub-agent inherits what is denied, but not what has to be asked for. So its start is asked for.
  const asked = configured
    ? []
    : [rule("bash", "ask"), rule("webfetch", "ask"), rule("websearch", "ask"), rule("task", "ask"), ...mcp];
  switch (mode) {
    case "default":
      return configured ? [] : [rule("edit", "ask"), ...asked];
    case "accept_edits":
      return [rule("edit", "allow"), ...asked];
    case "bypass":
      return [rule("*", "allow")];
    case "plan":
      // The plan agent brings its own rules.
      return [];
    default:
      return mode satisfies never;
  }
}

/** Plan is an agent of OpenCode's; every other mode works with any agent. */
export function agentFor(mode: PermissionMode, agent: string | null): string | null {
  if (mode === "plan") return agent === null || agent === "build" ? "plan" : agent;
  return agent;
}
