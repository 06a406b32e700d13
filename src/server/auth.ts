/**
 * Who is calling, and may they: a bearer token, or the cookie a link was traded for. Roles are bound to tokens on this side; a request cannot name its own.
 */
import type { IncomingMessage } from "node:http";
import { ProblemError } from "../schema/problem-codes.ts";
import type { FailureBackOff } from "./failure-back-off.ts";
import { isForeignFetch, type RequestOrigin } from "./origin-guard.ts";
import type { Role, Token, TokenStore } from "./token-store.ts";

export type Caller = Token & { via: "bearer" | "cookie" };

export const COOKIE_LIFETIME_MS = 30 * 24 * 60 * 60_000;

/** Browsers cannot set headers on a WebSocket: a token may come as one of the offered sub-protocols, `token.<secret>`. */
const PROTOCOL_PREFIX = "token.";

export class BlockedError extends ProblemError {
  readonly retryAfterMs: number;
  constructor(retryAfterMs: number) {
    super(
      "rate_limited",
      `Too many wrong tokens from this address. Wait ${Math.ceil(retryAfterMs / 1000)} s and use the right one.`,
    );
    this.retryAfterMs = retryAfterMs;
  }
}

export class Authenticator {
  readonly #tokens: TokenStore;
  readonly #backOff: FailureBackOff;

  constructor(tokens: TokenStore, backOff: FailureBackOff) {
    this.#tokens = tokens;
    this.#backOff = backOff;
  }

  /** Throws `unauthorized`, `forbidden`, `rate_limited`, `forbidden_origin`. */
  authorize(request: IncomingMessage, need: Role, origin: RequestOrigin): Caller {
    const shown = credentialOf(request);
    if (!shown) throw new ProblemError("unauthorized");
    const caller: Caller = { ...this.check(request, shown.secret), via: shown.via };
    if (caller.via === "cookie") mustBeOwnPage(request, origin);
    if (need === "operate" && caller.role !== "operate") throw new ProblemError("forbidden");
    return caller;
  }

  /** The token with this secret; a wrong one counts against the address it came from. */
  check(request: IncomingMessage, secret: string): Token {
    const address = request.socket.remoteAddress ?? "";
    const wait = this.#backOff.wait(address);
    if (wait > 0) throw new BlockedError(wait);
    const token = this.#tokens.find(secret);
    if (token) return token;
    this.#backOff.failed(address, secret);
    throw new ProblemError("unauthorized", "The token is not valid, or no longer. `dragoman serve` prints the current one.");
  }
}

function credentialOf(request: IncomingMessage): { secret: string; via: Caller["via"] } | undefined {
  const { headers } = request;
  if (headers.authorization !== undefined) {
    const bearer = /^Bearer +([\w.~+/=-]+) *$/i.exec(headers.authorization)?.[1];
    return { secret: bearer ?? headers.authorization, via: "bearer" };
  }
  const offered = headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim());
  const protocol = offered?.find((name) => name.startsWith(PROTOCOL_PREFIX));
  if (protocol !== undefined) return { secret: protocol.slice(PROTOCOL_PREFIX.length), via: "bearer" };
  const cookie = cookieOf(request);
  return cookie === undefined ? undefined : { secret: cookie, via: "cookie" };
}

/**
 * A cookie comes along by itself, so it only counts when the browser vouches for our own page. SameSite=Strict is not enough: pages of other ports of
 * this machine are the same site.
 */
function mustBeOwnPage(request: IncomingMessage, origin: RequestOrigin): void {
  const safe = (request.method === "GET" || request.method === "HEAD") && request.headers.upgrade === undefined;
  const vouched = origin === "same" || request.headers["sec-fetch-site"] === "same-origin";
  if (origin === "listed" || isForeignFetch(request) || (!safe && !vouched))
    throw new ProblemError(
      "forbidden_origin",
      "The cookie counts only for the daemon's own pages. Programs send a bearer token.",
    );
}

/** Cookies do not know ports: each daemon of a machine needs a name of its own. */
const cookieName = ({ socket }: IncomingMessage): string => `dragoman_${socket.localPort ?? 0}`;

export function cookieOf(request: IncomingMessage): string | undefined {
  for (const pair of request.headers.cookie?.split(";") ?? []) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() === cookieName(request)) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** `lifetimeMs` 0 takes the cookie away. */
export const cookieHeader = (request: IncomingMessage, secret: string, lifetimeMs: number): string =>
  `${cookieName(request)}=${secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${Math.floor(lifetimeMs / 1000)}`;
