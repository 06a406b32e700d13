/** The models of an endpoint, as it lists them. */
import { ResponsesClient } from "../../../openresponses/client.ts";
import { ResponsesError } from "../../../openresponses/errors.ts";
import { arrayOf, numberOf, objectOf, textOf } from "../../../openresponses/json.ts";
import type { ModelInfo } from "../../../schema/event-data.ts";
import { AgentError } from "../../contract.ts";
import type { Endpoint } from "./endpoint.ts";

const LIST_MS = 10_000;
const MODELS = 500;

/** Throws `AgentError`. An endpoint that does not run is nothing unusual: the page asks all agents for their models. */
export async function listModels({ baseUrl, apiKey }: Endpoint): Promise<ModelInfo[]> {
  const client = new ResponsesClient({ baseUrl, ...(apiKey === null ? {} : { apiKey }) });
  const answer = await client.json("GET", "/models", undefined, AbortSignal.timeout(LIST_MS)).catch((error: unknown) => {
    if (!(error instanceof ResponsesError)) throw error;
    throw new AgentError(error.code === "auth" ? "agent_auth_required" : "agent_failed_to_start", error.message, {
      cause: error,
    });
  });
  const rows = arrayOf(answer.data).length > 0 ? arrayOf(answer.data) : arrayOf(answer.models);
  return rows.slice(0, MODELS).flatMap((row) => {
    const { id, slug, name, context_length, max_model_len } = objectOf(row);
    const found = textOf(id) ?? textOf(slug) ?? textOf(name);
    const context_window = numberOf(context_length) ?? numberOf(max_model_len);
    return found === undefined ? [] : [{ id: found, ...(context_window === undefined ? {} : { context_window }) }];
  });
}

/** The configured one, or the first one the endpoint has. */
export async function chosenModel(endpoint: Endpoint): Promise<string> {
  if (endpoint.model !== null) return endpoint.model;
  const advice = `Name one with --model, RESPONSES_MODEL or agents.responses.model.`;
  const [first] = await listModels(endpoint).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new AgentError("agent_failed_to_start", `No model is chosen, and ${endpoint.baseUrl} lists none: ${why} ${advice}`);
  });
  if (first !== undefined) return first.id;
  throw new AgentError("agent_failed_to_start", `No model is chosen, and ${endpoint.baseUrl} lists none. ${advice}`);
}
