// Trading a token for a cookie, taking it back, and minting tokens with fewer rights.
import type { IncomingMessage } from "node:http";
import Type from "typebox";
import { COOKIE_LIFETIME_MS, cookieHeader } from "../auth.ts";
import type { App, ServerContext } from "../server-context.ts";
import type { Token } from "../token-store.ts";

const tag = "auth";
const Identity = Type.Object(
  { token_id: Type.String(), role: Type.Enum(["operate", "observe"]), via: Type.Enum(["bearer", "cookie"]) },
  { title: "Identity" },
);
const MintToken = Type.Object(
  {
    role: Type.Enum(["operate", "observe"]),
    lifetime_ms: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 365 * 24 * 60 * 60_000 })),
  },
  { title: "MintToken", additionalProperties: false },
);
const MintedToken = Type.Object(
  { token: Type.String(), token_id: Type.String(), role: Type.Enum(["operate", "observe"]) },
  { title: "MintedToken" },
);
const LinkToken = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 512 }) },
  { title: "LinkToken", additionalProperties: false },
);

export type CheckToken = (request: IncomingMessage, secret: string) => Token;

export function authRoutes(app: App, { tokens, streams }: ServerContext, checkToken: CheckToken): void {
  app.get(
    "/v1/auth",
    { config: { tag, operation: "whoAmI", summary: "The token this request carries.", replies: { 200: Identity } } },
    async ({ caller }) => caller && { token_id: caller.id, role: caller.role, via: caller.via },
  );

  app.post(
    "/v1/auth/session",
    {
      schema: { body: LinkToken },
      config: {
        tag,
        role: "none",
        ownIdempotency: true,
        operation: "openAuthSession",
        summary: "Trade a token for an HttpOnly cookie.",
        replies: { 204: { description: "The cookie is set" } },
        problems: ["unauthorized", "rate_limited"],
      },
    },
    async ({ raw, body }, reply) => {
      const by = checkToken(raw, body.token);
      const { secret } = tokens.mint(by, by.role, COOKIE_LIFETIME_MS);
      return reply
        .code(204)
        .header("set-cookie", cookieHeader(raw, secret, COOKIE_LIFETIME_MS))
        .send();
    },
  );

  app.post(
    "/v1/auth/logout",
    {
      config: {
        tag,
        role: "observe",
        operation: "closeAuthSession",
        summary: "End this cookie or minted token. Its open streams are closed.",
        replies: { 204: { description: "Ended" } },
      },
    },
    async ({ raw, caller }, reply) => {
      if (caller && tokens.revoke(caller.id)) streams.closeRevoked();
      return reply
        .code(204)
        .header("set-cookie", cookieHeader(raw, "", 0))
        .send();
    },
  );

  app.post(
    "/v1/auth/tokens",
    {
      schema: { body: MintToken },
      config: {
        tag,
        ownIdempotency: true,
        role: "observe",
        operation: "mintToken",
        summary: "A further token, never with more rights than this one and never outliving it.",
        replies: { 201: MintedToken },
        problems: ["forbidden"],
      },
    },
    async ({ body, caller }, reply) => {
      if (!caller) throw new Error("a route with a role has a caller");
      const { secret, token } = tokens.mint(caller, body.role, body.lifetime_ms ?? 24 * 60 * 60_000);
      return reply.code(201).send({ token: secret, token_id: token.id, role: token.role });
    },
  );

  app.delete(
    "/v1/auth/tokens/:token",
    {
      schema: { params: Type.Object({ token: Type.String({ maxLength: 100 }) }) },
      config: {
        tag,
        operation: "revokeToken",
        summary: "End a minted token and all minted by it. Their open streams are closed.",
        replies: { 204: { description: "Ended, or there was none" } },
      },
    },
    async ({ params }, reply) => {
      if (tokens.revoke(params.token)) streams.closeRevoked();
      return reply.code(204).send();
    },
  );
}
