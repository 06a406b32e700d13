// One word for one thing: what the glossary says to avoid is not used in the pages, in the texts of the inspector or in names of files.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const glossary = readFileSync(join(root, "docs/glossary.md"), "utf8");

const filesOf = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));

const [terms = "", plain = ""] = glossary.split("## Plain words");
/** The rows of the tables of one part. */
const rows = (part: string): string[][] =>
  part
    .split("\n")
    .filter((line) => line.startsWith("| ") && !line.startsWith("| ---"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
const inItalics = (cell: string): string[] => [...cell.matchAll(/(?<!\*)\*([^*]+)\*(?!\*)/g)].map(([, word = ""]) => word);
/** A word that is only wrong in one sense has the sense in brackets. */
const withoutSenses = (cell: string): string => cell.replace(/\*[^*]+\* \([^)]*\)/g, "");

const avoided = [
  ...rows(terms).flatMap(([, , avoid = ""]) => inItalics(avoid)),
  ...rows(plain).flatMap(([not = ""]) => inItalics(withoutSenses(not))),
];
/** The daemon's own terms of other protocols, quoted as code, are not ours. */
const withoutCode = (text: string): string => text.replace(/```[\s\S]*?```|`[^`\n]*`/g, " ");
const uses = (text: string, word: string): boolean => new RegExp(`(?<![\\w-])${word}(?![\\w-])`, "i").test(text);

describe("the glossary", () => {
  it("says for every word what it means and what to avoid", () => {
    const words = rows(terms).filter(([word]) => word?.startsWith("**"));
    expect(words.length).toBeGreaterThan(40);
    expect(words.filter((row) => row.length !== 3 || row.some((cell) => cell === "")).map(([word]) => word)).toEqual([]);
    const names = words.map(([word]) => word);
    expect(new Set(names).size).toBe(names.length);
    expect(avoided.length).toBeGreaterThan(20);
  });

  it("is kept by the pages", () => {
    const own = ["README.md", "SPEC.md", "AGENTS.md", "CONTRIBUTING.md", "SKILL.md"];
    // Made from the tables of the agents and from the help of the commands, which have their own authors.
    const made = ["docs/coverage.md", "docs/cli.md", "docs/glossary.md"];
    const pages = [...own, ...filesOf("docs", /\.md$/)].filter((name) => !made.includes(name));
    const found = pages.flatMap((name) => {
      const text = withoutCode(readFileSync(join(root, name), "utf8"));
      return avoided.filter((word) => uses(text, word)).map((word) => `${name}: ${word}`);
    });
    expect(pages.length).toBeGreaterThan(25);
    expect(found).toEqual([]);
  });

  it("is kept by the inspector, its code included", () => {
    const files = filesOf("inspector/src", /\.tsx?$/);
    const found = files.flatMap((name) => {
      const text = readFileSync(join(root, name), "utf8");
      return avoided.filter((word) => uses(text, word)).map((word) => `${name}: ${word}`);
    });
    expect(files.length).toBeGreaterThan(100);
    expect(found).toEqual([]);
  });

  it("is kept by the names of files", () => {
    const names = [...filesOf("src", /\.ts$/), ...filesOf("inspector/src", /\.tsx?$/)];
    const found = names.filter((name) => {
      const words = basename(name).replace(/\..*$/, "").split("-");
      return words.some((word) => NAMES_AVOIDED.includes(word));
    });
    expect(found).toEqual([]);
  });
});

const NAMES_AVOIDED = rows(plain)
  .flatMap(([not = ""]) => inItalics(not))
  .filter((word) => word !== "line");
