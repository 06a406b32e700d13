// Stored bytes, whole or by range. They come from agents: a browser may show them, never run them.
import Type from "typebox";
import type { ArtifactInfo } from "../../log/contract.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { ArtifactReach } from "../artifact-reach.ts";
import { FOREIGN_POLICY } from "../security-headers.ts";
import type { App, ServerContext } from "../server-context.ts";
import { callerOf } from "./auth.ts";

const ArtifactPath = Type.Object({ artifact: Type.String({ maxLength: 128 }) });
const SHOWN = /^(image\/(png|jpeg|gif|webp|avif|svg\+xml)|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/json)$/;

const TEXT = /^(text\/|application\/(json|xml|javascript|x-ndjson))/;

export function artifactRoutes(app: App, { log, redactions }: ServerContext): void {
  const reach = new ArtifactReach(log);
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
      const info = await log.artifacts.stat(request.params.artifact);
      const { scope } = callerOf(request);
      if (!info || (scope !== null && !(await reach.reaches(scope, info.artifact_id))))
        throw new ProblemError("artifact_not_found");
      if (redactions.applyTo(request.caller) && TEXT.test(info.mime)) {
        const text = await log.artifacts.openRead(info.artifact_id);
        if (!text) throw new ProblemError("artifact_not_found", "The artifact's file is gone from the data directory.");
        reply.headers({ "content-security-policy": FOREIGN_POLICY, ...describe(info) });
        return reply.send(text.pipe(await redactions.transform()));
      }
      const etag = `"${info.digest}"`;
      reply.headers({ etag, "accept-ranges": "bytes", "content-security-policy": FOREIGN_POLICY, ...describe(info) });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      const fresh = request.headers["if-range"] === undefined || request.headers["if-range"] === etag;
      const range = fresh ? rangeOf(request.headers.range, info.bytes) : undefined;
      if (range === null) {
        reply.header("content-range", `bytes */${info.bytes}`);
        throw new ProblemError("range_not_satisfiable", `The artifact has ${info.bytes} bytes. Ask for a range within.`);
      }
      const bytes = info.bytes === 0 ? Buffer.alloc(0) : await log.artifacts.openRead(info.artifact_id, range ?? {});
      if (bytes === undefined)
        throw new ProblemError("artifact_not_found", "The artifact's file is gone from the data directory.");
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

/** Undefined: the whole, also for what is not understood (several ranges, other units). Null: outside. */
function rangeOf(header: string | undefined, size: number): { start: number; end: number } | undefined | null {
  const match = /^bytes=([0-9]*)-([0-9]*)$/.exec(header ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return undefined;
  const [, first = "", last = ""] = match;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < start) return undefined;
  return start > end ? null : { start, end };
}
