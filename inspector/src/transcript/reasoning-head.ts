// What a folded thought shows of itself: its first words as plain text, and nothing of a private one.

export function reasoningHead(text: string, hidden: boolean, streaming: boolean): { summary: string; preview: string | null } {
  if (hidden) return { summary: "Private reasoning", preview: null };
  return { summary: streaming ? "Thinking" : "Thought", preview: plainPreview(text.slice(streaming ? -160 : 0)) };
}

/** One line of plain text: marks of Markdown are no words. */
export const plainPreview = (text: string): string =>
  text
    .slice(0, 240)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^\s*(?:#{1,6}|[-*+>]|\d+\.)\s+/gm, "")
    .replace(/\*\*|__|[`*~]/g, "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 160);
