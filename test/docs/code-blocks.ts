// The fenced code blocks of the documentation, with where they stand and what they claim to be.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** `info` is what follows the language: `json config`. */
export type Block = { file: string; line: number; language: string; info: string; code: string };

/** Every page a reader may copy from. */
export function pages(): string[] {
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
  return [
    "README.md",
    "CONTRIBUTING.md",
    ...docs.filter((name) => name.endsWith(".md")).map((name) => join("docs", name)),
  ].sort();
}

export function blocksOf(file: string): Block[] {
  const lines = readFileSync(join(root, file), "utf8").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", fence = "", words = ""] = /^( *)(`{3,})(.*)$/.exec(lines[at] ?? "") ?? [];
    if (fence === "") continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === fence);
    if (end < 0) throw new Error(`${file}:${at + 1}: this block has no end`);
    const [language = "", ...info] = words.trim().split(/\s+/);
    const code = lines.slice(at + 1, end).map((line) => line.slice(indent.length));
    blocks.push({ file, line: at + 1, language, info: info.join(" "), code: code.join("\n") });
    at = end;
  }
  return blocks;
}
