import { symlink, utimes } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { globToRegExp } from "./glob-pattern.ts";
import { isIgnored, parseIgnore } from "./ignore-rules.ts";
import { headAndTail } from "./output-limit.ts";
import { isInside, realPath } from "./paths.ts";
import { globTool, grepTool, lsTool } from "./search.ts";
import { TestDirectory } from "./test-tools.ts";

let directory: TestDirectory | null = null;
afterEach(async () => {
  await directory?.remove();
  directory = null;
});

const FILES = {
  ".gitignore": "*.log\n/build/\n!keep.log\n",
  "src/a.ts": "const alpha = 1;\nconst beta = 2;\n",
  "src/deep/b.ts": "const Alpha = 3;\n",
  "src/deep/.gitignore": "secret.ts\n",
  "src/deep/secret.ts": "alpha",
  "build/out.ts": "alpha",
  "x.log": "alpha",
  "keep.log": "alpha kept\n",
  "node_modules/m/index.js": "alpha",
  "bin.dat": Buffer.from("alpha\0"),
};

describe("ls, glob, grep", () => {
  it("leave out what git ignores, node_modules and binaries", async () => {
    directory = await TestDirectory.make(FILES);
    const ls = String((await directory.call(lsTool, { depth: 5 })).output).split("\n");
    expect(ls).toEqual([
      ".gitignore",
      "bin.dat",
      "keep.log",
      "src/",
      "src/a.ts",
      "src/deep/",
      "src/deep/.gitignore",
      "src/deep/b.ts",
    ]);
    expect((await directory.call(grepTool, { pattern: "alpha" })).output).toBe(
      "keep.log:1:alpha kept\nsrc/a.ts:1:const alpha = 1;",
    );
    expect((await directory.call(grepTool, { pattern: "ALPHA", ignore_case: true, glob: "*.ts" })).output).toBe(
      "src/a.ts:1:const alpha = 1;\nsrc/deep/b.ts:1:const Alpha = 3;",
    );
  });

  it("glob sorts by time, newest first", async () => {
    directory = await TestDirectory.make(FILES);
    await utimes(join(directory.path, "src/a.ts"), 1, 1);
    expect((await directory.call(globTool, { pattern: "**/*.ts" })).output).toBe("src/deep/b.ts\nsrc/a.ts");
    expect((await directory.call(globTool, { pattern: "*.ts", path: "src/deep" })).output).toBe("src/deep/b.ts");
    expect((await directory.call(globTool, { pattern: "*.rs" })).output).toBe("No file matches.");
  });

  it("grep: context, limits, long lines, one file, bad and slow patterns", async () => {
    directory = await TestDirectory.make({
      "a.txt": "1\nhit\n3\n4\n5\nhit\n7\n",
      "b.txt": `${"x".repeat(900)}hit\n`,
      "c.txt": `${"a".repeat(40)}!\n`,
    });
    expect((await directory.call(grepTool, { pattern: "hit", path: "a.txt", context: 1 })).output).toBe(
      "a.txt-1-1\na.txt:2:hit\na.txt-3-3\n--\na.txt-5-5\na.txt:6:hit\na.txt-7-7",
    );
    expect((await directory.call(grepTool, { pattern: "hit", limit: 1 })).output).toContain("(2 more.");
    expect(String((await directory.call(grepTool, { pattern: "x+hit" })).output).length).toBeLessThan(700);
    await expect(directory.call(grepTool, { pattern: "(" })).rejects.toThrow("no regular expression");
    await expect(directory.call(grepTool, { pattern: "^(a+)+$" })).rejects.toThrow("takes too long");
    await expect(directory.call(grepTool, { pattern: "x", path: "none" })).rejects.toThrow("does not exist");
    await expect(directory.call(lsTool, { path: "a.txt" })).rejects.toThrow("Use read");
  });
});

describe("globs", () => {
  it("match as people expect", () => {
    const table: [string, string[], string[]][] = [
      ["*.ts", ["a.ts"], ["a/b.ts", "a.tsx"]],
      ["**/*.ts", ["a.ts", "a/b/c.ts"], ["a.js"]],
      ["src/**", ["src/a", "src/a/b"], ["src", "lib/a"]],
      ["src/**/x.ts", ["src/x.ts", "src/a/b/x.ts"], ["x.ts"]],
      ["{a,b{c,d}}.ts", ["a.ts", "bc.ts", "bd.ts"], ["b.ts"]],
      ["[!a]?.ts", ["bx.ts"], ["ax.ts", "b/.ts"]],
      ["a.b", ["a.b"], ["axb"]],
      ["[", ["["], []],
      ["\\*", ["*"], ["a"]],
      ["Grüße-🐉?", ["Grüße-🐉x"], []],
    ];
    for (const [pattern, yes, no] of table) {
      const expression = globToRegExp(pattern);
      for (const path of yes) expect(expression.test(path), `${pattern} ${path}`).toBe(true);
      for (const path of no) expect(expression.test(path), `${pattern} ${path}`).toBe(false);
    }
  });

  it("gitignore: the last rule decides, the nearest file first", () => {
    const levels = [
      { base: "", rules: parseIgnore("*.log\n!a.log\n/top\nsub/x\ndirs/\n# comment\n\n\\!odd\n") },
      { base: "pkg", rules: parseIgnore("!z.log\n") },
    ];
    const ignored = (path: string, isDirectory = false) => isIgnored(levels, path, isDirectory);
    expect(["b.log", "deep/b.log", "top", "sub/x", "!odd"].map((path) => ignored(path))).toEqual([true, true, true, true, true]);
    expect(["a.log", "deep/top", "deep/sub/x", "dirs", "pkg/z.log"].map((path) => ignored(path))).toEqual([
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(ignored("dirs", true)).toBe(true);
  });
});

describe("paths and limits", () => {
  it("a link that leads out is seen where it leads", async () => {
    directory = await TestDirectory.make({ "in/a": "" });
    await symlink("/etc", join(directory.path, "out"));
    expect(isInside(directory.path, realPath(directory.path, "out/new-file"))).toBe(false);
    expect(isInside(directory.path, realPath(directory.path, "in/../in/new"))).toBe(true);
    expect(isInside(directory.path, realPath(directory.path, "../x"))).toBe(false);
    expect(isInside("/a/b", "/a/bc")).toBe(false);
    expect(() => realPath(directory?.path ?? "", "a\0b")).toThrow("NUL");
  });

  it("beginning and end of a long output, whole characters and lines", () => {
    const text = Array.from({ length: 5000 }, (_, at) => `line ${at} 🐉`).join("\n");
    const { text: cut, cut: isCut } = headAndTail(text, 1000, 1000);
    expect(isCut).toBe(true);
    expect(cut.startsWith("line 0 🐉\n")).toBe(true);
    expect(cut.endsWith("line 4999 🐉")).toBe(true);
    expect(cut).toMatch(/\n… \d+ bytes left out …\n/);
    expect(cut.split("\n").every((line) => /^(line \d+ 🐉|… \d+ bytes left out …)$/.test(line))).toBe(true);
    const single = headAndTail("🐉".repeat(2000), 1001, 1001).text;
    expect(single).not.toContain("\ufffd");
    expect(headAndTail("short", 10, 10)).toEqual({ text: "short", cut: false });
  });
});
