/** Every built-in agent keeps the contract. Those that run real programs are also proved by `npm run conformance`. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { acpAgents, configuredAcpAgent } from "./acp/agent.ts";
import { testAgent } from "./acp/connect/test-agent.ts";
import { agentContract } from "./agent.suite.ts";
import { ampAgent } from "./amp/agent.ts";
import { ampProgram } from "./amp/connect/test-program.ts";
import { claudeAgent } from "./claude/agent.ts";
import { claudeProgram } from "./claude/connect/test-program.ts";
import { claudeSdkAgent } from "./claude-sdk/agent.ts";
import { sdkPackage } from "./claude-sdk/connect/test-sdk.ts";
import { codexAgent } from "./codex/agent.ts";
import { mockAgent } from "./mock/agent.ts";
import { opencodeAgent } from "./opencode/agent.ts";
import { responsesAgent } from "./responses/agent.ts";
import { startModel } from "./responses/connect/test-model.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

function script(directory: string, name: string, text: string): { command: string } {
  const command = join(directory, name);
  writeFileSync(command, text, { mode: 0o755 });
  return { command };
}

const flood = (count: number): string => `flood ${count}`;

agentContract("mock", {
  agent: mockAgent,
  settings: () => ({}),
  prompts: { answer: "say Hello.", hang: "slow 1000000 one two", garbage: "garbage", flood, ask: "ask make" },
});

agentContract("claude", {
  agent: claudeAgent,
  settings: (directory) => script(directory, "claude.cjs", claudeProgram),
  prompts: { answer: "hello", hang: "hang", garbage: "garbage", flood, ask: "ask" },
});

agentContract("claude-sdk", {
  agent: claudeSdkAgent,
  settings: sdkPackage,
  // The SDK reads the CLI's lines: what is none never reaches us.
  prompts: { answer: "hello", hang: "hang", garbage: null, flood, ask: "ask" },
});

agentContract("codex", {
  agent: codexAgent,
  settings: (directory) => ({
    command: process.execPath,
    args: [here("./codex/connect/fake-app-server.mjs")],
    home: directory,
  }),
  prompts: { answer: "hello", hang: "slow", garbage: "garbage", flood, ask: "ask" },
});

agentContract("acp", {
  agent: configuredAcpAgent("acp-test", { restricted: {} }),
  settings: testAgent,
  prompts: { answer: "hello", hang: "work", garbage: "garbage", flood, ask: "ask" },
});

for (const agent of acpAgents.filter(({ id }) => id === "gemini" || id === "qwen"))
  agentContract(agent.id, {
    agent,
    settings: testAgent,
    prompts: { answer: "hello", hang: "work", garbage: "garbage", flood, ask: "ask" },
  });

let model: Awaited<ReturnType<typeof startModel>> | null = null;

agentContract("responses", {
  agent: responsesAgent,
  process: "none",
  settings: async () => {
    model ??= await startModel();
    return { endpoint: model.baseUrl, model: "m", retries: 0 };
  },
  close: async () => {
    await model?.close();
    model = null;
  },
  prompts: { answer: "hello", hang: "hang", garbage: "garbage", flood, ask: "ask" },
});

agentContract("opencode", {
  agent: opencodeAgent,
  settings: () => ({ command: process.execPath, args: [here("./opencode/connect/test-server.mjs")], linger_ms: 0 }),
  prompts: { answer: "hello", hang: "hang", garbage: null, flood, ask: "ask" },
});

agentContract("amp", {
  agent: ampAgent,
  settings: (directory) => script(directory, "amp.cjs", ampProgram),
  permissionMode: "bypass",
  process: "one_turn",
  prompts: { answer: "hello", hang: "hang", garbage: "garbage", flood: null, ask: null },
});
