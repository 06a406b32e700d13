/** The Agent Skills there are for a directory, and how each agent sees them. */
import { realpath } from "node:fs/promises";
import Type from "typebox";
import { ProblemError } from "../../schema/problem-codes.ts";
import { SkillList } from "../../schema/skill.ts";
import type { RouteModule } from "../server-context.ts";

export type SkillLister = { list(directory: string | null): Promise<SkillList> };

export const skillRoutes =
  (skills: SkillLister): RouteModule =>
  (app) => {
    app.get(
      "/v1/skills",
      {
        schema: {
          querystring: Type.Object({
            directory: Type.Optional(
              Type.String({ minLength: 1, maxLength: 4096, description: "absolute; absent: only the user's own" }),
            ),
          }),
        },
        config: {
          tag: "skills",
          reach: "all",
          heavy: "page",
          operation: "listSkills",
          summary: "The skills there are for a directory, the first of a name winning, and how each agent sees each.",
          replies: { 200: SkillList },
          problems: ["directory_not_found"],
        },
      },
      async ({ query }) => {
        const { directory } = query;
        if (directory === undefined) return skills.list(null);
        const real = directory.startsWith("/") ? await realpath(directory).catch(() => null) : null;
        if (real === null)
          throw new ProblemError(
            "directory_not_found",
            `${directory} is not the absolute path of a directory on the daemon's machine.`,
          );
        return skills.list(real);
      },
    );
  };
