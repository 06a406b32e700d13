/**
 * The one table of faults: HTTP statuses, names that providers and agents give their errors, and words of their messages, each with its canonical code. An agent
 * adds rows for what only it says; its rows count first. Pure. Not here: which native field holds what, which each agent reads itself.
 */
import type { Draft } from "../../schema/draft.ts";
import type { ErrorCode, ErrorData, ErrorDetails } from "../../schema/event-data.ts";
import { isRecord, own, rec, str } from "../json.ts";

/** What a fault means: its code, whose fault it is, and whether the same again may work. */
export type Fault = { readonly code: ErrorCode; readonly source: ErrorDetails["error_source"]; readonly retryable: boolean };

/** Native names and words of messages that only one agent uses. */
export type FaultRows = {
  readonly names?: Readonly<Record<string, Fault>>;
  readonly texts?: readonly (readonly [RegExp, Fault])[];
};

/** What an agent reported about a fault. */
export type ToldFault = {
  readonly status?: number | undefined;
  /** Its names, the most exact one first. */
  readonly names?: readonly (string | undefined)[];
  readonly text?: string;
};

const fault = (code: ErrorCode, source: Fault["source"], retryable: boolean): Fault => ({ code, source, retryable });
export const ofProvider = (code: ErrorCode, retryable = false): Fault => fault(code, "provider", retryable);
export const ofAgent = (code: ErrorCode): Fault => fault(code, "agent", false);
/** What never reached the provider, or broke on the way. */
export const ON_THE_WAY = fault("api_error", "transport", true);
export const NOT_KNOWN = ofAgent("unknown");

/** Unpaid: nothing helps but paying. */
const UNPAID = ofProvider("api_error");
/** Says that the request was refused, and not why: the words may. */
const REFUSED = ofProvider("api_error");

const STATUSES: Readonly<Record<number, Fault>> = {
  401: ofProvider("provider_auth"),
  402: UNPAID,
  403: ofProvider("provider_auth"),
  408: ofProvider("api_error", true),
  409: ofProvider("api_error", true),
  413: ofProvider("context_overflow"),
  429: ofProvider("rate_limit", true),
};

/** In one spelling, see `spelled`. */
const NAMES: Readonly<Record<string, Fault>> = {
  authentication: ofProvider("provider_auth"),
  authenticationfailed: ofProvider("provider_auth"),
  providerauth: ofProvider("provider_auth"),
  oauthorgnotallowed: ofProvider("provider_auth"),
  permission: ofProvider("provider_auth"),
  unauthorized: ofProvider("provider_auth"),
  contextlengthexceeded: ofProvider("context_overflow"),
  contextoverflow: ofProvider("context_overflow"),
  contextwindowexceeded: ofProvider("context_overflow"),
  prompttoolong: ofProvider("context_overflow"),
  requesttoolarge: ofProvider("context_overflow"),
  maxoutputtokens: ofProvider("output_length"),
  messageoutputlength: ofProvider("output_length"),
  ratelimit: ofProvider("rate_limit", true),
  ratelimitexceeded: ofProvider("rate_limit", true),
  // The allowance of a subscription: it comes back after hours or days.
  usagelimitexceeded: ofProvider("rate_limit"),
  usagelimitreached: ofProvider("rate_limit"),
  billing: UNPAID,
  insufficientquota: UNPAID,
  internalserver: ofProvider("api_error", true),
  overloaded: ofProvider("api_error", true),
  server: ofProvider("api_error", true),
  serveroverloaded: ofProvider("api_error", true),
  badrequest: REFUSED,
  contentfilter: ofProvider("api_error"),
  invalidrequest: REFUSED,
  modelnotfound: ofProvider("api_error"),
};

/** First match wins. */
const TEXTS: readonly (readonly [RegExp, Fault])[] = [
  [
    /context[_ ](?:window|length|limit)|prompt (?:is|as) too long|input token count.*exceeds|maximum context|too many tokens|\b413\b|payload too large/i,
    ofProvider("context_overflow"),
  ],
  [/output token maximum|max_output_tokens|max(?:imum)? output tokens|finish_reason.*length/i, ofProvider("output_length")],
  [/\b402\b|out of credits|insufficient[_ ](?:balance|credit|funds|quota)|credit balance/i, UNPAID],
  [/\b429\b|rate.?limit|too many requests|quota|slow down/i, ofProvider("rate_limit", true)],
  [
    /\b40[13]\b|unauthori[sz]ed|forbidden|api key|authenticat|credential|log(?:ged)? ?in\b|missing environment variable/i,
    ofProvider("provider_auth"),
  ],
  [
    /stream (?:disconnected|ended without)|connection (?:error|failed|refused|reset|closed|lost)|error sending request|timed? ?out|network error|\bE(?:CONNREFUSED|CONNRESET|NOTFOUND)\b|fetch failed|socket hang up/i,
    ON_THE_WAY,
  ],
  [/\bmodel\b.*\b(?:not found|does not exist)|no such model|model_not_found/i, ofProvider("api_error")],
];

/** `context_window_exceeded`, `contextWindowExceeded` and `ContextWindowExceededError` are one name. */
const spelled = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9]/g, "")
    .toLowerCase()
    .replace(/error$/, "");

const byName = (name: string | undefined, rows: FaultRows): Fault | undefined =>
  name === undefined ? undefined : ((rows.names && own(rows.names, name)) ?? own(NAMES, spelled(name)));

export const byStatus = (status: number): Fault => own(STATUSES, String(status)) ?? ofProvider("api_error", status >= 500);

const byText = (text: string, { texts = [] }: FaultRows): Fault | undefined =>
  [...texts, ...TEXTS].find(([pattern]) => pattern.test(text))?.[1];

/** What says no more than that the request was refused: a better reason is looked for in the words. */
const isVague = (found: Fault): boolean =>
  found !== UNPAID && found.code === "api_error" && found.source === "provider" && !found.retryable;

/** The most exact thing that was reported decides: a name, then the status, then the words. Undefined: none of it is known. */
export function faultOf(told: ToldFault, rows: FaultRows = {}): Fault | undefined {
  const text = told.text ?? "";
  const named = (told.names ?? []).flatMap((name) => byName(name, rows) ?? []);
  const number = told.status ?? statusIn(text);
  const status = number === undefined ? [] : [byStatus(number)];
  const exact = [...named, ...status].find((each) => !isVague(each));
  return exact ?? byText(text, rows) ?? named[0] ?? status[0];
}

/** Many agents begin the sentence with the HTTP status: `API Error: 400 …`, `404 no such model`, `unexpected status 500 …`. */
function statusIn(text: string): number | undefined {
  const found = /^(?:(?:api )?error:? |unexpected status |http )*([45]\d\d)\b/i.exec(text);
  return found ? Number(found[1]) : undefined;
}

export const errorData = (
  message: string,
  { code, source, retryable }: Fault,
  native_code: string | number | null,
  more: Partial<ErrorDetails> = {},
): ErrorData => ({ message, code, details: { error_source: source, native_code, retryable, ...more } });

/** The sentence in the JSON body of a provider's answer, which many agents pass on as it is, and its own names for the fault. Undefined: it is no such body. */
export function providerBody(text: string): { message: string; names: string[] } | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    const body: unknown = JSON.parse(text);
    if (!isRecord(body)) return undefined;
    const error = rec(body.error);
    const message = str(body.error) ?? str(error.message) ?? str(body.message);
    const names = [error.code, error.type, error.status].flatMap((name) => (typeof name === "string" ? [name] : []));
    return message === undefined ? undefined : { message, names };
  } catch {
    return undefined;
  }
}

export const providerMessage = (text: string): string | undefined => providerBody(text)?.message;

/** Somebody must sign in; `url`: there. */
export const authRequired = (message: string, url?: string): Draft => ({
  do: "event",
  type: "auth.status",
  data: { status: "required", message, ...(url === undefined ? {} : { url }) },
});

/**
 * Somebody deleted the agent's conversation while we have it. Comes after the turn that it cut: no message of a person did it, and none will be answered any more.
 */
export const conversationDeleted = (agent: string, nativeCode: string): Draft => ({
  do: "error",
  error: errorData(
    `The conversation was deleted in ${agent}. What was said stays here, but ${agent} does not know it any more. Create a new session to go on.`,
    ofAgent("execution_error"),
    nativeCode,
  ),
});
