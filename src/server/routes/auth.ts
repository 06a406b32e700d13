/**
 * Tokens over the API: who am I, links and pages of a browser, renewal, and making, listing and ending tokens. What a token may do is decided in access.ts
 * and token-store.ts.
 */
import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { FastifyRequest } from "fastify";
import Type from "typebox";
import { Role, Surface } from "../../schema/actor.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { withAgent } from "../agent-caller.ts";
import type { Authenticator } from "../auth.ts";
import type { App, ServerContext } from "../server-context.ts";
import { directoriesOf } from "../session-place.ts";
import { type Caller, Scope, TOKEN_KINDS, type Token } from "../token.ts";

const tag = "auth";
const YEAR_MS = 365 * 24 * 60 * 60_000;
/** No body of these routes is larger: they are read before anybody is known. */
const bodyLimit = 4 * 1024;

const ExpiresAt = Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
  description: "Null: it lives as long as its file.",
});
const described = {
  token_id: Type.String({ description: "Names it in lists and in the audit." }),
  role: Role,
  kind: Type.Enum([...TOKEN_KINDS], { description: "What it was made for." }),
  scope: Type.Union([Scope, Type.Null()], { description: "Null: all sessions." }),
  expires_at: ExpiresAt,
  label: Type.Optional(Type.String({ description: "For people: what it is for." })),
  session_id: Type.Optional(Type.String({ description: "Kind agent: the session whose agent holds it." })),
};
const Identity = Type.Object({ ...described, surface: Surface }, { title: "Identity" });
const TokenInfo = Type.Object(
  { ...described, parent: Type.Union([Type.String(), Type.Null()], { description: "The token it was made by." }) },
  { title: "TokenInfo" },
);
const TokenList = Type.Object(
  { tokens: Type.Array(TokenInfo, { description: "All tokens that are valid." }) },
  { title: "TokenList" },
);
const label = Type.String({ minLength: 1, maxLength: 100, description: "For people: what it is for." });
const MintToken = Type.Object(
  {
    role: Role,
    lifetime_ms: Type.Optional(Type.Integer({ minimum: 1_000, maximum: YEAR_MS, description: "Default: a day." })),
    scope: Type.Optional(Scope),
    label: Type.Optional(label),
    surface: Type.Optional(
      Type.Enum(["mcp"], { description: "Everything done with it is marked as coming through this surface." }),
    ),
    renewable: Type.Optional(
      Type.Boolean({ description: "It may prolong itself with POST /v1/auth/renew, by its lifetime each time." }),
    ),
  },
  { title: "MintToken", additionalProperties: false },
);
const MintedToken = Type.Object(
  {
    token: Type.String({ description: "The secret. It is shown this once." }),
    token_id: Type.String({ description: "Names it in lists and in the audit." }),
    role: Role,
    expires_at: ExpiresAt,
  },
  { title: "MintedToken" },
);
const MakeLink = Type.Object(
  { role: Type.Optional(Role), label: Type.Optional(label) },
  { title: "MakeLink", additionalProperties: false },
);
const MadeLink = Type.Object(
  {
    token: Type.String({ description: "Goes behind `/ui#link=`." }),
    expires_at: Type.String({ description: "When it ends: RFC 3339.", format: "date-time" }),
    file: Type.Union([Type.String(), Type.Null()], {
      description:
        "A page on the daemon's disk, readable by its user only, that leads a browser to the link. Null when it cannot be written.",
    }),
  },
  { title: "MadeLink" },
);
const TradeToken = Type.Object(
  { token: Type.String({ description: "The token of the link.", minLength: 1, maxLength: 512 }) },
  { title: "TradeToken", additionalProperties: false },
);
const Renewed = Type.Object(
  { expires_at: Type.String({ description: "When it ends: RFC 3339.", format: "date-time" }) },
  { title: "Renewed" },
);

export function authRoutes(app: App, context: ServerContext, authenticator: Authenticator): void {
  const { tokens, streams, links, audit } = context;

  app.get(
    "/v1/auth",
    {
      config: { tag, reach: "none", operation: "whoAmI", summary: "The token this request carries.", replies: { 200: Identity } },
    },
    async (request) => {
      const caller = callerOf(request);
      return { ...describe(caller), surface: caller.actor.surface };
    },
  );

  app.post(
    "/v1/auth/page",
    {
      bodyLimit,
      schema: { body: TradeToken },
      config: {
        tag,
        role: "none",
        ownIdempotency: true,
        operation: "tradeToken",
        summary: "Trade the token of a link, or another one, for a token of the inspector's page.",
        description:
          "A link is good for one trade within a minute. The page's token is short-lived, renewable and bound to the page's origin.",
        replies: { 201: MintedToken },
        problems: ["link_invalid", "rate_limited", "too_many_tokens"],
      },
    },
    async ({ raw, body }, reply) => {
      // Looked for only when the token is right: nobody without one makes the daemon look at processes.
      await tokens.look(body.token);
      const shown = tokens.find(body.token);
      if (shown) context.rights.mustBePerson(await withAgent(shown, raw, context));
      const { secret, token } = await authenticator.trade(raw, body.token);
      const actor = { token_id: token.id, role: token.role, surface: "inspector" } as const;
      audit.record({ operation: "tradeToken", outcome: "done", status: 201, actor, target: token.id });
      return reply.code(201).send({ token: secret, token_id: token.id, role: token.role, expires_at: isoOf(token) });
    },
  );

  app.post(
    "/v1/auth/renew",
    {
      bodyLimit,
      config: {
        tag,
        role: "observe",
        reach: "none",
        ownIdempotency: true,
        unaudited: true,
        operation: "renewToken",
        summary: "Prolong the token this request carries. Its streams stay open.",
        replies: { 200: Renewed },
        problems: ["unsupported"],
      },
    },
    async (request) => {
      const expires_at = new Date(tokens.renew(callerOf(request).id)).toISOString();
      await tokens.saved();
      return { expires_at };
    },
  );

  app.post(
    "/v1/auth/logout",
    {
      bodyLimit,
      config: {
        tag,
        role: "observe",
        reach: "none",
        operation: "endToken",
        summary: "End the token this request carries. Its open streams are closed. A root token stays.",
        replies: { 204: { description: "Ended" } },
      },
    },
    async (request, reply) => {
      if (tokens.revoke(callerOf(request).id)) streams.closeRevoked();
      await tokens.saved();
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/auth/links",
    {
      bodyLimit,
      schema: { body: MakeLink },
      config: {
        tag,
        role: "observe",
        reach: "none",
        emptyBody: true,
        ownIdempotency: true,
        operation: "makeLink",
        summary: "A link for one visit of a browser within a minute.",
        description:
          "The page gets at most the caller's own rights, by default no more than operate, and ends with the caller's token.",
        replies: { 201: MadeLink },
        problems: ["forbidden", "too_many_tokens", "disk_full"],
      },
    },
    async (request, reply) => {
      const { role, label } = request.body;
      const link = links.make(callerOf(request), { ...(role ? { role } : {}), ...(label ? { label } : {}) });
      await tokens.saved();
      return reply.code(201).send(link);
    },
  );

  app.post(
    "/v1/auth/tokens",
    {
      bodyLimit: 64 * 1024,
      schema: { body: MintToken },
      config: {
        tag,
        ownIdempotency: true,
        role: "admin",
        reach: "none",
        operation: "mintToken",
        summary: "Mint a token. It never has more rights than this one and never outlives it.",
        replies: { 201: MintedToken },
        problems: ["forbidden", "too_many_tokens", "disk_full"],
      },
    },
    async (request, reply) => {
      const { lifetime_ms, scope, ...rest } = request.body;
      const spec = {
        ...rest,
        ...(scope === undefined
          ? {}
          : { scope: realScope(scope), directories: await directoriesOf(context.log, scope.sessions) }),
      };
      const { secret, token } = tokens.mint(callerOf(request), { ...spec, lifetimeMs: lifetime_ms ?? 24 * 60 * 60_000 });
      await tokens.saved();
      return reply.code(201).send({ token: secret, token_id: token.id, role: token.role, expires_at: isoOf(token) });
    },
  );

  app.get(
    "/v1/auth/tokens",
    {
      config: {
        tag,
        role: "admin",
        reach: "all",
        operation: "listTokens",
        summary: "All tokens that are valid, without their secrets.",
        replies: { 200: TokenList },
      },
    },
    async () => {
      await tokens.look();
      return { tokens: tokens.list().map((token) => ({ ...describe(token), parent: token.parent })) };
    },
  );

  app.delete(
    "/v1/auth/tokens/:token",
    {
      schema: {
        params: Type.Object({ token: Type.String({ description: "Its id, as the list of tokens has it", maxLength: 100 }) }),
      },
      config: {
        tag,
        role: "admin",
        reach: "all",
        operation: "revokeToken",
        summary: "End a token that was made, and all made by it. Their open streams are closed.",
        replies: { 204: { description: "Ended" } },
      },
    },
    async ({ params }, reply) => {
      await tokens.look();
      if (!tokens.revoke(params.token)) throw notEnded(tokens.list().some(({ id }) => id === params.token));
      streams.closeRevoked();
      await tokens.saved();
      return reply.code(204).send();
    },
  );
}

/** Who wants to end a token and gave something else must not think that it was ended. */
const notEnded = (isRoot: boolean): ProblemError =>
  isRoot
    ? new ProblemError(
        "unsupported",
        "A root token is not revoked but replaced: write another one into its file in the data directory.",
      )
    : new ProblemError("token_not_found");

export function callerOf({ caller }: Pick<FastifyRequest, "caller">): Caller {
  if (!caller) throw new Error("a route with a role has a caller");
  return caller;
}

/** Sessions know their directory by its real path. One that is not there yet is taken as it is written. */
function realScope({ sessions, directories }: Scope): Scope {
  const real = directories?.map((path) => {
    if (!isAbsolute(path))
      throw new ProblemError("invalid_request", `A directory of a scope is an absolute path, not ${JSON.stringify(path)}.`);
    return existsSync(path) ? realpathSync(path) : resolve(path);
  });
  return { ...(sessions === undefined ? {} : { sessions }), ...(real === undefined ? {} : { directories: real }) };
}

const isoOf = ({ expires_at }: Token): string | null => (expires_at === undefined ? null : new Date(expires_at).toISOString());

const describe = (token: Token) => ({
  token_id: token.id,
  role: token.role,
  kind: token.kind,
  scope: token.scope,
  expires_at: isoOf(token),
  ...(token.label === undefined ? {} : { label: token.label }),
  ...(token.session_id === undefined ? {} : { session_id: token.session_id }),
});
