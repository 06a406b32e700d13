/** Hides secrets in the JSON replies to callers who may not see them. Not here: what a secret is (redactions.ts), streams of events (event-encoding.ts). */
import { Readable } from "node:stream";
import type { App, ServerContext } from "./server-context.ts";

/** Every JSON reply to a caller who may not see secrets. Streams see to it themselves; tokens are what replies of /v1/auth are for. */
export function addRedaction(app: App, { redactions }: ServerContext): void {
  app.addHook("onSend", async (request, reply, payload) => {
    if (!redactions.applyTo(request.caller) || request.routeOptions.url?.startsWith("/v1/auth")) return payload;
    if (!/json/.test(String(reply.getHeader("content-type") ?? ""))) return payload;
    const { id, task } = { id: undefined, task: undefined, ...(request.params as object | null) };
    const own = [id, task].filter((name) => typeof name === "string");
    // A long answer comes in pieces. When its reader goes, the source is closed too.
    if (payload instanceof Readable) return redactions.cleaned(payload, own);
    if (typeof payload !== "string" && !Buffer.isBuffer(payload)) return payload;
    const json = payload.toString();
    const text = await redactions.text(json, own.length > 0 ? own : sessionsIn(json));
    reply.removeHeader("content-length");
    return Buffer.isBuffer(payload) ? Buffer.from(text) : text;
  });
}

/** Whose secrets may be in a list: each entry says of which session or task it is. */
const sessionsIn = (json: string): string[] => [
  ...new Set([...json.matchAll(/"(?:session_id|origin_session_id|task_id)":"([^"\\]{1,128})"/g)].map(([, id = ""]) => id)),
];
