/**
 * What a person has configured about the endpoint, in place of what the table of profiles says: `facts` of the configuration, as `dragoman doctor responses` writes it
 * for an endpoint that nobody knows.
 */
import type { EndpointFacts, ReasoningRoundTrip } from "../../../openresponses/profiles.ts";
import { AgentError } from "../../contract.ts";
import { isRecord, own } from "../../json.ts";

type Configurable = "reasoning" | "customTools" | "compact" | "toolChoice" | "imagesInToolResults" | "promptCacheKey";

/** Names in the configuration. */
const NAMES: Readonly<Record<string, Configurable>> = {
  reasoning: "reasoning",
  custom_tools: "customTools",
  compact: "compact",
  tool_choice: "toolChoice",
  images_in_tool_results: "imagesInToolResults",
  prompt_cache_key: "promptCacheKey",
};
const REASONING: readonly ReasoningRoundTrip[] = ["encrypted", "items", "none"];

/** Throws with a sentence for what is no fact. */
export function configuredFacts(setting: unknown): Partial<EndpointFacts> {
  if (setting === undefined) return {};
  if (!isRecord(setting)) throw wrong("must be an object");
  return Object.fromEntries(
    Object.entries(setting).map(([name, value]) => {
      const fact = own(NAMES, name);
      if (fact === undefined) throw wrong(`has no ${JSON.stringify(name)}: there are ${Object.keys(NAMES).join(", ")}`);
      const fits = fact === "reasoning" ? REASONING.some((each) => each === value) : typeof value === "boolean";
      if (!fits) throw wrong(`.${name} must be ${fact === "reasoning" ? REASONING.join(", ") : "true or false"}`);
      return [fact, value];
    }),
  );
}

/** What of these facts would have to be configured, because it is not known. */
export function factsToConfigure(found: EndpointFacts, known: EndpointFacts): Record<string, unknown> {
  const different = Object.entries(NAMES).filter(([, fact]) => found[fact] !== known[fact]);
  return Object.fromEntries(different.map(([name, fact]) => [name, found[fact]]));
}

const wrong = (what: string): AgentError =>
  new AgentError("agent_refused", `The setting agents.responses.facts ${what}`.replace("facts .", "facts."));
