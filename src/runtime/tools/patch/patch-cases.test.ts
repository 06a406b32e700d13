/** What apply_patch does with whole patches: files before, the patch, files after; or why it is refused, with every file as it was. */
import { afterEach, describe, expect, it } from "vitest";
import { applyPatchTool } from "../apply-patch.ts";
import { TestDirectory } from "../test-tools.ts";

type Files = Record<string, string>;
type Case = readonly [name: string, before: Files, lines: readonly string[], after: Files | RegExp];

const POEM = "one\ntwo\nthree\nfour\nfive\n";
const CASES: readonly Case[] = [
  ["a new file", {}, ["*** Add File: n.txt", "+hello"], { "n.txt": "hello\n" }],
  ["a new file in new folders", {}, ["*** Add File: a/b/n.txt", "+x"], { "a/b/n.txt": "x\n" }],
  ["a new file with empty lines", {}, ["*** Add File: n.txt", "+", "+x", "+"], { "n.txt": "\nx\n\n" }],
  ["a line that looks like a sign", {}, ["*** Add File: n.txt", "++1", "+-2", "+@@"], { "n.txt": "+1\n-2\n@@\n" }],
  ["a deleted file", { "a.txt": "x\n", "b.txt": "y\n" }, ["*** Delete File: a.txt"], { "b.txt": "y\n" }],
  [
    "one line changed",
    { "p.txt": POEM },
    ["*** Update File: p.txt", "@@", " two", "-three", "+3", " four"],
    { "p.txt": POEM.replace("three", "3") },
  ],
  [
    "the first line changed",
    { "p.txt": POEM },
    ["*** Update File: p.txt", "@@", "-one", "+1", " two"],
    { "p.txt": POEM.replace("one", "1") },
  ],
  [
    "the last line changed",
    { "p.txt": POEM },
    ["*** Update File: p.txt", "@@", " four", "-five", "+5"],
    { "p.txt": POEM.replace("five", "5") },
  ],
  [
    "two places of a file",
    { "p.txt": POEM },
    ["*** Update File: p.txt", "@@", "-one", "+1", "@@", "-five", "+5"],
    { "p.txt": "1\ntwo\nthree\nfour\n5\n" },
  ],
  [
    "lines only added",
    { "p.txt": "a\nb\n" },
    ["*** Update File: p.txt", "@@", " a", "+between", " b"],
    { "p.txt": "a\nbetween\nb\n" },
  ],
  [
    "lines only taken away",
    { "p.txt": POEM },
    ["*** Update File: p.txt", "@@", " one", "-two", "-three", " four"],
    { "p.txt": "one\nfour\nfive\n" },
  ],
  [
    "three files at once",
    { "a.txt": "a\n", "b.txt": "b\n" },
    ["*** Update File: a.txt", "@@", "-a", "+A", "*** Delete File: b.txt", "*** Add File: c.txt", "+c"],
    { "a.txt": "A\n", "c.txt": "c\n" },
  ],
  [
    "a file moved and changed",
    { "a.txt": "a\nb\n" },
    ["*** Update File: a.txt", "*** Move to: d/z.txt", "@@", " a", "-b", "+B"],
    { "d/z.txt": "a\nB\n" },
  ],
  [
    "the second of two equal lines, by its anchor",
    { "p.txt": "def a\n  x\ndef b\n  x\n" },
    ["*** Update File: p.txt", "@@ def b", "-  x", "+  y"],
    { "p.txt": "def a\n  x\ndef b\n  y\n" },
  ],
  [
    "the last of equal lines, by the end of the file",
    { "p.txt": "x\nm\nx\n" },
    ["*** Update File: p.txt", "@@", "-x", "+end", "*** End of File"],
    { "p.txt": "x\nm\nend\n" },
  ],
  [
    "a file without a last newline",
    { "p.txt": "a\nb" },
    ["*** Update File: p.txt", "@@", " a", "-b", "+c"],
    { "p.txt": "a\nc\n" },
  ],
  [
    "Windows line ends stay",
    { "p.txt": "a\r\nb\r\n" },
    ["*** Update File: p.txt", "@@", " a", "-b", "+c"],
    { "p.txt": "a\r\nc\r\n" },
  ],
  [
    "other scripts",
    { "p.txt": "größe\n名前\n🙂\n" },
    ["*** Update File: p.txt", "@@", " größe", "-名前", "+название", " 🙂"],
    { "p.txt": "größe\nназвание\n🙂\n" },
  ],
  [
    "blanks at the end of a line",
    { "p.txt": "a  \nb\n" },
    ["*** Update File: p.txt", "@@", " a", "-b", "+c"],
    { "p.txt": "a  \nc\n" },
  ],
  ["a name with blanks", { "my file.txt": "a\n" }, ["*** Update File: my file.txt", "@@", "-a", "+b"], { "my file.txt": "b\n" }],
  ["refused: a line that is not there", { "p.txt": POEM }, ["*** Update File: p.txt", "@@", "-six", "+6"], /p\.txt/],
  ["refused: an anchor that is not there", { "p.txt": POEM }, ["*** Update File: p.txt", "@@ zero", "-one", "+1"], /p\.txt/],
  ["refused: the file is not there", { "p.txt": POEM }, ["*** Update File: q.txt", "@@", "-one", "+1"], /q\.txt/],
  ["refused: nothing to delete", { "p.txt": POEM }, ["*** Delete File: q.txt"], /q\.txt/],
  ["refused: an operation nobody knows", { "p.txt": POEM }, ["*** Rename File: p.txt"], /Rename/],
  ["refused: no operation", { "p.txt": POEM }, [], /./],
  [
    "refused whole: the second file does not fit",
    { "a.txt": "a\n", "b.txt": "b\n" },
    ["*** Update File: a.txt", "@@", "-a", "+A", "*** Update File: b.txt", "@@", "-z", "+Z"],
    /b\.txt/,
  ],
  [
    "refused: the lines are in another order",
    { "p.txt": POEM },
    ["*** Update File: p.txt", "@@", "-two", "-one", "+x"],
    /p\.txt/,
  ],
];

let directory: TestDirectory | null = null;
afterEach(async () => {
  await directory?.remove();
  directory = null;
});

describe("apply_patch", () => {
  it.each(CASES)("%s", async (_name, before, lines, after) => {
    directory = await TestDirectory.make(before);
    const call = directory.call(applyPatchTool, { patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
    if (after instanceof RegExp) {
      await expect(call).rejects.toThrow(after);
      expect(await directory.tree()).toEqual(before);
    } else {
      await call;
      expect(await directory.tree()).toEqual(after);
    }
  });
});
