// The mock agent: scripted, for demos and tests. It is driven exactly as a real one: a child process, a connection, a translator.
import type { Agent } from "../contract.ts";
import { findFiles } from "../directory-files.ts";
import { settingsEffects } from "../file-effects.ts";
import { capabilities } from "../kit/capabilities.ts";
import { connectMock, PROGRAM } from "./connect/connection.ts";
import { createMockTranslator } from "./translate/translator.ts";

export const mockAgent: Agent = {
  id: "mock",
  name: "Mock agent",
  npmPackage: null,
  capabilities: capabilities({ edit_input: true, mcp_servers: false, system_prompt: false }),
  createTranslator: createMockTranslator,
  inspectStarts: false,
  inspect: async (host) => ({ installed: true, path: PROGRAM, version: host.version, signed_in: null, advice: null }),
  models: async () => [
    { id: "mock-1", name: "Mock 1", is_default: true, variants: ["low", "high"] },
    { id: "mock-2", name: "Mock 2" },
  ],
  modes: async () => [
    { id: "build", name: "Build" },
    { id: "ask", name: "Ask" },
  ],
  directoryFiles: (directory) => findFiles(directory, [{ path: ".mock/settings.json", read: settingsEffects }]),
  connect: connectMock,
};
