// The inspector's files, the documentation's files, and the door: a link with a token becomes a cookie and an address without it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import Type from "typebox";
import { COOKIE_LIFETIME_MS, cookieHeader } from "../auth.ts";
import { PAGE_POLICY } from "../security-headers.ts";
import type { App, ServerContext } from "../server-context.ts";
import type { CheckToken } from "./auth.ts";

const open = { role: "none", navigable: true, hidden: true } as const;
const LinkQuery = Type.Object({ token: Type.Optional(Type.String({ maxLength: 512 })) });

/** Named after its content by the build: it never changes. */
const HASHED = /\/assets\/[^/]+-[\w-]{8}\.[a-z0-9]+$/i;

const PLACEHOLDER = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>dragoman</title><link rel="stylesheet" href="/docs/api.css"></head>
<body><main><h1>dragoman is running</h1><p>The inspector is not part of this build. The <a href="/docs/api">API</a> is here.</p></main></body></html>`;

export function uiRoutes(app: App, { tokens, inspectorDir, docsDir }: ServerContext, checkToken: CheckToken): void {
  const inspector = built(inspectorDir);
  const docs = built(docsDir);

  app.get("/", { config: open }, async (_, reply) => reply.redirect("/ui"));
  app.get("/ui", { schema: { querystring: LinkQuery }, config: open }, async ({ raw, query }, reply) => {
    if (query.token !== undefined) {
      const by = checkToken(raw, query.token);
      const { secret } = tokens.mint(by, by.role, COOKIE_LIFETIME_MS);
      return reply.header("set-cookie", cookieHeader(raw, secret, COOKIE_LIFETIME_MS)).redirect("/ui");
    }
    if (inspector) return reply.header("content-security-policy", PAGE_POLICY).sendFile("index.html", inspector);
    return reply.type("text/html; charset=utf-8").header("content-security-policy", PAGE_POLICY).send(PLACEHOLDER);
  });
  app.get("/docs", { config: open }, async (_, reply) =>
    docs ? reply.header("content-security-policy", PAGE_POLICY).sendFile("index.html", docs) : reply.redirect("/docs/api"),
  );
  if (inspector) serveFolder(app, "/ui/*", inspector);
  if (docs) serveFolder(app, "/docs/*", docs);
  if (inspector ?? docs)
    app.register(fastifyStatic, {
      root: [inspector ?? docs ?? "."],
      serve: false,
      cacheControl: false,
      setHeaders: (reply, path) => {
        if (HASHED.test(path)) reply.header("cache-control", "public, max-age=31536000, immutable");
      },
    });
}

/** A folder without an index page was not built. */
const built = (folder: string | undefined): string | undefined =>
  folder !== undefined && existsSync(join(folder, "index.html")) ? folder : undefined;

/** Paths without a file extension belong to the page's own router. */
function serveFolder(app: App, url: string, root: string): void {
  app.get(url, { schema: { params: Type.Object({ "*": Type.String() }) }, config: open }, async ({ params }, reply) => {
    const file = params["*"];
    return reply
      .header("content-security-policy", PAGE_POLICY)
      .sendFile(file === "" || !/\.[a-z0-9]+$/i.test(file) ? "index.html" : file, root);
  });
}
