/** Our own agent: any model behind an endpoint that speaks Open Responses. It runs in the daemon's process. */
import type { Agent, AgentHost, AgentInspection } from "../contract.ts";
import { AgentError } from "../contract.ts";
import { capabilities } from "../kit/capabilities.ts";
import { connect } from "./connect/connection.ts";
import { responsesFiles, rulesOf } from "./connect/directory.ts";
import { type Endpoint, endpointOf } from "./connect/endpoint.ts";
import { isListening } from "./connect/listening.ts";
import { listModels } from "./connect/models.ts";
import { carriedJournal, isUnfinished, removeData } from "./connect/session-data.ts";
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
  carry: carriedJournal,
  forget: removeData,
  connect,
};

/** There is nothing to install. An endpoint of this machine is looked for; what it can do is asked by `dragoman doctor responses` and by the first message. */
async function inspect(host: AgentHost): Promise<AgentInspection> {
  try {
    const endpoint = await endpointOf(host, { env: {}, model: null });
    const advice = keyAdvice(endpoint) ?? (await endpointAdvice(endpoint));
    return {
      installed: true,
      path: endpoint.baseUrl,
      version: host.version,
      signed_in: advice === null ? null : false,
      advice,
    };
  } catch (error) {
    const advice = error instanceof Error ? error.message : String(error);
    return { installed: true, path: null, version: host.version, signed_in: null, advice };
  }
}

const keyAdvice = ({ profile, apiKey }: Endpoint): string | null =>
  profile.keyVariable !== null && apiKey === null
    ? `Set ${profile.keyVariable} for ${profile.title}, or put its key into keys.json.`
    : null;

const endpointAdvice = async ({ baseUrl }: Endpoint): Promise<string | null> =>
  (await isListening(baseUrl))
    ? null
    : `Nothing answers at ${baseUrl}. Start a model server there, or name another one: \`dragoman config set agents.responses.endpoint <url>\`.`;
