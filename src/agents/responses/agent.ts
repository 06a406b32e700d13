/** Our own agent: any model behind an endpoint that speaks Open Responses. It runs in the daemon's process. */
import type { Agent, AgentHost, AgentInspection } from "../contract.ts";
import { AgentError } from "../contract.ts";
import { capabilities } from "../kit/capabilities.ts";
import { connect } from "./connect/connection.ts";
import { responsesFiles, rulesOf } from "./connect/directory.ts";
import { endpointOf } from "./connect/endpoint.ts";
import { listModels } from "./connect/models.ts";
import { isUnfinished, removeData } from "./connect/session-data.ts";
import { forkPlace } from "./translate/fork-place.ts";
import { ResponsesLedger } from "./translate/ledger-frames.ts";
import { ResponsesTranslator } from "./translate/translator.ts";

export const responsesAgent: Agent = {
  id: "responses",
  name: "Open Responses",
  npmPackage: null,
  capabilities: capabilities({ settings: { agent_mode: false }, live: { agent_mode: false } }),
  createTranslator: () => new ResponsesTranslator(),
  createLedgerReader: () => new ResponsesLedger(),
  inspectStarts: false,
  inspect,
  refusal: async (config, host) => {
    try {
      await endpointOf(host, config);
      await rulesOf(host, config.directory, config.trusted);
      return null;
    } catch (error) {
      if (error instanceof AgentError) return error.message;
      throw error;
    }
  },
  models: async (host) => listModels(await endpointOf(host, { env: {}, model: null })),
  directoryFiles: responsesFiles,
  // The catalog of the daemon is its own: it sees what there is.
  skills: {
    project: [".dragoman", ".agents", ".claude", ".github"],
    user: [".dragoman", ".agents", ".claude", ".codex", ".copilot", ".gemini"],
    upwards: true,
    door: null,
    commands: false,
  },
  forkPlace,
  unfinished: (nativeSession, host) => isUnfinished(host, nativeSession),
  forget: removeData,
  connect,
};

/** There is nothing to install: whether the endpoint answers is asked by `dragoman doctor responses` and by the first message. */
async function inspect(host: AgentHost): Promise<AgentInspection> {
  try {
    const { baseUrl, apiKey, profile } = await endpointOf(host, { env: {}, model: null });
    const needsKey = profile.keyVariable !== null && apiKey === null;
    const advice = needsKey ? `Set ${profile.keyVariable} for ${profile.title}, or put its key into keys.json.` : null;
    return { installed: true, path: baseUrl, version: host.version, signed_in: needsKey ? false : null, advice };
  } catch (error) {
    const advice = error instanceof Error ? error.message : String(error);
    return { installed: true, path: null, version: host.version, signed_in: null, advice };
  }
}
