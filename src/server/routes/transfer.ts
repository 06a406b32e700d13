// A session from one daemon to another: export as NDJSON, import of it.
import { Readable } from "node:stream";
import Type from "typebox";
import { Session, SessionId } from "../../schema/session.ts";
import { exportLines } from "../../session/transfer.ts";
import { importSession } from "../commands.ts";
import { paced } from "../pacing.ts";
import type { App, ServerContext } from "../server-context.ts";
import { callerOf } from "./auth.ts";
import { SessionPath, sessionStream } from "./parameters.ts";

const tag = "sessions";

const ImportSession = Type.Object(
  {
    ndjson: Type.String({ minLength: 1, description: "The exported file" }),
    session_id: Type.Optional(SessionId),
    resume: Type.Optional(
      Type.Boolean({
        description:
          "Go on with the agent's own conversation that the file names. Only for files you trust. Default: the next message starts a new conversation.",
      }),
    ),
  },
  { title: "ImportSession", additionalProperties: false },
);

export function transferRoutes(app: App, context: ServerContext): void {
  const { log } = context;
  app.get(
    "/v1/sessions/:id/export",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        heavy: "whole",
        operation: "exportSession",
        summary: "The whole session as NDJSON: its row, its native messages, its events, its artifacts.",
        replies: { 200: { description: "One part a line", media: "application/x-ndjson" } },
        problems: ["session_not_found"],
      },
    },
    async ({ params }, reply) => {
      const stream = sessionStream(log, params.id);
      return reply.type("application/x-ndjson").send(Readable.from(paced(exportLines(log, stream)), { highWaterMark: 1 }));
    },
  );

  app.post(
    "/v1/sessions/import",
    {
      schema: { body: ImportSession },
      config: {
        tag,
        // What a file says of its directory is not to be believed: only who reaches everything takes it in.
        reach: "all",
        largeBody: true,
        operation: "importSession",
        summary: "Take up a session that was exported.",
        description:
          "The file is data: every line is checked, and its environment, MCP servers, system prompt and permission mode are not taken over. The session is dormant, in the permission mode `default`.",
        replies: { 201: Session },
        problems: ["session_exists", "not_resumable", "disk_full"],
      },
    },
    async (request, reply) => {
      const { ndjson, ...options } = request.body;
      return reply.code(201).send(await importSession(context, callerOf(request), ndjson, options));
    },
  );
}
