/** Where ACP agents keep their sessions, so that they can be carried. Not Gemini: the folder of a project has another name on each machine. */
import { homedir } from "node:os";
import { join } from "node:path";
import { carriedFiles } from "../../kit/carry.ts";

const home = (env: Readonly<Record<string, string>>): string => env.HOME || homedir();

export const qwenChats = carriedFiles(
  "home",
  ({ environment }) => environment.QWEN_RUNTIME_DIR || join(home(environment), ".qwen"),
  (id) => [["projects", /./, "chats", `${id}.jsonl`]],
);

/** Without its locks: they name processes of this machine. */
const NO_LOCK = /^(?!\.|inuse\.)/;

export const copilotState = carriedFiles(
  "home",
  ({ environment }) => environment.COPILOT_HOME || join(home(environment), ".copilot"),
  (id) => [
    ["session-state", id, NO_LOCK],
    ["session-state", id, NO_LOCK, "**"],
  ],
);
