/** The inspector's files and the documentation's files. Nothing here knows a token: a link's is behind the `#` and never sent; the page trades it itself. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FastifyReply, FastifyRequest } from "fastify";
import Type from "typebox";
import { PAGE_POLICY, pagePolicy } from "../security-headers.ts";
import type { App, ServerContext } from "../server-context.ts";
import { sendFile } from "../static-files.ts";

const open = { role: "none", navigable: true, hidden: true } as const;
const LinkQuery = Type.Object({ token: Type.Optional(Type.String({ description: "The token of the link.", maxLength: 512 })) });

const PLACEHOLDER = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>dragoman</title><link rel="stylesheet" href="/docs/site.css"></head>
<body><main><h1>dragoman is running</h1><p>The inspector is not part of this build. The <a href="/docs/api">API</a> is here.</p></main></body></html>`;

const OLD_LINK = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>dragoman</title><link rel="stylesheet" href="/docs/site.css"></head>
<body><main><h1>This link is of an older kind</h1><p>Links with <code>?token=</code> are no longer taken: a token in an address ends up in histories and logs.
Run <code>dragoman open</code> and use the link it prints.</p><p><a href="/ui">To the inspector</a></p></main></body></html>`;

export function uiRoutes(app: App, { inspectorDir, docsDir, daemons = [] }: ServerContext): void {
  const policy = pagePolicy(daemons);
  const inspector = built(inspectorDir);
  const docs = built(docsDir);

  app.get("/", { config: open }, async (_, reply) => reply.redirect("/ui"));
  app.get("/ui", { schema: { querystring: LinkQuery }, config: open }, async (request, reply) => {
    // Not looked at, and out of the address at once: what stands in an address is kept in histories and logs.
    if (request.query.token !== undefined) return reply.redirect("/ui/old-link");
    if (inspector) return sendPage(request, reply, inspector, "index.html", policy);
    return reply.type("text/html; charset=utf-8").header("content-security-policy", PAGE_POLICY).send(PLACEHOLDER);
  });
  app.get("/ui/old-link", { config: open }, async (_, reply) =>
    reply.type("text/html; charset=utf-8").header("content-security-policy", PAGE_POLICY).code(410).send(OLD_LINK),
  );
  app.get("/docs", { config: open }, async (request, reply) =>
    docs ? sendPage(request, reply, docs, "index.html") : reply.redirect("/docs/api"),
  );
  if (inspector) serveFolder(app, "/ui/*", inspector, "index.html", policy);
  if (docs) serveFolder(app, "/docs/*", docs, null);
}

/** A folder without an index page was not built. */
const built = (folder: string | undefined): string | undefined =>
  folder !== undefined && existsSync(join(folder, "index.html")) ? folder : undefined;

/** `routed`: the page whose own router takes paths without a file extension. Null: there are only files. */
function serveFolder(app: App, url: string, root: string, routed: string | null, policy = PAGE_POLICY): void {
  app.get(url, { schema: { params: Type.Object({ "*": Type.String() }) }, config: open }, async (request, reply) => {
    const file = request.params["*"];
    const isFile = file !== "" && /\.[a-z0-9]+$/i.test(file);
    return sendPage(request, reply, root, isFile ? file : (routed ?? (file === "" ? "index.html" : file)), policy);
  });
}

const sendPage = (
  request: FastifyRequest,
  reply: FastifyReply,
  root: string,
  file: string,
  policy = PAGE_POLICY,
): Promise<FastifyReply> => sendFile(request, reply.header("content-security-policy", policy), root, file);
