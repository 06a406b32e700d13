/** One line that says what an item is about, for lists: the end of its text, or what its tool call does. */
import type { Item } from "../../../src/schema/item.ts";
import { speakerOf } from "../../../src/schema/speaker.ts";
import { fieldsOf, questionsIn, type ToolCall } from "../transcript/tools/arguments.ts";
import { describe, type Stage } from "../transcript/tools/describe.ts";

export type LastLine = {
  text: string;
  by: "user" | "agent" | "tool";
  /** What to say instead while a person is asked whether the call may be made. */
  asked?: string;
};

const LONGEST = 200;

export function lineOf(item: Item): LastLine | null {
  for (const part of item.content.toReversed()) {
    if (part.type === "text" && part.text.trim() !== "")
      return { text: lastLineOf(part.text), by: speakerOf(item) === "user" ? "user" : "agent" };
    if (part.type === "refusal") return { text: lastLineOf(part.text), by: "agent" };
    if (part.type === "tool_call") return callLine(part, item.status);
  }
  return null;
}

/** The words of its card; of a question what it asks. */
function callLine(part: ToolCall, status: Item["status"]): LastLine {
  const [question] = part.tool_kind === "question" ? questionsIn(fieldsOf(part.arguments)) : [];
  const at = (stage: Stage): string => {
    const { verb, subject } = describe(part, stage, "");
    return (question?.prompt ?? `${verb} ${subject}`.trim()).slice(0, LONGEST);
  };
  if (status === "in_progress") return { text: at("running"), asked: at("asked"), by: "tool" };
  return { text: at(status === "failed" ? "failed" : "done"), by: "tool" };
}

/** The last line of words: not of a table or of code, unless there is nothing else. Of a long one only the end, from the beginning of a sentence or at least of a word. */
export function lastLineOf(text: string): string {
  const lines = text.split("\n");
  const line = plain(linesOfWords(lines).at(-1) ?? lines.findLast((each) => plain(each) !== "") ?? "");
  if (line.length <= LONGEST) return line;
  const end = line.slice(-LONGEST);
  const sentence = end.search(/(?<=[.!?]\s)\S/);
  return sentence >= 0 ? end.slice(sentence) : `… ${end.slice(end.indexOf(" ") + 1)}`;
}

const plain = (line: string): string => line.replace(/^[#>\-*\s|]+|[`*]|(?<!\w)_|_(?!\w)/g, "").trim();

function linesOfWords(lines: readonly string[]): string[] {
  let code = false;
  return lines.filter((line) => {
    if (/^\s*(?:```|~~~)/.test(line)) {
      code = !code;
      return false;
    }
    return !code && !/^\s*\|/.test(line) && plain(line) !== "";
  });
}
