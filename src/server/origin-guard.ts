/**
 * Keeps web pages out: DNS rebinding (a foreign Host), drive-by requests (a foreign Origin), cross-site loads (Sec-Fetch-Site). Runs on every
 * request and every upgrade before anything is routed. It knows nothing of tokens.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { ProblemError } from "../schema/problem-codes.ts";

export type OriginGuardOptions = { allowHosts: readonly string[]; allowOrigins: readonly string[] };

/** Where a request says it comes from. */
export type RequestOrigin = "none" | "same" | "listed";

export class OriginGuard {
  readonly #hosts = new Set(["localhost", "127.0.0.1", "[::1]"]);
  readonly #origins: ReadonlySet<string>;

  constructor({ allowHosts, allowOrigins }: OriginGuardOptions) {
    for (const host of allowHosts) this.allowHost(host);
    this.#origins = new Set(allowOrigins.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  }

  allowHost(host: string): void {
    this.#hosts.add(isIP(host) === 6 ? `[${host.toLowerCase()}]` : host.toLowerCase());
  }

  /** Throws `forbidden_origin` for a foreign Host or Origin. */
  check(request: IncomingMessage): RequestOrigin {
    const host = hostOf(request);
    if (host === undefined || !this.#knows(host.name, request))
      throw new ProblemError(
        "forbidden_origin",
        `The daemon does not answer to the Host ${JSON.stringify(request.headers.host ?? "")}. Call it by its own address, or add the name to allow_hosts in the configuration.`,
      );
    const { origin } = request.headers;
    if (origin === undefined) return "none";
    if (this.#origins.has(origin.toLowerCase())) return "listed";
    // Host is known to be ours by now. Behind a proxy that ends TLS the scheme differs, the name and port do not.
    const own = host.text.toLowerCase();
    if (origin.toLowerCase() === `http://${own}` || origin.toLowerCase() === `https://${own}`) return "same";
    throw new ProblemError(
      "forbidden_origin",
      `Pages of ${JSON.stringify(origin)} may not call the daemon. Add the origin to allow_origins in the configuration.`,
    );
  }

  /** A wildcard bind answers to the very address the client connected to; no name can be rebound to that. */
  #knows(name: string, request: IncomingMessage): boolean {
    if (this.#hosts.has(name)) return true;
    const address = name.replace(/^\[|\]$/g, "");
    return isIP(address) !== 0 && address === request.socket.localAddress?.replace(/^::ffff:/, "");
  }
}

/**
 * A page of another site, or of another port of this machine, loads something of ours. Without an Origin header this is the only trace of it.
 */
export const isForeignFetch = (request: IncomingMessage): boolean => {
  const site = request.headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
};

export const isNavigation = (request: IncomingMessage): boolean =>
  request.headers["sec-fetch-mode"] === "navigate" && request.headers["sec-fetch-dest"] === "document";

function hostOf(request: IncomingMessage): { text: string; name: string } | undefined {
  const text = request.headers.host;
  if (text === undefined || countHosts(request) !== 1) return undefined;
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?$/i.exec(text);
  return match?.[1] === undefined ? undefined : { text, name: match[1].toLowerCase() };
}

/** Node keeps the first of several Host headers; a proxy before us may have kept another. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === "host") count++;
  return count;
}
