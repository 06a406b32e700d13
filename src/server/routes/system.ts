// The daemon about itself: alive, ready, measured, described.
import Type from "typebox";
import type { LogHealth } from "../../log/contract.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { renderApiPage } from "../api-page.ts";
import type { OpenApi } from "../openapi.ts";
import { PAGE_POLICY } from "../security-headers.ts";
import type { App, ServerContext } from "../server-context.ts";
import { callerOf } from "./auth.ts";

const tag = "daemon";
const Health = Type.Object(
  {
    status: Type.Literal("ok"),
    version: Type.String({ description: "Of the daemon." }),
    log_id: Type.String({ description: "of the log, made once; a restored backup has the same" }),
    epoch: Type.String({ description: "of this start of the daemon; cursors belong to it" }),
    log: Type.Enum(["ok", "failing", "fenced", "damaged"], {
      description: "failing: cannot write; damaged: some stored data cannot be read",
    }),
  },
  { title: "Health" },
);
const Damage = Type.Object(
  {
    places: Type.Integer({ description: "how many were found since the daemon started" }),
    sessions: Type.Array(Type.String(), { description: "Sessions that are damaged." }),
    message: Type.String({ description: "What is wrong." }),
  },
  { description: "What of the log cannot be read." },
);
const Ready = Type.Object(
  {
    status: Type.Literal("ready"),
    unreadable_sessions: Type.Array(Type.String(), {
      description: "Ids of sessions that were set aside; `dragoman doctor` says why",
    }),
    damage: Type.Optional(Damage),
  },
  { title: "Ready" },
);

const DaemonList = Type.Object(
  {
    daemons: Type.Array(Type.Object({ url: Type.String({ description: "Where it is." }) }), {
      description: "In the order of the configuration.",
    }),
  },
  { title: "DaemonList" },
);

function stateOf(health: LogHealth): "ok" | "failing" | "fenced" | "damaged" {
  if (health.state === "failing") return health.code === "fenced" ? "fenced" : "failing";
  return health.damage.places > 0 ? "damaged" : "ok";
}

export function systemRoutes(app: App, { log, manager, metrics, version, daemons = [] }: ServerContext, openApi: OpenApi): void {
  app.get(
    "/v1/health",
    { config: { tag, role: "none", operation: "health", summary: "Check that the daemon answers.", replies: { 200: Health } } },
    async () => ({ status: "ok", version, log_id: log.id, epoch: log.epoch, log: stateOf(log.health()) }),
  );

  app.get(
    "/v1/ready",
    {
      config: {
        tag,
        reach: "none",
        operation: "ready",
        summary: "Check that the daemon can write its log. `damage` names what cannot be read.",
        replies: { 200: Ready },
        problems: ["not_ready"],
      },
    },
    async (request) => {
      const health = log.health();
      if (health.state === "failing") throw new ProblemError("not_ready", health.message);
      const everything = callerOf(request).scope === null;
      const unreadable = everything ? manager.unreadable() : [];
      const { places, streams, message } = health.damage;
      return {
        status: "ready",
        unreadable_sessions: unreadable.map(({ session_id }) => session_id),
        ...(places === 0 ? {} : { damage: { places, sessions: everything ? streams : [], message } }),
      };
    },
  );

  app.get(
    "/metrics",
    {
      config: {
        tag,
        reach: "all",
        operation: "metrics",
        summary: "Prometheus metrics.",
        replies: { 200: { description: "Prometheus text format", media: "text/plain" } },
      },
    },
    async (_, reply) => reply.type("text/plain; version=0.0.4; charset=utf-8").send(metrics.text()),
  );

  app.get(
    "/v1/daemons",
    {
      config: {
        tag,
        reach: "none",
        operation: "listDaemons",
        summary: "Other daemons that this one's inspector may show beside it, as they were named at its start.",
        description:
          "The page signs in to each with a link of that daemon, which must list this one's origin in `allow_origins`.",
        replies: { 200: DaemonList },
      },
    },
    async () => ({ daemons: daemons.map((url) => ({ url })) }),
  );

  app.get(
    "/openapi.json",
    {
      config: {
        tag,
        role: "none",
        operation: "openApi",
        summary: "This description.",
        replies: { 200: { description: "OpenAPI 3.1", media: "application/json" } },
      },
    },
    async () => openApi.document(),
  );

  let page: string | undefined;
  app.get("/docs/api", { config: { role: "none", navigable: true } }, async (_, reply) => {
    page ??= renderApiPage(openApi.document());
    return reply.type("text/html; charset=utf-8").header("content-security-policy", PAGE_POLICY).send(page);
  });
}
