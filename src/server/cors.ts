// Lets the listed foreign origins read replies. They never get credentials: a page of theirs needs a bearer token of its own.
import type { IncomingMessage } from "node:http";
import type { RequestOrigin } from "./origin-guard.ts";
import type { App } from "./server-context.ts";

const headers = {
  vary: "origin",
  "access-control-expose-headers":
    "x-turn-id, location, idempotent-replayed, retry-after, content-range, etag, dragoman-log-id, dragoman-epoch",
};
const preflight = {
  "access-control-allow-methods": "GET, POST, PATCH, DELETE",
  "access-control-allow-headers": "authorization, content-type, dragoman-client, idempotency-key, last-event-id, range",
  "access-control-max-age": "600",
};

export function addCors(app: App, originOf: (request: IncomingMessage) => RequestOrigin): void {
  app.addHook("onRequest", async (request, reply) => {
    if (originOf(request.raw) !== "listed") return;
    reply.headers({
      ...headers,
      "access-control-allow-origin": request.headers.origin ?? "",
      "cross-origin-resource-policy": "cross-origin",
    });
    if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined)
      return reply.code(204).headers(preflight).send();
  });
}
