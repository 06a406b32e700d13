// A session from one daemon to another: export as NDJSON, import of it.
import { Readable } from "node:stream";
import Type from "typebox";
import { withdrawn } from "../../log/log-error.ts";
import { Session, SessionId } from "../../schema/session.ts";
import { exportLines, importLines } from "../../session/transfer.ts";
import type { App, ServerContext } from "../server-context.ts";
import { SessionPath, sessionStream } from "./parameters.ts";

const tag = "sessions";

const ImportSession = Type.Object(
  { ndjson: Type.String({ minLength: 1 }), session_id: Type.Optional(SessionId) },
  { title: "ImportSession", additionalProperties: false },
);

export function transferRoutes(app: App, { log, manager }: ServerContext): void {
  app.get(
    "/v1/sessions/:id/export",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        operation: "exportSession",
        summary: "The whole session as NDJSON: its row, its native messages, its events, its artifacts.",
        replies: { 200: { description: "One part a line", media: "application/x-ndjson" } },
        problems: ["session_not_found"],
      },
    },
    async ({ params }, reply) => {
      const stream = sessionStream(log, params.id);
      return reply.type("application/x-ndjson").send(Readable.from(exportLines(log, stream)));
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
      await log.committed().catch((error: unknown) => {
        log.deleteStream("session", id);
        throw withdrawn(error);
      });
      return reply.code(201).send(manager.get(id).view());
    },
  );
}
