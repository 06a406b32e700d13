// Codex errors in canonical words: code, source and whether trying again makes sense.
import type { ErrorData } from "../../../schema/event-data.ts";
import { isRecord, type JsonRecord, num, rec, str } from "../../json.ts";
import {
  byStatus,
  errorData as data,
  type Fault,
  type FaultRows,
  faultOf,
  NOT_KNOWN,
  ON_THE_WAY,
  ofAgent,
  ofProvider,
  providerBody,
} from "../../kit/error-table.ts";

const ROWS: FaultRows = {
  names: {
    sessionBudgetExceeded: ofAgent("max_budget"),
    flexUnavailable: ofProvider("api_error", true),
    policyCapacityUnavailable: ofProvider("api_error", true),
    cyberPolicy: ofProvider("api_error"),
    misalignmentPolicyViolation: ofProvider("api_error"),
    tooManyDenials: ofAgent("execution_error"),
    threadRollbackFailed: ofAgent("execution_error"),
    sandboxError: ofAgent("execution_error"),
  },
};

/** codex 0.166 has one name for an allowance that is used up and for a bill that is not paid. */
const NOT_PAID = /^quota exceeded|billing/i;

function meaningOf(info: unknown, text: string, said: readonly string[]): Fault {
  if (isRecord(info)) {
    const [name, detail] = Object.entries(info)[0] ?? ["other", undefined];
    if (!isRecord(detail) || !("httpStatusCode" in detail)) return faultOf({ names: [name] }, ROWS) ?? NOT_KNOWN;
    const status = num(detail.httpStatusCode);
    return status === undefined ? ON_THE_WAY : byStatus(status);
  }
  const name = str(info);
  if (name === "usageLimitExceeded" && NOT_PAID.test(text)) return ofProvider("api_error");
  // `other` hides the cause in its message (codex 0.166).
  const other = name === undefined || name === "other";
  return faultOf({ names: [name, ...said], text }, ROWS) ?? (other ? ofProvider("api_error") : NOT_KNOWN);
}

const nameOf = (info: unknown): string | null => (isRecord(info) ? (Object.keys(info)[0] ?? null) : (str(info) ?? null));

/** A `TurnError` as the universal error. */
export function errorData(error: unknown): ErrorData {
  const { message, codexErrorInfo, additionalDetails } = rec(error);
  const text = str(message) ?? "Codex reported an error without a message";
  // The message of a request that was refused is the provider's whole answer (codex 0.166).
  const body = providerBody(text);
  const meaning = meaningOf(codexErrorInfo, `${text} ${str(additionalDetails) ?? ""}`, body?.names ?? []);
  return data(body?.message ?? text, meaning, nameOf(codexErrorInfo));
}

/** A turn that failed and does not say why. */
export const withoutReason = (status = "no status"): ErrorData =>
  data(`Codex ended the turn without a reason (${status}).`, NOT_KNOWN, null);

/** The process is gone, and the turn with it. `again`: the message can be sent again. */
export const processLost = (message: string, again: boolean): ErrorData =>
  data(message, { ...ofAgent("execution_error"), retryable: again }, null);

/** A JSON-RPC error answer to a request that should have started a turn. */
export function rpcErrorData(error: JsonRecord): ErrorData {
  const message = str(error.message) ?? "Codex refused the request";
  const info = rec(error.data).codexErrorInfo;
  const told = info === undefined || info === null ? undefined : meaningOf(info, message, []);
  const meaning = told === undefined || told === NOT_KNOWN ? ofAgent("execution_error") : told;
  return data(message, meaning, nameOf(info) ?? num(error.code) ?? null);
}

/** "Reconnecting... 1/2" → 1. */
export function retryAttempt(message: string): number | undefined {
  const found = /(\d+)\/\d+/.exec(message);
  return found?.[1] === undefined ? undefined : Number(found[1]);
}
