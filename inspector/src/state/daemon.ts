// The one connection to the daemon. The page's cookie speaks for it; every request is remembered so that it can be copied as curl.
import { Dragoman } from "../../../src/client/dragoman.ts";
import { DragomanError } from "../../../src/client/error.ts";
import type { UniversalEvent } from "../../../src/schema/event.ts";
import type { EventType } from "../../../src/schema/event-data.ts";
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

export const daemon = new Dragoman({ url: location.origin, fetch: watchedFetch });

export type Identity = { token_id: string; role: "operate" | "observe"; via: string };
export type Access = { state: "unknown" } | { state: "refused"; detail: string } | { state: "known"; identity: Identity };
export const access = new Store<Access>({ state: "unknown" });

export async function readAccess(): Promise<void> {
  try {
    access.set({ state: "known", identity: await daemon.http.json<Identity>("GET", "/v1/auth") });
  } catch (error) {
    if (error instanceof DragomanError && (error.status === 401 || error.status === 403))
      access.set({ state: "refused", detail: error.message });
  }
}

export const canOperate = (value: Access): boolean => value.state === "known" && value.identity.role === "operate";

export type EventPage = { events: UniversalEvent[]; has_more: boolean; next: number; last_sequence: number };
export type PageQuery = {
  after?: number;
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

export const problemText = (error: unknown): string =>
  error instanceof DragomanError
    ? `${error.message}${error.code === "bad_answer" ? "" : ` (${error.code})`}`
    : error instanceof Error
      ? error.message
      : String(error);
