/** One line a request in the daemon's log. Headers and bodies are never logged; a token in an address is left out. */
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

const SECRET_NAMES = new Set(["token", "access_token", "key"]);

/** Names are compared as the server reads them: decoded, in any case. */
export function redactUrl(url: string): string {
  const [path = "", query] = url.split(/\?(.*)/s);
  if (query === undefined) return url;
  const redacted = query.split("&").map((pair) => {
    const [name = ""] = pair.split("=", 1);
    return SECRET_NAMES.has(decoded(name).toLowerCase()) ? `${name}=[redacted]` : pair;
  });
  return `${path}?${redacted.join("&")}`;
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}
