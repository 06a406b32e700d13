/** Files of a session's directory, changed: written whole or not at all, moved, deleted, directories made; and a stream that reports changes. */

import type { IncomingHttpHeaders } from "node:http";
import { DeleteFile, FileEntry, MakeDirectory, MoveFile, WriteFile } from "../../schema/files.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import type { App, ServerContext } from "../server-context.ts";
import { SessionFiles } from "../session-files.ts";
import { namedEvent, SseStream } from "../sse/stream.ts";
import { eventStream } from "./events.ts";
import { SessionPath } from "./parameters.ts";

const tag = "files";
const common = ["session_not_found", "directory_not_found", "path_outside", "file_forbidden", "disk_full"] as const;

export function fileChangeRoutes(app: App, { manager, streams }: ServerContext): void {
  const files = new SessionFiles(manager);

  app.post(
    "/v1/sessions/:id/fs/write",
    {
      schema: { params: SessionPath, body: WriteFile },
      config: {
        tag,
        largeBody: true,
        withoutLog: true,
        operation: "writeFile",
        summary: "Write a file: readers see the old one or the new one, never a part.",
        description: "The headers If-Match (an etag) and If-None-Match (`*`) mean the same as `if_match` and `create_only`.",
        replies: { 200: FileEntry },
        problems: [...common, "is_a_directory", "not_a_file", "file_exists", "file_changed", "file_not_found"],
      },
    },
    async ({ params, headers, body: { path, text, base64, ...options } }) => {
      if ((text === undefined) === (base64 === undefined))
        throw new ProblemError("invalid_request", "Give either text or base64.");
      if (base64 !== undefined && base64.length % 4 !== 0)
        throw new ProblemError("invalid_request", "The base64 was cut: its length must be a multiple of four.");
      const content = base64 === undefined ? (text ?? "") : Buffer.from(base64, "base64");
      return (await files.open(params.id)).write(path, content, { ...conditionsOf(headers), ...options });
    },
  );

  app.post(
    "/v1/sessions/:id/fs/mkdir",
    {
      schema: { params: SessionPath, body: MakeDirectory },
      config: {
        tag,
        withoutLog: true,
        operation: "makeDirectory",
        summary: "Make a directory; with `parents` also those above it.",
        replies: { 200: FileEntry },
        problems: [...common, "file_exists", "file_not_found", "not_a_directory"],
      },
    },
    async ({ params, body: { path, ...options } }) => (await files.open(params.id)).mkdir(path, options),
  );

  app.post(
    "/v1/sessions/:id/fs/move",
    {
      schema: { params: SessionPath, body: MoveFile },
      config: {
        tag,
        withoutLog: true,
        operation: "moveFile",
        summary: "Move a file or directory. A link is moved as a link.",
        replies: { 200: FileEntry },
        problems: [...common, "file_exists", "file_not_found"],
      },
    },
    async ({ params, body: { from, to, ...options } }) => (await files.open(params.id)).move(from, to, options),
  );

  app.post(
    "/v1/sessions/:id/fs/delete",
    {
      schema: { params: SessionPath, body: DeleteFile },
      config: {
        tag,
        withoutLog: true,
        operation: "deleteFile",
        summary: "Delete a file, a link (never what it leads to), or a directory.",
        replies: { 204: { description: "Done" } },
        problems: [...common, "file_not_found", "directory_not_empty"],
      },
    },
    async ({ params, body: { path, ...options } }, reply) => {
      await (await files.open(params.id)).delete(path, options);
      return reply.code(204).send();
    },
  );

  app.get(
    "/v1/sessions/:id/fs/watch",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        role: "operate",
        operation: "watchFiles",
        summary: "Watch which files change, at most every 100 ms.",
        description:
          "`event: ready` once it watches, then `event: change` with {paths, overflowed}. What git ignores is not watched.",
        replies: { 200: eventStream },
        problems: ["session_not_found", "directory_not_found", "too_many_subscribers"],
      },
    },
    async (request, reply) => {
      const opened = await files.open(request.params.id);
      streams.mustHaveRoom(request.caller);
      const sse = new SseStream(request, reply, streams);
      const watch = await opened.watch((changes) => void sse.write(namedEvent("change", changes)));
      sse.onClose(() => watch.close());
      sse.write(namedEvent("ready", { failure: watch.failure }));
    },
  );
}

/** The headers of HTTP that mean `if_match` and `create_only`: a client that sends one must not have it ignored. */
function conditionsOf(headers: IncomingHttpHeaders): { if_match?: string; create_only?: true } {
  const [match, none] = [headers["if-match"], headers["if-none-match"]];
  if ((match ?? "").includes(",") || (none !== undefined && none !== "*"))
    throw new ProblemError("invalid_request", "If-Match takes one etag here, and If-None-Match takes `*`.");
  return { ...(match === undefined ? {} : { if_match: match }), ...(none === undefined ? {} : { create_only: true }) };
}
