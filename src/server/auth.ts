/**
 * Who is calling: a bearer token, or the same as a WebSocket sub-protocol. There is no cookie: a browser would send it to every port of this host. What a
 * token may do is bound to it on this side; a request cannot name its own rights. Not here: which route needs what (access).
 */
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Surface } from "../schema/actor.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { FailureBackOff } from "./failure-back-off.ts";
import type { RequestOrigin } from "./origin-guard.ts";
import type { Caller, Token } from "./token.ts";
import type { Issued, TokenStore } from "./token-store.ts";

/** Browsers cannot set headers on a WebSocket: a token may come as one of the offered sub-protocols, `token.<secret>`. */
const PROTOCOL_PREFIX = "token.";

/** What a client calls itself. For information: it never widens anything. */
const CLIENT_HEADER = "dragoman-client";
const DECLARED: readonly Surface[] = ["cli", "sdk", "mcp"];

/** A wrong token over the limit is answered after this time; so many wait at once, the others are answered at once. */
const HOLD_MS = 1_000;
const MAX_HELD = 64;

/** With Retry-After. */
export class RetryLaterError extends ProblemError {
  readonly retryAfterMs: number;
  constructor(code: "rate_limited" | "too_many_requests" | "owner_unreachable", retryAfterMs: number, detail: string) {
    super(code, detail);
    this.retryAfterMs = retryAfterMs;
  }
}

export class Authenticator {
  readonly #tokens: TokenStore;
  readonly #backOff: FailureBackOff;
  readonly #onRefused: (request: IncomingMessage) => void;
  #held = 0;

  constructor(tokens: TokenStore, backOff: FailureBackOff, onRefused: (request: IncomingMessage) => void = () => {}) {
    this.#tokens = tokens;
    this.#backOff = backOff;
    this.#onRefused = onRefused;
  }

  /** Throws `unauthorized`, `rate_limited`, `forbidden_origin`, `not_ready`. */
  async authenticate(request: IncomingMessage, origin: RequestOrigin): Promise<Caller> {
    const secret = secretOf(request);
    if (secret === undefined) throw new ProblemError("unauthorized");
    await this.#tokens.look(secret);
    const token = this.#tokens.find(secret);
    if (!token || token.kind === "link") throw await this.#refuse(request, secret);
    if (token.kind === "page") mustBeOwnPage(request, origin, token);
    const surface = surfaceOf(request, token);
    const { id: token_id, role, session_id } = token;
    return { ...token, actor: { token_id, role, surface, ...(session_id === undefined ? {} : { session_id }) } };
  }

  /** A page token for a link or another token, bound to the origin that asks. */
  async trade(request: IncomingMessage, secret: string): Promise<Issued> {
    const issued = await this.#tokens.trade(secret, request.headers.origin);
    if (issued) return issued;
    const refused = await this.#refuse(request, secret);
    throw refused.code === "unauthorized" ? new ProblemError("link_invalid") : refused;
  }

  /** Only wrong tokens come here: they are counted, and over the limit answered late. */
  async #refuse(request: IncomingMessage, secret: string): Promise<ProblemError> {
    if (this.#tokens.isLost)
      return new ProblemError(
        "not_ready",
        "The data directory of this daemon was removed while it runs, and its tokens with it. Put it back, or stop the daemon and start it again.",
      );
    this.#onRefused(request);
    const wait = this.#backOff.failed(request.socket.remoteAddress, secret);
    if (wait === 0)
      return new ProblemError(
        "unauthorized",
        "The token is not valid, or no longer. `dragoman open` makes a new link; programs find the token in the data directory.",
      );
    if (this.#held < MAX_HELD) {
      this.#held++;
      await sleep(Math.min(wait, HOLD_MS), undefined, { ref: false });
      this.#held--;
    }
    return new RetryLaterError(
      "rate_limited",
      wait,
      `Too many wrong tokens. Wait ${Math.ceil(wait / 1000)} s, or use the right one: it is always taken.`,
    );
  }
}

function secretOf({ headers }: IncomingMessage): string | undefined {
  if (headers.authorization !== undefined)
    return /^Bearer +([\w.~+/=-]+) *$/i.exec(headers.authorization)?.[1] ?? headers.authorization;
  const offered = headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim());
  return offered?.find((name) => name.startsWith(PROTOCOL_PREFIX))?.slice(PROTOCOL_PREFIX.length);
}

/**
 * A page's token was made for the page's origin: whoever else has it, in a browser, has no use of it. The page of a listed origin, another daemon's inspector, has one
 * only where it traded a link itself.
 */
function mustBeOwnPage(request: IncomingMessage, origin: RequestOrigin, token: Token): void {
  const shown = request.headers.origin;
  const foreign = token.origin !== undefined && shown !== undefined && shown !== token.origin;
  if (foreign || (origin === "listed" && token.origin === undefined))
    throw new ProblemError(
      "forbidden_origin",
      "This token belongs to the inspector's page. Other pages need a token of their own.",
    );
}

function surfaceOf(request: IncomingMessage, token: Token): Surface {
  if (token.surface !== undefined) return token.surface;
  const declared = DECLARED.find((name) => name === request.headers[CLIENT_HEADER]);
  return declared ?? (request.headers.upgrade === undefined ? "http" : "websocket");
}
