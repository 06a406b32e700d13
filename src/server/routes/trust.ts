/**
 * The directories whose settings agents may load. Every change needs a person: role operate, and never an agent (by the names of the operations). Not here:
 * the question before a session's first start, which is a permission of that session.
 */
import { stat } from "node:fs/promises";
import Type from "typebox";
import { ProblemError } from "../../schema/problem-codes.ts";
import { TrustDirectory, TrustedDirectory, TrustList } from "../../schema/session.ts";
import type { TrustStore } from "../../trust/trust-store.ts";
import type { RouteModule } from "../server-context.ts";

const tag = "trust";

export const trustRoutes =
  (trust: TrustStore): RouteModule =>
  (app) => {
    app.get(
      "/v1/trust",
      { config: { tag, reach: "all", operation: "listTrust", summary: "The trusted directories.", replies: { 200: TrustList } } },
      async () => ({ directories: trust.list() }),
    );

    app.post(
      "/v1/trust",
      {
        schema: { body: TrustDirectory },
        config: {
          tag,
          role: "operate",
          reach: "all",
          operation: "trustDirectory",
          summary: "Trust a directory: agents may load its settings, hooks, MCP servers and plugins from their next start on.",
          replies: { 201: TrustedDirectory },
          problems: ["directory_not_found", "disk_full"],
        },
      },
      async ({ body }, reply) => {
        const found = body.directory.startsWith("/") && (await stat(body.directory).catch(() => null))?.isDirectory();
        if (!found)
          throw new ProblemError(
            "directory_not_found",
            `${body.directory} is not the absolute path of a directory on the daemon's machine.`,
          );
        return reply.code(201).send(trust.add(body.directory));
      },
    );

    app.delete(
      "/v1/trust",
      {
        schema: {
          querystring: Type.Object({
            directory: Type.String({ description: "Absolute path on the daemon's machine.", minLength: 1 }),
          }),
        },
        config: {
          tag,
          role: "operate",
          reach: "all",
          operation: "distrustDirectory",
          summary: "Stop trusting a directory. Running agents keep what they have loaded until their next start.",
          replies: { 204: { description: "Done; also when it was not trusted" } },
          problems: ["trust_fixed", "disk_full"],
        },
      },
      async ({ query }, reply) => {
        if (trust.remove(query.directory) === "configured") throw new ProblemError("trust_fixed");
        return reply.code(204).send();
      },
    );
  };
