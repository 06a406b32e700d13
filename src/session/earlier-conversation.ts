/**
 * What was said in a session up to one of its events, as a text for the system prompt of a session that goes on from there. For agents that cannot branch their
 * own conversation at a point in the middle.
 */
import type { Log } from "../log/contract.ts";
import type { Item } from "../schema/item.ts";
import { speakerOf } from "../schema/speaker.ts";
import { readItemPage } from "./item-pages.ts";
import type { Snapshots } from "./snapshots.ts";
import { StateReader } from "./state-reader.ts";

const ITEMS = 400;
/** Some agents take it as one argument of a command line, which is limited to 128 KiB. */
const MAX_CHARS = 60_000;
const OUTPUT_CHARS = 2_000;

/** Null: nothing was said before. The newest is kept when it is too long. */
export async function earlierConversation(log: Log, snapshots: Snapshots, id: string, sequence: number): Promise<string | null> {
  const stream = await log.stream("session", id);
  if (!stream || sequence <= 0) return null;
  const page = await readItemPage(stream, new StateReader(snapshots), { at: sequence, limit: ITEMS, order: "desc" });
  const lines: string[] = [];
  let chars = 0;
  let left = page.has_more;
  for (const item of page.items) {
    const line = lineOf(item);
    if (line === null) continue;
    chars += line.length;
    if (chars > MAX_CHARS) {
      left = true;
      break;
    }
    lines.unshift(line);
  }
  if (lines.length === 0) return null;
  const head = "This session goes on from an earlier one. What was said there, as it happened; it is history, not a new request:";
  return [head, ...(left ? ["(The beginning is left out.)"] : []), ...lines].join("\n\n");
}

const SPEAKERS = { user: "User", task: "Task of a sub-agent" } as const;

export function lineOf(item: Item): string | null {
  const { kind, content } = item;
  const texts = content.flatMap((part) => {
    switch (part.type) {
      case "text":
        return [part.text];
      case "tool_call":
        return [`${part.name} ${cut(part.arguments)}`];
      case "tool_result":
        return [`${part.is_error ? "(failed) " : ""}${cut(part.output)}`];
      case "file_ref":
        return [`(${part.action} ${part.path})`];
      default:
        return [];
    }
  });
  const text = texts.join("\n").trim();
  if (text === "") return null;
  const speaker = speakerOf(item);
  const message = speaker === "user" || speaker === "task" ? SPEAKERS[speaker] : "Assistant";
  const who = { message, tool_call: "Tool call", tool_result: "Tool result" };
  return kind in who ? `${who[kind as keyof typeof who]}: ${text}` : null;
}

const cut = (text: string): string =>
  text.length <= OUTPUT_CHARS ? text : `${text.slice(0, OUTPUT_CHARS)}… (${text.length - OUTPUT_CHARS} characters more)`;
