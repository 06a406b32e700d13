// A session from one daemon to another: export as NDJSON, import of it.
import { Readable } from "node:stream";
import Type from "typebox";
import { reaches } from "../../schema/actor.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { Session, SessionId } from "../../schema/session.ts";
import { ExportRedaction } from "../../session/export-redaction.ts";
import { exportLines, importLines } from "../../session/transfer.ts";
import type { App, ServerContext } from "../server-context.ts";
import { SessionPath, sessionStream } from "./parameters.ts";

const tag = "sessions";

const ImportSession = Type.Object(
  { ndjson: Type.String({ minLength: 1 }), session_id: Type.Optional(SessionId) },
  { title: "ImportSession", additionalProperties: false },
);

const ExportQuery = Type.Object({
  with_secrets: Type.Optional(
    Type.Boolean({
      description: "verbatim, with what looks like a secret; needs role admin. The environment is never part of it.",
    }),
  ),
});

export function transferRoutes(app: App, { log, manager, redactions }: ServerContext): void {
  app.get(
    "/v1/sessions/:id/export",
    {
      schema: { params: SessionPath, querystring: ExportQuery },
      config: {
        tag,
        role: "operate",
        operation: "exportSession",
        summary: "The whole session as NDJSON: its row, its native messages, its events, its artifacts.",
        description: "Known secrets are redacted, and no environment or header of an MCP server is part of it.",
        replies: { 200: { description: "One part a line", media: "application/x-ndjson" } },
        problems: ["session_not_found", "forbidden"],
      },
    },
    async ({ params, query, caller }, reply) => {
      const stream = sessionStream(log, params.id);
      if (query.with_secrets && !(caller && reaches(caller.role, "admin")))
        throw new ProblemError("forbidden", "An export with secrets needs a token of role admin. Leave out with_secrets.");
      const redaction = query.with_secrets ? null : await ExportRedaction.of(stream, redactions.ofExport(params.id));
      return reply.type("application/x-ndjson").send(Readable.from(exportLines(log, stream, redaction)));
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
        operation: "importSession",
        summary: "Take up a session that was exported. Its agent's environment is not part of an export.",
        replies: { 201: Session },
        problems: ["session_exists", "agent_unknown", "disk_full"],
      },
    },
    async ({ body }, reply) => {
      const { id } = importLines(log, body.ndjson, body.session_id);
      await log.committed();
      return reply.code(201).send(manager.get(id).view());
    },
  );
}
