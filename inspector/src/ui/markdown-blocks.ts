// Cuts markdown into blocks that can be rendered apart: at blank lines, but never inside a fence, a list or a table.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST = /^\s*(?:[-*+]|\d{1,9}[.)])\s/;

export function markdownBlocks(text: string): string[] {
  const blocks: string[] = [];
  let block: string[] = [];
  let fence: string | null = null;
  let blank = false;
  for (const line of text.split("\n")) {
    const mark = FENCE.exec(line)?.[1];
    if (fence !== null) {
      block.push(line);
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
      continue;
    }
    const goesOn = LIST.test(block[0] ?? "") && (LIST.test(line) || /^\s/.test(line));
    if (blank && line.trim() !== "" && block.length > 0 && !goesOn) {
      blocks.push(block.join("\n"));
      block = [];
    }
    if (mark) fence = mark;
    blank = line.trim() === "";
    block.push(line);
  }
  if (block.length > 0) blocks.push(block.join("\n"));
  return blocks;
}
