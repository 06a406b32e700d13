/** The scripted agents: how dragoman is told to start each, how the bare pipe is, and what each says when a turn ends. */
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const node = process.execPath;
const MOCK = here("../dist/agents/mock/program.js");
export const ACP_AGENT = here("./acp-agent.mjs");
const CODEX = here("./agents/codex-server.mjs");
const OPENCODE = here("./agents/opencode-server.mjs");

/** `agents` of the daemon's configuration file. `restricted`: it loads nothing of a directory, however it is started. */
export const configured = {
  acp: { "bench-acp": { command: node, args: [ACP_AGENT], restricted: {} } },
  codex: { command: node, args: [CODEX] },
  opencode: { command: node, args: [OPENCODE] },
};

/** `start`: for the bare pipe. `prompt`: what it writes to the agent for a text. `ends`: what the agent says then, once, at the end of a turn. */
export const agents = {
  mock: {
    id: "mock",
    start: { command: node, args: [MOCK] },
    prompt: (text) => JSON.stringify({ type: "prompt", id: "1", text, attachments: [] }),
    ends: '{"type":"done"',
  },
  acp: {
    id: "bench-acp",
    start: { command: node, args: [ACP_AGENT] },
    prompt: (text) => {
      const params = { sessionId: randomUUID(), prompt: [{ type: "text", text }] };
      return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "session/prompt", params });
    },
    ends: '"stopReason"',
  },
  codex: {
    id: "codex",
    start: { command: node, args: [CODEX] },
    prompt: (text) =>
      JSON.stringify({ id: 1, method: "turn/start", params: { threadId: randomUUID(), input: [{ type: "text", text }] } }),
    ends: '"method":"turn/completed"',
  },
  opencode: {
    id: "opencode",
    start: { command: node, args: [OPENCODE, "--port", "0"], sse: "/global/event" },
    prompt: (text) =>
      JSON.stringify({ path: `/session/ses_${randomUUID()}/prompt_async`, body: { parts: [{ type: "text", text }] } }),
    ends: '"type":"session.idle"',
  },
};
