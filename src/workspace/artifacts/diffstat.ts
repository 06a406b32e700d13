/** How many lines a unified diff adds to and removes from each file. */
export type FileStat = { path: string; added: number; removed: number };

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
const MAX_FILES = 500;

export const looksLikeDiff = (head: string): boolean =>
  /^(diff --git |--- |Index: )/m.test(head.slice(0, 2_000)) && /^(@@ -\d|Binary files |diff --git )/m.test(head);

/** Lines are counted inside hunks alone, so that a line of text that looks like a header is one. */
export function diffstat(text: string): FileStat[] {
  const files: FileStat[] = [];
  let before = "";
  let [old, fresh] = [0, 0];
  for (const line of text.split("\n")) {
    const file = files.at(-1);
    if (old > 0 || fresh > 0) {
      if (line.startsWith("+")) {
        fresh -= 1;
        if (file) file.added += 1;
      } else if (line.startsWith("-")) {
        old -= 1;
        if (file) file.removed += 1;
      } else if (!line.startsWith("\\")) {
        old -= 1;
        fresh -= 1;
      }
      continue;
    }
    const hunk = HUNK.exec(line);
    if (hunk) [old, fresh] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
    else if (line.startsWith("--- ")) before = pathOf(line);
    else if (line.startsWith("+++ ") && files.length < MAX_FILES) {
      const after = pathOf(line);
      files.push({ path: after === "/dev/null" ? before : after, added: 0, removed: 0 });
    }
  }
  return files;
}

const pathOf = (line: string): string =>
  line
    .slice(4)
    .replace(/\t.*$/, "")
    .replace(/^[ab]\//, "");
