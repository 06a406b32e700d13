// Stands in for an agent that is not there any more: a session of it can still be read, ended and removed, but not driven.
import { type Agent, AgentError } from "../agents/contract.ts";

export function missingAgent(id: string): Agent {
  const message = `The agent ${JSON.stringify(id)} is not configured any more. Add it to the configuration again, or read, export or remove the session.`;
  const nothing = { model: false, variant: false, agent_mode: false, permission_mode: false };
  return {
    id,
    name: id,
    npmPackage: null,
    capabilities: {
      permissions: false,
      edit_input: false,
      questions: false,
      steer: false,
      interrupt: false,
      // Its sessions stay dormant rather than end: the agent may come back.
      resume: true,
      fork: false,
      images: false,
      mcp_servers: false,
      system_prompt: false,
      deltas: false,
      reasoning: false,
      plans: false,
      subagents: false,
      settings: { model: true, variant: true, agent_mode: true },
      live: nothing,
      permission_modes: [],
    },
    createTranslator: () => ({
      translate: ({ dir }) => [{ session: null, type: dir, disposition: "unparsed", drafts: [], error: message }],
    }),
    inspect: async () => ({ installed: false, path: null, version: null, signed_in: null, advice: message }),
    connect: async () => {
      throw new AgentError("agent_not_found", message);
    },
  };
}

export const missingHost = {
  settings: {},
  stateDir: "",
  processDir: "",
  version: "",
  resolveCommand: async () => {
    throw new AgentError("agent_not_found", "The agent is not configured.");
  },
  environment: () => ({}),
  openChannel: () => {
    throw new AgentError("agent_not_found", "The agent is not configured.");
  },
  log: () => {},
};
