// Faults in the canonical words. Agents say them as HTTP numbers, JSON-RPC codes, vendor data or plain text; the most exact one decides.
import type { ErrorCode, ErrorData, StopReason } from "../../../schema/event-data.ts";
import { isRecord, num, rec, str } from "../../json.ts";
import {
  errorData,
  type FaultRows,
  type Fault as KnownFault,
  faultOf as known,
  ofAgent,
  ofProvider,
  providerBody,
} from "../../kit/error-table.ts";
import type { RpcError } from "./rpc.ts";

/** `stop` is how the turn ended; `error` is null when the fault is no more than that end. */
export type Fault = { error: ErrorData | null; stop: StopReason; refusal?: string };

/** A provider's refusal that an agent passes on as an error. */
const REFUSED = /content[_ ]filter|usage policy|safeguards flagged/i;

const ROWS: FaultRows = {
  names: {
    // qwen 0.24: the agent, not the provider, ended a turn that went in circles.
    loop_detected: ofAgent("max_turns"),
    MessageAbortedError: ofAgent("aborted"),
    "-32000": ofProvider("provider_auth"),
    "-32800": ofAgent("aborted"),
  },
  texts: [
    [/loop.?detected|max(?:imum)? (?:session )?turns/i, ofAgent("max_turns")],
    // What was given up because nobody answered in time was interrupted by nobody.
    [/^(?!.*time(?:d )?out).*\b(?:abort|cancel)(?:ed|led)\b/is, ofAgent("aborted")],
  ],
};

export function faultOf(error: RpcError): Fault {
  const said = detailOf(error);
  const message = said.message || error.message || "The agent failed without saying why.";
  if (REFUSED.test(message)) return { error: null, stop: "refusal", refusal: message };
  const fault = meaningOf(error, message, said.names);
  if (fault.code === "aborted") return { error: null, stop: "interrupted" };
  const agents = typeof error.code === "number" && PROTOCOL.has(error.code);
  const told = errorData(message, agents ? { ...fault, source: "agent" } : fault, nativeCode(error));
  return { error: told, stop: STOPS[fault.code] ?? "error" };
}

/** Opening a session failed: the provider had no part in it, unless it is about the sign-in. */
export function openingFault(error: RpcError): ErrorData {
  const fault = faultOf(error).error;
  if (fault?.code === "provider_auth") return fault;
  const message = fault?.message ?? error.message;
  return errorData(message, ofAgent("execution_error"), error.code);
}

/** A fault said only as text. */
export const faultOfText = (text: string): Fault => faultOf({ code: null, message: text.trim(), data: undefined });

const STOPS: Partial<Record<ErrorCode, StopReason>> = {
  output_length: "output_length",
  max_turns: "max_turns",
  max_budget: "max_budget",
};

/** "Internal error" says nothing; the reason is in the data. codex and gemini pass the provider's JSON body on. */
function detailOf(error: RpcError): { message: string; names: string[] } {
  const text = errorText(error);
  return providerBody(text) ?? { message: text, names: [] };
}

/** Where the reason is: the data itself (the protocol's Rust library), or `message` (zed), `details` (qwen), `error` in it. */
export function reasonIn(data: unknown): string | undefined {
  const { message, details, error } = rec(data);
  return str(data) ?? str(message) ?? str(details) ?? str(error) ?? str(rec(error).message);
}

function errorText({ message, data }: RpcError): string {
  const said = message.replace(/^Internal error(?:: |$)/, "");
  const reason = reasonIn(data) ?? "";
  if (reason === "" || said.includes(reason)) return said || message;
  // A sentence of the protocol for its code explains nothing, but a short word in the data ("prompt") explains nothing without it.
  return said === "" || isRecord(data) ? reason : `${said}: ${reason}`;
}

function meaningOf(error: RpcError, text: string, said: readonly string[]): KnownFault {
  const data = rec(error.data);
  const [codexName, codexStatus] = codexInfo(data.codex_error_info);
  const code = error.code === null ? Number.NaN : Number(error.code);
  // gemini 0.61 passes HTTP numbers on as JSON-RPC codes.
  const status = codexStatus ?? (code >= 400 && code < 600 ? code : undefined);
  // -32603 wraps whatever the provider said.
  const rest = error.code === null || code === -32603 ? ofProvider("api_error", true) : ofAgent("execution_error");
  const number = error.code === null ? undefined : String(error.code);
  const names = [str(data.errorKind), str(data.errorName), codexName, number, ...said];
  return known({ names, status, text }, ROWS) ?? rest;
}

/** Its name, or the HTTP status in it. */
function codexInfo(info: unknown): [string | undefined, number | undefined] {
  if (!isRecord(info)) return [str(info), undefined];
  const [name, detail] = Object.entries(info)[0] ?? [];
  return [name, num(rec(detail).http_status_code) ?? num(rec(detail).httpStatusCode)];
}

const PROTOCOL = new Set([-32700, -32600, -32601, -32602, -32002]);

function nativeCode(error: RpcError): string | number | null {
  const data = rec(error.data);
  return str(data.errorKind) ?? str(data.errorName) ?? error.code;
}
