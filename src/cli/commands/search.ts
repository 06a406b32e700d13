// `search`: what was said and done, in all sessions.
import type { SearchHit } from "../../schema/search.ts";
import { type Command, EXIT, flag, need, text, UsageError, wholeNumber } from "../command.ts";
import { exactLine } from "../output.ts";
import { type Paint, paintFor } from "../style.ts";
import { cut, tableColumns, wrap } from "../text-layout.ts";

const INDENT = "  ";

export const search: Command = {
  name: "search",
  usage: "search <words…>",
  about: "search the text of all sessions",
  help: `  All words must occur; "words in quotes" must follow each other, and the last word may be a beginning. The newest comes first.
  Exit code: 0 something was found, 1 nothing was.`,
  options: {
    agent: { type: "string", value: "<agent>", about: "only in sessions of this agent" },
    directory: { type: "string", short: "C", value: "<dir>", about: "only in sessions that work there" },
    session: { type: "string", value: "<session>", about: "only in this session" },
    kind: {
      type: "string",
      value: "<kinds>",
      about: "only user, assistant, reasoning, tool, request or error; several with commas",
    },
    limit: { type: "string", value: "<n>", about: "at most so many (default: 20)" },
  },
  async run({ words, values, daemon, json, print, say, terminal }) {
    need(words, 0, "what to look for");
    const limit = wholeNumber(text(values, "limit") ?? "20", "limit", 1);
    if (limit > 100) throw new UsageError("--limit can be 100 at most");
    const found = await (await daemon()).search(words.join(" "), {
      limit,
      ...named(values, ["agent", "directory", "session", "kind"]),
    });
    if (flag(values, "json")) for (const hit of found.hits) json(hit);
    else {
      const paint = paintFor(terminal.stdout, terminal.env);
      const columns = tableColumns(terminal.stdout, terminal.env);
      for (const hit of found.hits) print(hitText(hit, paint, columns));
      if (found.hits.length === 0) say("Nothing was found.");
      else if (found.next !== null) say("There is more: name further words, or raise --limit.");
    }
    if (found.index.state !== "ready")
      say(
        found.index.state === "building"
          ? "The index is still being built: something may be missing."
          : `The index cannot be used: ${found.index.message ?? "see the daemon's log"}.`,
      );
    return found.hits.length > 0 ? EXIT.ok : EXIT.failed;
  },
};

const named = (values: Parameters<typeof text>[0], names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names
      .flatMap((name) => [[name, text(values, name)] as const])
      .filter((pair): pair is [string, string] => pair[1] !== undefined),
  );

/** Lines end between words, where a screen has an end at all. */
export function hitText(hit: SearchHit, paint: Paint, columns: number): string {
  const when = new Date(hit.time).toLocaleString("sv-SE").slice(0, 16);
  const head = [hit.session_id, hit.agent, when, `#${hit.sequence}`, hit.title ?? ""].filter(Boolean).join("  ");
  const said = wrap(`${hit.kind}: ${marked(hit, paint)}`, columns - INDENT.length, INDENT);
  return [paint.dim(cut(exactLine(head), columns)), `${INDENT}${said[0] ?? ""}`, ...said.slice(1)].join("\n");
}

/** Each piece is made harmless before it is painted. */
function marked({ snippet, highlights }: SearchHit, paint: Paint): string {
  let out = "";
  let at = 0;
  for (const { start, end } of highlights) {
    out += exactLine(snippet.slice(at, start)) + paint.bold(exactLine(snippet.slice(start, end)));
    at = end;
  }
  return out + exactLine(snippet.slice(at));
}
