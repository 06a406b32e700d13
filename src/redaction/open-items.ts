/**
 * Items in progress for a reader who may not see secrets. Their texts end where the agent was: what could be the beginning of a secret there is left out, as
 * it is held back from the deltas of such a reader. Secrets that are whole are replaced with everything else that is sent.
 */
import type { ContentPart } from "../schema/content.ts";
import type { Item } from "../schema/item.ts";
import { PieceRedactor } from "./piece-redactor.ts";
import type { Redactor } from "./redactor.ts";

export function withoutBegunSecrets(item: Item, redactor: Redactor): Item {
  if (item.status !== "in_progress") return item;
  const shown = (text: string): string => new PieceRedactor(redactor).add(text);
  return { ...item, content: item.content.map((part) => cutPart(part, shown)) };
}

function cutPart(part: ContentPart, shown: (text: string) => string): ContentPart {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return { ...part, text: shown(part.text) };
    case "tool_call":
      return { ...part, arguments: shown(part.arguments) };
    case "tool_result":
      return { ...part, output: shown(part.output) };
    default:
      return part;
  }
}
