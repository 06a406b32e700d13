/** Directories of the daemon's machine, for a field where a person names one. Names only: what lies in them needs a session. */
import Type from "typebox";
import { directoriesLike } from "../../workspace/files/index.ts";
import { realDirectory } from "../access.ts";
import type { App, ServerContext } from "../server-context.ts";
import { mayCreateIn } from "../token.ts";
import { callerOf } from "./auth.ts";

const DirectoryQuery = Type.Object({
  path: Type.Optional(
    Type.String({
      maxLength: 4096,
      pattern: "^[^\\0]*$",
      description:
        "How the path begins; with a slash at its end, what lies below it. `~` is the home directory. Default: the daemon's directory.",
    }),
  ),
});
const Directories = Type.Object(
  { directories: Type.Array(Type.String(), { description: "Absolute paths by name, at most 50." }) },
  { title: "Directories" },
);

export function directoryRoutes(app: App, { defaultDirectory = process.cwd() }: ServerContext): void {
  app.get(
    "/v1/directories",
    {
      schema: { querystring: DirectoryQuery },
      config: {
        tag: "files",
        role: "operate",
        reach: "filtered",
        operation: "listDirectories",
        summary:
          "Directories of the daemon's machine whose path begins so. A token with a scope sees those it may create sessions in.",
        replies: { 200: Directories },
      },
    },
    async (request) => {
      const { scope } = callerOf(request);
      const found = await directoriesLike(request.query.path ?? "", defaultDirectory);
      // Where a link leads decides, as it does when a session is created there.
      const seen = (path: string): boolean => mayCreateIn(scope, realDirectory(path) ?? "");
      return { directories: scope === null ? found : found.filter(seen) };
    },
  );
}
