/**
 * Where the model is, and with which key it is asked. Addresses may come with a session; keys never do: they come from the daemon's environment or from a file that
 * only its owner can read, and each goes to the endpoint it belongs to and to no other. So nobody who may start a session can have a key sent elsewhere.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type EndpointFacts, type EndpointProfile, profileById, profileOf } from "../../../openresponses/profiles.ts";
import { AgentError, type AgentHost, type SessionConfig } from "../../contract.ts";
import { isRecord, num, str } from "../../json.ts";
import { configuredFacts } from "./configured-facts.ts";

export const ENDPOINT_VARIABLE = "RESPONSES_ENDPOINT";
export const MODEL_VARIABLE = "RESPONSES_MODEL";
export const KEY_VARIABLE = "RESPONSES_API_KEY";
export const KEYS_FILE = "keys.json";
/** Where Ollama listens: what most people have who have configured nothing. */
const DEFAULT_ENDPOINT = "http://127.0.0.1:11434/v1";

export type Endpoint = {
  baseUrl: string;
  apiKey: string | null;
  facts: EndpointFacts;
  profile: EndpointProfile;
  /** What the person configured; null: the first one the endpoint lists. */
  model: string | null;
};

type Asked = Pick<SessionConfig, "env" | "model">;
/** What is needed of the daemon. */
export type EndpointHost = Pick<AgentHost, "environment" | "settings" | "stateDir">;

export async function endpointOf(host: EndpointHost, asked: Asked): Promise<Endpoint> {
  const environment = host.environment({});
  const configured = str(host.settings.endpoint) ?? environment[ENDPOINT_VARIABLE] ?? null;
  const baseUrl = checkedUrl(asked.env[ENDPOINT_VARIABLE] ?? configured ?? defaultEndpoint(environment));
  const isConfigured = asked.env[ENDPOINT_VARIABLE] === undefined || (configured !== null && checkedUrl(configured) === baseUrl);
  const profile = profileById(str(host.settings.profile) ?? "") ?? profileOf(baseUrl);
  return {
    baseUrl,
    profile,
    // What is configured of an endpoint holds for that one.
    facts: { ...profile.facts, ...(isConfigured ? configuredFacts(host.settings.facts) : {}), ...settingsAsFacts(host) },
    apiKey: await keyFor(baseUrl, profile, configured, environment, host),
    model: asked.model ?? str(host.settings.model) ?? environment[MODEL_VARIABLE] ?? null,
  };
}

const settingsAsFacts = ({ settings }: EndpointHost): Partial<EndpointFacts> => {
  const contextWindow = num(settings.context_window);
  return {
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(settings.websocket === true ? { websocket: true } : {}),
  };
};

const defaultEndpoint = (environment: Record<string, string>): string => {
  const openai = profileById("openai");
  return openai?.baseUrl && environment.OPENAI_API_KEY ? openai.baseUrl : DEFAULT_ENDPOINT;
};

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new AgentError(
      "agent_refused",
      `${JSON.stringify(text)} is no endpoint: write its base URL, such as ${DEFAULT_ENDPOINT}.`,
    );
  if (url.username !== "" || url.password !== "")
    throw new AgentError(
      "agent_refused",
      `Put no password into the address of an endpoint: use ${KEY_VARIABLE} or ${KEYS_FILE}.`,
    );
  return url.href.replace(/\/+$/, "");
}

async function keyFor(
  baseUrl: string,
  profile: EndpointProfile,
  configured: string | null,
  environment: Record<string, string>,
  host: EndpointHost,
): Promise<string | null> {
  const { origin } = new URL(baseUrl);
  const fromFile = (await keysOf(host)).get(origin);
  if (fromFile !== undefined) return fromFile;
  const own = environment[KEY_VARIABLE];
  if (own && configured !== null && URL.canParse(configured) && new URL(configured).origin === origin) return own;
  const known = profile.keyVariable !== null && profile.baseUrl !== null && new URL(profile.baseUrl).origin === origin;
  return known ? (environment[profile.keyVariable ?? ""] ?? null) : null;
}

/** `{"https://host": "key"}`. A file that others can read is refused, not used. */
async function keysOf(host: EndpointHost): Promise<Map<string, string>> {
  const path = str(host.settings.keys_file) ?? join(host.stateDir, KEYS_FILE);
  const info = await stat(path).catch(() => null);
  if (info === null) return new Map();
  if ((info.mode & 0o077) !== 0)
    throw new AgentError("agent_refused", `${path} holds keys and can be read by others: run \`chmod 600 ${path}\`.`);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch {
    throw new AgentError("agent_refused", `${path} is no JSON object of endpoints and keys, such as {"https://host": "key"}.`);
  }
  const pairs = isRecord(value) ? Object.entries(value) : [];
  return new Map(
    pairs.flatMap(([url, key]) => (URL.canParse(url) && typeof key === "string" ? [[new URL(url).origin, key]] : [])),
  );
}
