/**
 * What is known of the endpoints people use, as one table of facts. The loop asks the facts, never the name. An unknown endpoint is `generic`, which assumes the
 * least; `probe.ts` finds its facts out.
 */

/** How the model's earlier reasoning goes back to it. */
export type ReasoningRoundTrip =
  /** Encrypted, asked for with `include`. */
  | "encrypted"
  /** As the items came. */
  | "items"
  /** The endpoint refuses or ignores reasoning items: they are left out. */
  | "none";

/** Facts about an endpoint. */
export interface EndpointFacts {
  readonly reasoning: ReasoningRoundTrip;
  /** Tools with free-text input (`custom`). */
  readonly customTools: boolean;
  /** `POST /responses/compact`. */
  readonly compact: boolean;
  /** The WebSocket transport. */
  readonly websocket: boolean;
  /** `tool_choice` is obeyed, `allowed_tools` included. */
  readonly toolChoice: boolean;
  /** A tool's result may contain images. */
  readonly imagesInToolResults: boolean;
  /** The server remembers responses (`store`, `previous_response_id`). */
  readonly stored: boolean;
  /** Events carry `sequence_number`. */
  readonly sequenceNumbers: boolean;
  /** The stream ends in `[DONE]`. */
  readonly doneMark: boolean;
  /** Takes `prompt_cache_key`. */
  readonly promptCacheKey: boolean;
  /** Tokens the model takes, where the endpoint has one figure for all models. */
  readonly contextWindow: number | null;
}

/** One row of the table. */
export interface EndpointProfile {
  readonly id: string;
  /** As people call it. */
  readonly title: string;
  /** Where it listens unless configured otherwise; null when there is no such place. */
  readonly baseUrl: string | null;
  /** The environment variable that usually holds its key. */
  readonly keyVariable: string | null;
  readonly facts: EndpointFacts;
}

const LEAST: EndpointFacts = {
  reasoning: "none",
  customTools: false,
  compact: false,
  websocket: false,
  toolChoice: false,
  imagesInToolResults: false,
  stored: false,
  sequenceNumbers: true,
  doneMark: true,
  promptCacheKey: false,
  contextWindow: null,
};

const local = (id: string, title: string, port: number, facts: Partial<EndpointFacts>): EndpointProfile => ({
  id,
  title,
  baseUrl: `http://127.0.0.1:${port}/v1`,
  keyVariable: null,
  facts: { ...LEAST, ...facts },
});

/** The table. */
export const PROFILES: readonly EndpointProfile[] = [
  { id: "generic", title: "Any Open Responses endpoint", baseUrl: null, keyVariable: null, facts: LEAST },
  {
    id: "openai",
    title: "OpenAI",
    baseUrl: "https://api.openai.com/v1",
    keyVariable: "OPENAI_API_KEY",
    facts: {
      ...LEAST,
      reasoning: "encrypted",
      customTools: true,
      compact: true,
      websocket: true,
      toolChoice: true,
      imagesInToolResults: true,
      stored: true,
      doneMark: false,
      promptCacheKey: true,
    },
  },
  {
    id: "openrouter",
    title: "OpenRouter",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
    facts: { ...LEAST, reasoning: "encrypted", toolChoice: true, imagesInToolResults: true },
  },
  {
    id: "huggingface",
    title: "Hugging Face",
    baseUrl: "https://router.huggingface.co/v1",
    keyVariable: "HF_TOKEN",
    facts: { ...LEAST, toolChoice: true },
  },
  // ollama: previous_response_id, include and tool_choice are ignored; reasoning comes as summary events.
  local("ollama", "Ollama", 11434, { doneMark: false }),
  // llama.cpp: made from chat completions; no sequence numbers, no [DONE], previous_response_id is an error.
  local("llamacpp", "llama.cpp", 8080, { sequenceNumbers: false, doneMark: false }),
  // vLLM: the store is off unless switched on; reasoning items are understood.
  local("vllm", "vLLM", 8000, { reasoning: "items", toolChoice: true, doneMark: false }),
  local("lmstudio", "LM Studio", 1234, { stored: true }),
  {
    id: "scripted",
    title: "dragoman model-server",
    baseUrl: null,
    keyVariable: null,
    facts: { ...LEAST, reasoning: "encrypted" },
  },
];

/** The profile of this id; undefined when there is none. */
export const profileById = (id: string): EndpointProfile | undefined => PROFILES.find((profile) => profile.id === id);

/** The profile of an address: by host, and for loopback by port. */
export function profileOf(baseUrl: string): EndpointProfile {
  const generic = PROFILES[0] as EndpointProfile;
  if (!URL.canParse(baseUrl)) return generic;
  const asked = new URL(baseUrl);
  const found = PROFILES.find((profile) => {
    if (profile.baseUrl === null) return false;
    const known = new URL(profile.baseUrl);
    if (isLoopback(known.hostname)) return isLoopback(asked.hostname) && known.port === asked.port;
    return known.hostname === asked.hostname;
  });
  return found ?? generic;
}

const isLoopback = (host: string): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(host);
