// A session from one daemon to another: export as NDJSON, import of it.
import { Readable } from "node:stream";
import Type from "typebox";
import { reaches } from "../../schema/actor.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { Session, SessionId } from "../../schema/session.ts";
import { ExportRedaction } from "../../session/export-redaction.ts";
import { exportLines } from "../../session/transfer.ts";
import { importSession } from "../commands.ts";
import { ownTurn, paced } from "../pacing.ts";
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

const ExportQuery = Type.Object({
  with_secrets: Type.Optional(
    Type.Boolean({
      description: "verbatim, with what looks like a secret; needs role admin. The environment is never part of it.",
    }),
  ),
});

export function transferRoutes(app: App, context: ServerContext): void {
  const { log, redactions } = context;
  app.get(
    "/v1/sessions/:id/export",
    {
      schema: { params: SessionPath, querystring: ExportQuery },
      config: {
        tag,
        heavy: "whole",
        role: "operate",
        operation: "exportSession",
        summary: "The whole session as NDJSON: its row, its native messages, its events, its artifacts.",
        description: "Known secrets are redacted, and no environment or header of an MCP server is part of it.",
        replies: { 200: { description: "One part a line", media: "application/x-ndjson" } },
        problems: ["session_not_found", "forbidden"],
      },
    },
    async ({ params, query, caller }, reply) => {
      const stream = await sessionStream(log, params.id);
      if (query.with_secrets && !(caller && reaches(caller.role, "admin")))
        throw new ProblemError("forbidden", "An export with secrets needs a token of role admin. Leave out with_secrets.");
      const redaction = query.with_secrets
        ? null
        : await ExportRedaction.of(stream, await redactions.ofExport(params.id), ownTurn);
      return reply
        .type("application/x-ndjson")
        .send(Readable.from(paced(exportLines(log, stream, redaction)), { highWaterMark: 1 }));
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
