// Items as a model can read them: short, in order, nothing that takes its context for nothing.
import type { ContentPart } from "../schema/content.ts";
import type { Item } from "../schema/item.ts";
import { speakerOf } from "../schema/speaker.ts";

export type Line = { item_id: string; kind: string; role: string | null; status: string; text: string; parent_id?: string };

export const lineOf = (item: Item, longest: number): Line => ({
  item_id: item.item_id,
  kind: item.kind,
  role: speakerOf(item),
  status: item.status,
  text: cut(item.content.map(partText).join("\n"), longest),
  ...(item.parent_id === null ? {} : { parent_id: item.parent_id }),
});

const cut = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}… (${text.length - longest} characters more)`;

function partText(part: ContentPart): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "reasoning":
      return `(thinking) ${part.text}`;
    case "refusal":
      return `(refusal) ${part.text}`;
    case "code":
      return part.code;
    case "tool_call":
      return `${part.name} ${part.arguments}`;
    case "tool_result":
      return `${part.is_error ? "(failed) " : ""}${part.output}`;
    case "file_ref":
      return `(${part.action} ${part.path})${part.diff ? `\n${part.diff}` : ""}`;
    case "image":
    case "audio":
      return `(${part.type} ${part.path})`;
    case "plan":
      return part.entries.map(({ status, text }) => `[${status}] ${text}`).join("\n");
    case "resource":
      return part.text ?? part.uri;
    case "status":
      return `${part.label}${part.detail ? `: ${part.detail}` : ""}`;
    case "json":
      return JSON.stringify(part.json);
    default:
      return part satisfies never;
  }
}
