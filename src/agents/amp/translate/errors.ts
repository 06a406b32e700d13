// What the `error` of an Amp result means: a sentence, never a code, so it is distinguished by its words (as the builds of January, May and September say them).
import type { ErrorData } from "../../../schema/event-data.ts";
import { errorData, type Fault, faultOf, ON_THE_WAY, ofAgent, ofProvider, providerBody } from "../../kit/error-table.ts";

export type ResultError =
  /** Somebody sent a signal: not a fault. */
  | { kind: "cancelled" }
  /** A tool would have asked, and Amp cannot ask on this wire. `tools` may be empty. */
  | { kind: "approval"; tools: string[] }
  | { kind: "fault"; error: ErrorData };

const APPROVAL = /requires? user approval, which is not supported in stream JSON mode(?:: (.*))?$/s;
/** `429 {"type":"error",…}`: the provider's answer as its client library words it. */
const STATUS = /^(\d{3})(?:\s+([\s\S]*))?$/;

/** The titles of Amp's own error dialogs, which begin the sentence, with the name that stands for each. First match wins. */
const TITLES: readonly (readonly [RegExp, string, Fault])[] = [
  [/^Unauthorized\b|invalid or missing api key|not logged in|login required/i, "unauthorized", ofProvider("provider_auth")],
  [/context limit reached|context (?:window|length)/i, "context_limit", ofProvider("context_overflow")],
  [/^Model Provider Overloaded|\boverloaded/i, "overloaded", ofProvider("api_error", true)],
  [/^Model Stream Timed Out/i, "stream_timeout", ofProvider("api_error", true)],
  [/^Network Error|terminated$/i, "network", ON_THE_WAY],
  [/^Out of Credits|insufficient (?:balance|credit|funds)/i, "out_of_credits", ofProvider("api_error")],
  [/^Usage Quota Exceeded|^Rate Limit|rate.?limit|too many requests/i, "rate_limit", ofProvider("rate_limit", true)],
  [/^Turn Limit Reached/i, "turn_limit", ofProvider("max_turns")],
  [/^Image Too Large/i, "image_too_large", ofProvider("api_error")],
  [/^(?:Agent )?Mode Disabled/i, "mode_disabled", ofAgent("execution_error")],
  [/^Invalid (?:JSON|message format) on stdin|^No valid messages found in stdin/i, "invalid_input", ofAgent("execution_error")],
  // A stream that is not JSON: the parser's own words come through.
  [/\bin JSON at position|JSON Parse error|Unexpected (?:token|end of JSON)/i, "bad_stream", ofProvider("api_error", true)],
];

export function readResultError(text: string): ResultError {
  if (/^User cancelled\b/i.test(text)) return { kind: "cancelled" };
  const approval = APPROVAL.exec(text);
  if (approval) return { kind: "approval", tools: (approval[1] ?? "").split(",").flatMap((name) => name.trim() || []) };
  return { kind: "fault", error: faultError(text) };
}

function faultError(text: string): ErrorData {
  const [, status, rest = ""] = STATUS.exec(text) ?? [];
  if (status !== undefined) {
    const { message, names } = providerBody(rest) ?? { message: text, names: [] };
    const fault = faultOf({ names, status: Number(status), text: rest }) ?? ofProvider("api_error");
    return errorData(message, fault, Number(status));
  }
  const [, name, titled] = TITLES.find(([says]) => says.test(text)) ?? [];
  const fault = titled ?? faultOf({ text });
  const native = name ?? (fault === ON_THE_WAY ? "network" : null);
  return errorData(text || "Amp failed without saying why.", fault ?? ofAgent("execution_error"), native);
}
