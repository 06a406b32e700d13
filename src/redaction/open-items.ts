/**
 * Items in progress for a reader who may not see secrets. Their texts end where the agent was: what could be the beginning of a secret there is left out, as
 * it is held back from the deltas of such a reader. Secrets that are whole are replaced with everything else that is sent.
 */
import type { ContentPart } from "../schema/content.ts";
import type { Item } from "../schema/item.ts";
import { PieceRedactor } from "./piece-redactor.ts";
import type { Redactor } from "./redactor.ts";

export function withoutBegunSecrets(item: Item, redactor: Redactor): Item {
  return begunItem(item, redactor).item;
}

/** The item as it may be shown, and what is held back of its parts: their next pieces go on from there. */
export function begunItem(item: Item, redactor: Redactor): { item: Item; parts: Map<number, PieceRedactor> } {
  const parts = new Map<number, PieceRedactor>();
  if (item.status !== "in_progress") return { item, parts };
  const shown = (text: string, index: number): string => {
    const pieces = new PieceRedactor(redactor);
    parts.set(index, pieces);
    return pieces.add(text);
  };
  const content = item.content.map((part, index) => cutPart(part, (text) => shown(text, index)));
  return { item: { ...item, content }, parts };
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
