// Values for `{{name}}` in a scenario. `cwd` is known from the prompt's marker, from the server's own variables, or from what the agent
// informs its model about where it works.

import { cwdMarker } from "../scenario/marker.ts";
import type { ModelRequest } from "./model-request.ts";

const TOLD: readonly RegExp[] = [
  // claude, opencode, amp
  /(?:Primary working directory|Working directory|Current working directory|Working dir|Current directory)(?: is)?:?\s*`?(\/[^\s`<>"]+)/i,
  // codex
  /<cwd>([^<]+)<\/cwd>/,
  // gemini, qwen
  /Workspace Directories:\**\s*-\s*(\/[^\s`<>"]+)/i,
  /(?:current working directory is|currently working in the directory)[:\s]*`?(\/[^\s`<>"]+)/i,
];

export function variablesFor(request: ModelRequest, given: Readonly<Record<string, string>>): Record<string, string> {
  const cwd = marked(request) ?? given.cwd ?? told(request);
  return { ...given, ...(cwd === undefined ? {} : { cwd }) };
}

function marked(request: ModelRequest): string | undefined {
  const entry = request.history.findLast((one) => one.role === "user" && cwdMarker(one.text) !== undefined);
  return entry && cwdMarker(entry.text);
}

function told(request: ModelRequest): string | undefined {
  const texts = [
    request.system,
    ...request.history.flatMap((entry) => (entry.role === "system" || entry.role === "user" ? [entry.text] : [])),
  ];
  for (const text of texts) {
    for (const pattern of TOLD) {
      const found = pattern.exec(text)?.[1];
      if (found) return found;
    }
  }
  return undefined;
}
