// One line a request in the daemon's log. Headers and bodies are never logged; a token in an address is blotted out.
import type { FastifyRequest } from "fastify";
import type { App, ServerContext } from "./server-context.ts";

export function addRequestLog(app: App, { logger, metrics }: ServerContext): void {
  app.addHook("onResponse", async (request, reply) => {
    const route = request.routeOptions.url ?? "unknown";
    metrics.countRequest(request.method, route, reply.statusCode);
    const level = reply.statusCode >= 500 ? "error" : request.method === "GET" ? "debug" : "info";
    logger[level](
      {
        method: request.method,
        url: redactUrl(request.url),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        ...callerOf(request),
      },
      "request",
    );
  });
}

const callerOf = ({ caller, ip }: FastifyRequest): object =>
  caller ? { remote: ip, token: caller.id, role: caller.role, surface: caller.actor.surface } : { remote: ip };

export const redactUrl = (url: string): string => url.replace(/([?&](?:token|access_token|key)=)[^&]*/gi, "$1[redacted]");
