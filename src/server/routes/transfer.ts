// A session from one daemon to another: export as NDJSON, import of it.
import { Readable } from "node:stream";
import Type from "typebox";
import { reaches } from "../../schema/actor.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { Session, SessionId } from "../../schema/session.ts";
import { ExportRedaction } from "../../session/export-redaction.ts";
import { withSpooled } from "../../session/import-source.ts";
import { exportLines } from "../../session/transfer.ts";
import { importSession } from "../commands.ts";
import { ownTurn, paced } from "../pacing.ts";
import type { App, ServerContext } from "../server-context.ts";
import { callerOf } from "./auth.ts";
import { SessionPath, sessionStream } from "./parameters.ts";

const tag = "sessions";

const importOptions = {
  session_id: Type.Optional(Type.String({ ...SessionId, description: "An id of your own. Default: the one in the file." })),
  resume: Type.Optional(
    Type.Boolean({
      description:
        "Go on with the agent's own conversation that the file names. Only for files you trust. Default: the next message starts a new conversation.",
    }),
  ),
};

const ImportSession = Type.Object(
  { ndjson: Type.String({ minLength: 1, description: "The exported file" }), ...importOptions },
  { title: "ImportSession", additionalProperties: false },
);
type ImportSession = Type.Static<typeof ImportSession>;

const ImportQuery = Type.Object(importOptions, { additionalProperties: false });

/** As Fastify wants it: a schema for each content type. */
const importBodies = {
  content: {
    "application/x-ndjson": { schema: Type.Unknown({ description: "The exported file itself, of any size." }) },
    "application/json": { schema: ImportSession },
  },
};

/** Each needs room on the disk twice, and the log's time. */
const IMPORTS_AT_ONCE = 4;

const ExportQuery = Type.Object({
  with_secrets: Type.Optional(
    Type.Boolean({
      description: "verbatim, with what looks like a secret; needs role admin. The environment is never part of it.",
    }),
  ),
});

export function transferRoutes(app: App, context: ServerContext): void {
  const { log, redactions } = context;
  let importing = 0;
  app.get(
    "/v1/sessions/:id/export",
    {
      schema: { params: SessionPath, querystring: ExportQuery },
      config: {
        tag,
        heavy: "whole",
        role: "operate",
        anywhere: true,
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
      schema: { body: importBodies, querystring: ImportQuery },
      config: {
        tag,
        // What a file says of its directory is not to be believed: only who reaches everything takes it in.
        reach: "all",
        largeBody: true,
        streamedBody: true,
        operation: "importSession",
        summary: "Import an exported session.",
        description:
          "Send the file itself as application/x-ndjson, with the options in the query: it is read as it comes and may have any size. As JSON it is limited like other bodies. The file is data: every line is checked before anything is written, and its environment, MCP servers, system prompt and permission mode are not taken over. All of it is imported or nothing. The session is dormant, in the permission mode `default`. A streamed file is not compared when an Idempotency-Key comes again.",
        replies: { 201: Session },
        problems: ["session_exists", "not_resumable", "disk_full", "too_many_requests"],
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const body = request.body as Readable | ImportSession | undefined;
      if (body === undefined)
        throw new ProblemError("invalid_request", "Send the exported file as the body, with content-type application/x-ndjson.");
      if (!(body instanceof Readable)) {
        const { ndjson, ...options } = body;
        return reply.code(201).send(await importSession(context, caller, ndjson, options));
      }
      if (importing >= IMPORTS_AT_ONCE)
        throw new ProblemError("too_many_requests", `${IMPORTS_AT_ONCE} imports are under way. Try again when one has ended.`);
      importing++;
      try {
        // Not destroyed with the iteration: the answer to a wrong file goes over the same connection.
        const chunks = body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
        const session = await withSpooled(chunks, context.dataDir, (source) =>
          importSession(context, caller, source, request.query),
        );
        return reply.code(201).send(session);
      } finally {
        importing--;
      }
    },
  );
}
