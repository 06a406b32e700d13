/**
 * Files of a session's directory, read: lists, contents by range, search, completion, what git says. Names may be seen by all who see the session; contents need
 * role operate, because nobody can recognise the secrets in a file. Not here: changing them (file-changes).
 */
import Type from "typebox";
import { FileEntry, FileListing, FileSearch, GitDiff, GitStatus, PathCompletions } from "../../schema/files.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { gitDiff, gitStatus } from "../../workspace/files/index.ts";
import { isKnown, rangeOf } from "../byte-conditions.ts";
import type { App, ServerContext } from "../server-context.ts";
import { SessionFiles } from "../session-files.ts";
import { SessionPath } from "./parameters.ts";

const tag = "files";
const PathName = Type.String({ maxLength: 4096, description: "relative to the session's directory" });
const common = ["session_not_found", "directory_not_found", "path_outside", "file_not_found"] as const;

export function fileRoutes(app: App, { manager }: ServerContext): void {
  const files = new SessionFiles(manager);

  app.get(
    "/v1/sessions/:id/fs/list",
    {
      schema: {
        params: SessionPath,
        querystring: Type.Object({
          path: Type.Optional(PathName),
          limit: Type.Optional(
            Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 10_000, default: 1_000 }),
          ),
          after: Type.Optional(Type.String({ maxLength: 4096, description: "`next` of the page before" })),
        }),
      },
      config: {
        tag,
        heavy: "page",
        operation: "listFiles",
        summary: "What lies in a directory, by name. Links are listed as links.",
        replies: { 200: FileListing },
        problems: [...common, "not_a_directory"],
      },
    },
    async ({ params, query: { path = "", ...page } }) => (await files.open(params.id)).list(path, page),
  );

  app.get(
    "/v1/sessions/:id/fs/stat",
    {
      schema: {
        params: SessionPath,
        querystring: Type.Object({
          path: PathName,
          follow: Type.Optional(Type.Boolean({ description: "false: of a link, the link itself" })),
        }),
      },
      config: { tag, operation: "statFile", summary: "Facts about a path.", replies: { 200: FileEntry }, problems: common },
    },
    async ({ params, query: { path, follow = true } }) => (await files.open(params.id)).stat(path, { follow }),
  );

  app.get(
    "/v1/sessions/:id/fs/read",
    {
      schema: { params: SessionPath, querystring: Type.Object({ path: PathName }) },
      config: {
        tag,
        role: "operate",
        heavy: "page",
        operation: "readFile",
        summary: "The bytes of a file, or a range of them.",
        description:
          "Takes Range (one range of bytes), If-Range and If-None-Match; the ETag is that of `stat`, for `if_match` of a write.",
        replies: {
          200: { description: "The file", media: "application/octet-stream" },
          206: { description: "A range of it", media: "application/octet-stream" },
          304: { description: "Not changed" },
        },
        problems: [...common, "is_a_directory", "not_a_file", "range_not_satisfiable", "file_forbidden"],
      },
    },
    async (request, reply) => {
      const file = await (await files.open(request.params.id)).open(request.query.path);
      const { etag, size } = file.entry;
      reply.headers({ etag, "accept-ranges": "bytes", "cache-control": "no-cache", "content-disposition": "attachment" });
      if (isKnown(request.headers, etag)) {
        await file.close();
        return reply.code(304).send();
      }
      const range = rangeOf(request.headers, etag, size);
      if (range === null) {
        await file.close();
        reply.header("content-range", `bytes */${size}`);
        throw new ProblemError("range_not_satisfiable", `The file has ${size} bytes. Ask for a range within.`);
      }
      reply.type("application/octet-stream").header("content-length", range ? range.end - range.start + 1 : size);
      if (range) reply.code(206).header("content-range", `bytes ${range.start}-${range.end}/${size}`);
      return reply.send(file.read(range));
    },
  );

  app.get(
    "/v1/sessions/:id/fs/search",
    {
      schema: {
        params: SessionPath,
        querystring: Type.Object({
          q: Type.String({ description: "Text to look for.", minLength: 1, maxLength: 1_000 }),
          regex: Type.Optional(Type.Boolean({ description: "a POSIX extended regular expression" })),
          ignore_case: Type.Optional(Type.Boolean({ description: "Whether upper and lower case are the same." })),
          path: Type.Optional(PathName),
          glob: Type.Optional(Type.String({ maxLength: 200, description: "only files like this, such as *.ts" })),
          limit: Type.Optional(
            Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 5_000, default: 200 }),
          ),
        }),
      },
      config: {
        tag,
        role: "operate",
        heavy: "whole",
        operation: "searchFiles",
        summary: "Text in files that git does not ignore.",
        replies: { 200: FileSearch },
        problems: [...common, "git_failed"],
      },
    },
    async ({ params, query: { q, ...options } }, reply) => {
      // Nobody waits for a search whose caller has gone.
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return (await files.open(params.id)).search(q, { ...options, signal: gone.signal });
    },
  );

  app.get(
    "/v1/sessions/:id/fs/complete",
    {
      schema: {
        params: SessionPath,
        querystring: Type.Object({
          q: Type.String({ maxLength: 500, description: "letters that occur in this order" }),
          limit: Type.Optional(
            Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 200, default: 20 }),
          ),
        }),
      },
      config: {
        tag,
        operation: "completePath",
        summary: "Paths for `@path` in a message, the best first.",
        replies: { 200: PathCompletions },
        problems: ["session_not_found", "directory_not_found"],
      },
    },
    async ({ params, query }) => ({ paths: await files.complete(params.id, query.q, query.limit) }),
  );

  app.get(
    "/v1/sessions/:id/git/status",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        heavy: "page",
        operation: "getGitStatus",
        summary: "Git status of the session's directory.",
        replies: { 200: GitStatus },
        problems: ["session_not_found", "directory_not_found", "not_a_repository", "git_failed"],
      },
    },
    async ({ params }) => gitStatus((await files.open(params.id)).root),
  );

  app.get(
    "/v1/sessions/:id/git/diff",
    {
      schema: {
        params: SessionPath,
        querystring: Type.Object({
          staged: Type.Optional(Type.Boolean({ description: "what is staged, against HEAD; default: what is not staged" })),
          base: Type.Optional(
            Type.String({ minLength: 1, maxLength: 200, description: "everything against this commit instead" }),
          ),
          path: Type.Optional(PathName),
        }),
      },
      config: {
        tag,
        role: "operate",
        heavy: "page",
        operation: "getGitDiff",
        summary: "A unified diff of tracked files; at most 5 MiB.",
        replies: { 200: GitDiff },
        problems: ["session_not_found", "directory_not_found", "path_outside", "not_a_repository", "git_failed"],
      },
    },
    async ({ params, query: { path, ...options } }) => {
      const opened = await files.open(params.id);
      if (path !== undefined && (path.startsWith("/") || path.split("/").includes(".."))) throw new ProblemError("path_outside");
      return gitDiff(opened.root, { ...options, ...(path === undefined ? {} : { paths: [path] }) });
    },
  );
}
