/** A session chosen from a list, by a person who named none. Loaded only then. */
import { autocomplete, isCancel } from "@clack/prompts";
import type { Dragoman } from "../client/dragoman.ts";
import { type Terminal, UsageError } from "./command.ts";
import { exactLine, terminalText } from "./output.ts";
import { statusWord } from "./status-word.ts";
import { ago } from "./style.ts";
import { columnsOf, cut } from "./text-layout.ts";

const MOST = 200;
const ROWS = 10;
/** What the picker itself puts before a line. */
const MARGIN = 8;

/** Undefined: left without a choice. */
export async function pickSession(dragoman: Dragoman, terminal: Terminal): Promise<string | undefined> {
  const { sessions } = await dragoman.sessions({ order: "updated", ended: "exclude", limit: MOST });
  if (sessions.length === 0) throw new UsageError("the session is missing, and none is open");
  const columns = columnsOf(terminal.stderr, terminal.env) - MARGIN;
  const picked = await autocomplete({
    message: "Which session?",
    placeholder: "type to search",
    maxItems: ROWS,
    output: terminal.stderr.device as NodeJS.WriteStream,
    options: sessions.map((each) => ({
      value: each.session_id,
      label: terminalText(
        cut(
          exactLine(
            `${each.title ?? each.session_id}  ${each.agent}, ${statusWord(each)}, ${ago(each.updated_at)}, ${each.directory}`,
          ),
          columns,
        ),
      ),
    })),
  });
  return isCancel(picked) ? undefined : picked;
}
