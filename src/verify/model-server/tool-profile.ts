// Which agent is asking, told by the tools it offers to the model (and, where two agents use the same names, by its user agent).

import type { ToolProfile } from "../scenario/tool-names.ts";
import { objectOf } from "./json.ts";
import type { ModelRequest } from "./model-request.ts";

export function toolProfile(request: ModelRequest, userAgent: string): ToolProfile | undefined {
  const names = new Set(request.tools.map((tool) => tool.name));
  const has = (...all: string[]): boolean => all.every((name) => names.has(name));
  const takes = (tool: string, property: string): boolean =>
    request.tools.some((one) => one.name === tool && property in objectOf(one.schema.properties));

  if (request.protocol === "responses" && has("exec") && !has("exec_command")) return "codex-code-mode";
  if (has("exec_command")) return "codex";
  if (has("create_file") || takes("Bash", "cmd")) return "amp";
  if (takes("Bash", "command") || takes("Read", "file_path") || takes("Write", "file_path")) return "claude";
  if (has("run_shell_command") || has("read_file")) return request.protocol === "gemini" ? "gemini" : "qwen";
  if (has("view", "create") || has("report_intent")) return "copilot";
  if (has("bash") || takes("read", "filePath") || has("todowrite")) return "opencode";
  return byUserAgent(userAgent);
}

function byUserAgent(userAgent: string): ToolProfile | undefined {
  const known: readonly [RegExp, ToolProfile][] = [
    [/claude-cli|claude-code/i, "claude"],
    [/codex/i, "codex"],
    [/opencode/i, "opencode"],
    [/qwen/i, "qwen"],
    [/gemini/i, "gemini"],
    [/copilot/i, "copilot"],
    [/\bamp\b/i, "amp"],
  ];
  return known.find(([pattern]) => pattern.test(userAgent))?.[1];
}
