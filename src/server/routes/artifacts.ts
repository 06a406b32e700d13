/**
 * Artifacts: lists of them, a short look, and the stored bytes, whole or by range. The bytes come from agents: a browser may show them, never run them. A token
 * with a scope sees those that a session or a task it reaches has.
 */

import type { Readable } from "node:stream";
import Type from "typebox";
import type { ArtifactInfo, ArtifactListOptions, ArtifactPage } from "../../log/contract.ts";
import { type Artifact, ArtifactList, ArtifactPreview, ArtifactQuery } from "../../schema/artifact.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { previewOf } from "../../workspace/artifacts/preview.ts";
import { isBinary, wholeEnd } from "../../workspace/binary.ts";
import { type ByteRange, isKnown, rangeOf } from "../byte-conditions.ts";
import { FOREIGN_POLICY } from "../security-headers.ts";
import type { App, ServerContext } from "../server-context.ts";
import type { Caller } from "../token.ts";
import { callerOf } from "./auth.ts";
import { SessionPath } from "./parameters.ts";

const ArtifactPath = Type.Object({ artifact: Type.String({ description: "Id of the artifact.", maxLength: 128 }) });
const SHOWN = /^(image\/(png|jpeg|gif|webp|avif|svg\+xml)|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/json)$/;

const TEXT = /^(text\/|application\/(json|xml|javascript|x-ndjson))/;

/** Enough to distinguish a text from other bytes. */
const HEAD_BYTES = 8 * 1024;
/** Tasks of a session that are looked through for artifacts. */
const MOST_TASKS = 500;

export function artifactRoutes(app: App, context: ServerContext): void {
  listRoutes(app, context);
  previewRoute(app, context);
  bytesRoute(app, context);
}

/** Throws `artifact_not_found` also for one that the caller does not reach. */
async function found({ log, access }: ServerContext, caller: Caller, artifactId: string): Promise<ArtifactInfo> {
  const info = await log.artifacts.stat(artifactId);
  if (!info) throw new ProblemError("artifact_not_found");
  if (caller.scope === null || (await seesOne(access, caller, await log.artifacts.owners(artifactId)))) return info;
  throw new ProblemError("artifact_not_found");
}

type Owners = ArtifactPage["artifacts"][number]["owners"];

async function seesOne(access: ServerContext["access"], caller: Caller, owners: Owners): Promise<boolean> {
  for (const { kind, id } of owners)
    if (await (kind === "session" ? access.sees(caller, id) : access.seesTask(caller, id))) return true;
  return false;
}

function listRoutes(app: App, { log, access, manager }: ServerContext): void {
  app.get(
    "/v1/sessions/:id/artifacts",
    {
      schema: { params: SessionPath, querystring: ArtifactQuery },
      config: {
        tag: "artifacts",
        operation: "listSessionArtifacts",
        summary: "What a session and its tasks stored beside their events: images, long outputs, attachments.",
        replies: { 200: ArtifactList },
        problems: ["session_not_found"],
      },
    },
    async ({ params, query }) => {
      await manager.view(params.id);
      const tasks = await log.list("task", { tag: `session:${params.id}`, limit: MOST_TASKS });
      const of = [{ kind: "session" as const, id: params.id }, ...tasks.streams.map(({ id }) => ({ kind: "task" as const, id }))];
      return listed(await log.artifacts.list({ ...optionsOf(query), of }));
    },
  );

  app.get(
    "/v1/artifacts",
    {
      schema: { querystring: ArtifactQuery },
      config: {
        tag: "artifacts",
        reach: "filtered",
        operation: "listArtifacts",
        summary: "All artifacts the token reaches, the newest or the largest first.",
        description: "A page can hold fewer than `limit`, and still have a `next`.",
        replies: { 200: ArtifactList },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const page = await log.artifacts.list(optionsOf(request.query));
      if (caller.scope === null) return listed(page);
      const seen = await Promise.all(page.artifacts.map(({ owners }) => seesOne(access, caller, owners)));
      const artifacts = page.artifacts.filter((_, index) => seen[index]);
      return listed({ ...page, artifacts: await Promise.all(artifacts.map((one) => withReached(one, caller, access))) });
    },
  );
}

/** Sessions that the token does not reach are not named. */
async function withReached<T extends { owners: Owners }>(one: T, caller: Caller, access: ServerContext["access"]): Promise<T> {
  const seen = await Promise.all(one.owners.map((owner) => seesOne(access, caller, [owner])));
  return { ...one, owners: one.owners.filter((_, index) => seen[index]) };
}

const optionsOf = ({ kind, min_bytes, order, limit, before }: ArtifactQuery): ArtifactListOptions => ({
  ...(kind === undefined ? {} : { kind }),
  ...(min_bytes === undefined ? {} : { min_bytes }),
  ...(order === undefined ? {} : { order }),
  ...(limit === undefined ? {} : { limit }),
  ...(before === undefined ? {} : { before }),
});

const listed = ({ artifacts, next }: ArtifactPage): ArtifactList => ({
  artifacts: artifacts.map(
    ({ owners, created_at, ...info }): Artifact => ({
      ...info,
      created_at: new Date(created_at).toISOString(),
      references: owners.flatMap(({ kind, id }) => (kind === "session" || kind === "task" ? [{ stream_kind: kind, id }] : [])),
    }),
  ),
  next,
});

async function openBytes({ artifacts }: ServerContext["log"], artifactId: string, range?: ByteRange): Promise<Readable> {
  const bytes = await artifacts.openRead(artifactId, range ?? {});
  if (bytes) return bytes;
  throw new ProblemError("artifact_not_found", "The artifact's file is gone from the data directory.");
}

async function wholeOf(bytes: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** By what it says it is, or by what it is: a file with secrets may be called anything. */
async function isText({ mime, bytes }: ArtifactInfo, read: (range: ByteRange) => Promise<Readable>): Promise<boolean> {
  if (TEXT.test(mime) || bytes === 0) return true;
  return !isBinary(wholeEnd(await wholeOf(await read({ start: 0, end: Math.min(bytes, HEAD_BYTES) - 1 }))));
}

function previewRoute(app: App, context: ServerContext): void {
  const { log, redactions } = context;
  app.get(
    "/v1/artifacts/:artifact/preview",
    {
      schema: { params: ArtifactPath },
      config: {
        tag: "artifacts",
        reach: "filtered",
        heavy: "page",
        operation: "previewArtifact",
        summary: "A preview: both ends of a text, JSON laid out, the size of an image, the files of a diff.",
        replies: { 200: ArtifactPreview },
        problems: ["artifact_not_found"],
      },
    },
    async (request) => {
      const info = await found(context, callerOf(request), request.params.artifact);
      const read = async (start: number, end: number) => wholeOf(await openBytes(log, info.artifact_id, { start, end }));
      if (!redactions.applyTo(request.caller)) return previewOf({ ...info, read });
      const owners = (await log.artifacts.owners(info.artifact_id)).map(({ id }) => id);
      return previewOf({ ...info, read, clean: await redactions.cleaner(owners) });
    },
  );
}

function bytesRoute(app: App, context: ServerContext): void {
  const { log, redactions } = context;
  app.get(
    "/v1/artifacts/:artifact",
    {
      schema: { params: ArtifactPath },
      config: {
        tag: "artifacts",
        reach: "filtered",
        operation: "readArtifact",
        summary: "The bytes of an artifact; Range is understood.",
        replies: {
          200: { description: "The bytes", media: "application/octet-stream" },
          206: { description: "The part asked for", media: "application/octet-stream" },
          304: { description: "Not changed; artifacts never change" },
        },
        problems: ["artifact_not_found", "range_not_satisfiable"],
      },
    },
    async (request, reply) => {
      const info = await found(context, callerOf(request), request.params.artifact);
      const read = (range?: ByteRange): Promise<Readable> => openBytes(log, info.artifact_id, range);
      if (redactions.applyTo(request.caller) && (await isText(info, read))) {
        const owners = (await log.artifacts.owners(info.artifact_id)).map(({ id }) => id);
        reply.headers({ "content-security-policy": FOREIGN_POLICY, ...describe(info) });
        return reply.send(await redactions.cleaned(await read(), owners));
      }
      const etag = `"${info.digest}"`;
      reply.headers({ etag, "accept-ranges": "bytes", "content-security-policy": FOREIGN_POLICY, ...describe(info) });
      if (isKnown(request.headers, etag)) return reply.code(304).send();
      const range = rangeOf(request.headers, etag, info.bytes);
      if (range === null) {
        reply.header("content-range", `bytes */${info.bytes}`);
        throw new ProblemError("range_not_satisfiable", `The artifact has ${info.bytes} bytes. Ask for a range within.`);
      }
      const bytes = info.bytes === 0 ? Buffer.alloc(0) : await read(range);
      reply.header("content-length", range ? range.end - range.start + 1 : info.bytes);
      if (range) reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${info.bytes}`);
      return reply.send(bytes);
    },
  );
}

function describe({ mime, name, artifact_id }: ArtifactInfo): Record<string, string> {
  const type = /^[\w.+-]+\/[\w.+-]+(; ?charset=[\w-]+)?$/.test(mime) ? mime : "application/octet-stream";
  const shown = SHOWN.test(type.split(";")[0] ?? "");
  return {
    "content-type": type,
    "content-disposition": `${shown ? "inline" : "attachment"}; filename*=UTF-8''${encodeURIComponent(name ?? artifact_id)}`,
  };
}
