/** The one connection to the daemon, with the page's token. Every request is remembered so that it can be copied as curl; its headers are not. */
import { Dragoman } from "../../../src/client/dragoman.ts";
import { DragomanError } from "../../../src/client/error.ts";
import type { Identity } from "../../../src/client/tokens.ts";
import type { Role } from "../../../src/schema/actor.ts";
import type { UniversalEvent } from "../../../src/schema/event.ts";
import type { EventType } from "../../../src/schema/event-data.ts";
import { reaches } from "../../../src/schema/roles.ts";
import { forgetToken, pageToken } from "./page-token.ts";
import { Store } from "./store.ts";

export type RequestRecord = {
  id: number;
  at: string;
  method: string;
  path: string;
  body: string | null;
  status: number | "failed" | "open";
  ms: number | null;
};

const KEPT_REQUESTS = 200;
export const requests = new Store<RequestRecord[]>([]);
/** Called when the stream of all sessions is open. */
export const streamOpened = { call: (): void => {} };
let count = 0;

const watchedFetch: typeof fetch = async (input, init) => {
  const path = String(input).slice(location.origin.length);
  const begun = performance.now();
  const record: RequestRecord = {
    id: ++count,
    at: new Date().toISOString(),
    method: init?.method ?? "GET",
    path,
    body: typeof init?.body === "string" ? init.body : null,
    status: "open",
    ms: null,
  };
  requests.update((list) => [record, ...list].slice(0, KEPT_REQUESTS));
  const settle = (status: RequestRecord["status"]): void =>
    requests.update((list) =>
      list.map((each) => (each.id === record.id ? { ...each, status, ms: performance.now() - begun } : each)),
    );
  try {
    const response = await fetch(input, init);
    settle(response.status);
    if (response.ok && path.startsWith("/v1/events/sse")) streamOpened.call();
    return response;
  } catch (error) {
    settle("failed");
    throw error;
  }
};

export const daemon = new Dragoman({ url: location.origin, token: pageToken, fetch: watchedFetch });

export type Access = { state: "unknown" } | { state: "refused"; detail: string } | { state: "known"; identity: Identity };
export const access = new Store<Access>({ state: "unknown" });

let wrongLink: string | null = null;
/** What was wrong with the link the page was opened by. */
export const setWrongLink = (detail: string | null): void => {
  wrongLink = detail;
};

export async function readAccess(): Promise<void> {
  try {
    access.set({ state: "known", identity: await daemon.whoAmI() });
  } catch (error) {
    if (!(error instanceof DragomanError && (error.status === 401 || error.status === 403))) return;
    if (error.status === 401) forgetToken();
    access.set({ state: "refused", detail: wrongLink ?? "This page has no valid token." });
  }
}

const has = (value: Access, role: Role): boolean => value.state === "known" && reaches(value.identity.role, role);
export const canOperate = (value: Access): boolean => has(value, "operate");
export const isAdmin = (value: Access): boolean => has(value, "admin");
/** May answer permissions and questions. */
export const canApprove = (value: Access): boolean => has(value, "approve");

export type EventPage = { events: UniversalEvent[]; has_more: boolean; next: number; last_sequence: number; epoch: string };
export type PageQuery = {
  after?: number;
  /** The epoch of the page that `after` comes from. */
  epoch?: string | undefined;
  before?: number;
  limit?: number;
  order?: "asc" | "desc";
  types?: readonly EventType[];
  include_raw?: boolean;
};

export const sessionPath = (id: string): string => `/v1/sessions/${encodeURIComponent(id)}`;

export const eventPage = (id: string, query: PageQuery, signal?: AbortSignal): Promise<EventPage> =>
  daemon.http.json("GET", `${sessionPath(id)}/events`, { query, signal });

/** A command anyone can paste; the token stays out of it. */
export function asCurl({ method, path, body }: Pick<RequestRecord, "method" | "path" | "body">): string {
  const parts = [`curl -sS '${location.origin}${path}'`, `-H "Authorization: Bearer $DRAGOMAN_TOKEN"`];
  if (method !== "GET") parts.splice(1, 0, `-X ${method}`);
  if (body !== null) parts.push("-H 'content-type: application/json'", `--data '${body.replaceAll("'", "'\\''")}'`);
  return parts.join(" \\\n  ");
}

/** The log is not the one this page knew: it was restored, replaced, or lost its end. */
export const isOtherHistory = ({ code }: DragomanError): boolean => code === "cursor_too_large" || code === "log_changed";

export const problemText = (error: unknown): string =>
  error instanceof DragomanError
    ? `${error.message}${error.code === "bad_answer" ? "" : ` (${error.code})`}`
    : error instanceof Error
      ? error.message
      : String(error);
