/** What `dragoman doctor responses` says of an endpoint: it is asked, in small real requests. */
import { type ProbeReport, probe } from "../../../openresponses/probe.ts";
import type { EndpointFacts } from "../../../openresponses/profiles.ts";
import { factsToConfigure } from "./configured-facts.ts";
import { ENDPOINT_VARIABLE, type EndpointHost, endpointOf } from "./endpoint.ts";

/** `note`: nothing is wrong, but something is left to do. */
export type EndpointFinding = { check: string; ok: boolean; note?: boolean; detail: string };

export type ExamineOptions = { endpoint?: string; model?: string; signal?: AbortSignal };

/** Names of the checks whose failure keeps the agent from working; the others are facts. */
const NEEDED: ReadonlySet<string> = new Set(["stream", "tool_call"]);

export async function examineEndpoint(
  host: EndpointHost,
  { endpoint, model, signal }: ExamineOptions,
): Promise<EndpointFinding[]> {
  const env: Record<string, string> = endpoint === undefined ? {} : { [ENDPOINT_VARIABLE]: endpoint };
  const found = await endpointOf(host, { env, model: model ?? null });
  const report = await probe({
    baseUrl: found.baseUrl,
    ...(found.apiKey === null ? {} : { apiKey: found.apiKey }),
    ...(found.model === null ? {} : { model: found.model }),
    ...(signal === undefined ? {} : { signal }),
  });
  const all = findings(found.baseUrl, found.apiKey !== null, report);
  // Half an answer says nothing: then nothing is known better.
  return all.every(({ ok }) => ok) ? [...all, ...advice(report.facts, found.facts)] : all;
}

function advice(found: EndpointFacts, known: EndpointFacts): EndpointFinding[] {
  const facts = factsToConfigure(found, known);
  if (Object.keys(facts).length === 0) return [];
  const command = `dragoman config set agents.responses.facts '${JSON.stringify(facts)}'`;
  return [{ check: "Configuration", ok: true, note: true, detail: `the agent uses what the endpoint can do after: ${command}` }];
}

function findings(baseUrl: string, hasKey: boolean, { profile, checks, deviations, models }: ProbeReport): EndpointFinding[] {
  const key = hasKey ? "with a key" : "without a key";
  const known = models.length === 0 ? "" : `; models: ${models.slice(0, 8).join(", ")}${models.length > 8 ? ", …" : ""}`;
  return [
    { check: "Endpoint", ok: true, detail: `${baseUrl} (${profile.title}), ${key}${known}` },
    ...checks.map(({ name, outcome, detail }) => ({
      check: name,
      ok: outcome === "yes" || (outcome === "no" && !NEEDED.has(name)),
      detail: `${outcome}: ${detail}`,
    })),
    ...deviations.map((text) => ({ check: "Deviation", ok: true, detail: text })),
  ];
}
