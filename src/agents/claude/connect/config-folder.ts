/** Where Claude Code keeps what is its own: settings, credentials, the conversations of all projects. */
import { homedir } from "node:os";
import { join } from "node:path";
import { carriedFiles } from "../../kit/carry.ts";

export const configFolder = (env: Readonly<Record<string, string>>): string =>
  env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), ".claude");

/** A conversation is a file of its project's folder; what its helpers said and what was too large for it lie in a folder of its name. */
export const carriedConversation = carriedFiles(
  "home",
  ({ environment }) => configFolder(environment),
  (id) => [
    ["projects", /./, `${id}.jsonl`],
    ["projects", /./, id, "**"],
  ],
);
