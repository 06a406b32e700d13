import { chmod, mkdir, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { changeState, makeChanges, planChange } from "../file-changes.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { editTool, replaceAll } from "./edit.ts";
import { applyPatch } from "./patch/apply.ts";
import { parsePatch } from "./patch/parse.ts";
import { readTool } from "./read.ts";
import { TestDirectory } from "./test-tools.ts";
import { writeTool } from "./write.ts";

let directory: TestDirectory;
afterEach(() => directory.remove());

const patch = (...lines: string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const edit = (args: unknown) => directory.call(editTool, args);
const apply = (...lines: string[]) => directory.call(applyPatchTool, { patch: patch(...lines) });

describe("read", () => {
  it("numbers lines, goes on with offset, and says how many there are", async () => {
    directory = await TestDirectory.make({ "a.txt": Array.from({ length: 3000 }, (_, at) => `line ${at + 1}`).join("\n") });
    const first = String((await directory.call(readTool, { path: "a.txt" })).output);
    expect(first).toContain("1\tline 1\n2\tline 2");
    expect(first).toContain("(3000 lines in all. Go on with offset 2001.)");
    const rest = String((await directory.call(readTool, { path: "a.txt", offset: 2999, limit: 5 })).output);
    expect(rest).toBe("2999\tline 2999\n3000\tline 3000");
    await expect(directory.call(readTool, { path: "a.txt", offset: 4000 })).rejects.toThrow("only 3000 lines");
  });

  it("cuts at 50 KB and long lines, and refuses directories, binaries and what is not there", async () => {
    directory = await TestDirectory.make({
      "wide.txt": `${"x".repeat(900)}\n`.repeat(200),
      "long.txt": "y".repeat(10_000),
      "bin.dat": Buffer.from([1, 0, 2]),
      "empty.txt": "",
      "README.md": "hi",
      "sub/x": "",
    });
    const wide = String((await directory.call(readTool, { path: "wide.txt" })).output);
    expect(Buffer.byteLength(wide)).toBeLessThan(52 * 1024);
    expect(wide).toContain("Go on with offset");
    expect(String((await directory.call(readTool, { path: "long.txt" })).output)).toContain("(10000 characters)");
    expect((await directory.call(readTool, { path: "empty.txt" })).output).toBe("(empty.txt is empty.)");
    await expect(directory.call(readTool, { path: "sub" })).rejects.toThrow("Use ls");
    await expect(directory.call(readTool, { path: "bin.dat" })).rejects.toThrow("binary");
    await expect(directory.call(readTool, { path: "readme.md" })).rejects.toThrow("Did you mean README.md?");
  });

  it("gives images as images and kept outputs by their digest", async () => {
    const png = Buffer.from("89504e470d0a1a0a00", "hex");
    directory = await TestDirectory.make({ "a.png": png });
    expect((await directory.call(readTool, { path: "a.png" })).output).toMatchObject([
      { type: "input_text" },
      { type: "input_image", image_url: `data:image/png;base64,${png.toString("base64")}` },
    ]);
    const digest = await directory.blobs.put(Buffer.from("kept\noutput"));
    expect((await directory.call(readTool, { path: `artifact:${digest}` })).output).toBe("1\tkept\n2\toutput");
    await expect(directory.call(readTool, { path: "artifact:../x" })).rejects.toThrow("There is no");
  });
});

describe("write", () => {
  it("makes directories, replaces with the mode kept, and leaves no other file", async () => {
    directory = await TestDirectory.make({ "run.sh": "old\n" });
    await chmod(join(directory.path, "run.sh"), 0o755);
    expect(String((await directory.call(writeTool, { path: "run.sh", content: "new\n" })).output)).toContain("-old\n+new");
    expect((await stat(join(directory.path, "run.sh"))).mode & 0o777).toBe(0o755);
    await directory.call(writeTool, { file_path: "a/b/c.txt", content: "é" });
    expect(await directory.tree()).toEqual({ "run.sh": "new\n", "a/b/c.txt": "é" });
    await expect(directory.call(writeTool, { path: "a", content: "" })).rejects.toThrow("is a directory");
  });

  it("writes through a link to the file it points to", async () => {
    directory = await TestDirectory.make({ "real.txt": "old" });
    await symlink("real.txt", join(directory.path, "link.txt"));
    await directory.call(writeTool, { path: "link.txt", content: "new" });
    expect(await directory.text("real.txt")).toBe("new");
    expect((await readdir(directory.path)).sort()).toEqual(["link.txt", "real.txt"]);
  });
});

describe("edit", () => {
  it("replaces exactly one place and shows the diff", async () => {
    directory = await TestDirectory.make({ "a.ts": "const a = 1;\nconst b = 2;\n" });
    const { output } = await edit({ path: "a.ts", edits: [{ old: "b = 2", new: "b = 3" }] });
    expect(output).toContain("-const b = 2;\n+const b = 3;");
    expect(output).not.toContain("matched only");
    expect(await directory.text("a.ts")).toBe("const a = 1;\nconst b = 3;\n");
  });

  it("refuses what is not there, what occurs twice, what overlaps and what changes nothing", async () => {
    const text = "alpha\nbeta\nalpha\n";
    directory = await TestDirectory.make({ "a.txt": text });
    const cases: [object, string][] = [
      [{ edits: [{ old: "gamma", new: "x" }] }, "not in the file"],
      [{ edits: [{ old: "alpha", new: "x" }] }, "occurs 2 times (lines 1, 3)"],
      [
        {
          edits: [
            { old: "beta\nalpha", new: "x" },
            { old: "alpha\nbeta", new: "y" },
          ],
        },
        "overlaps",
      ],
      [{ edits: [{ old: "beta", new: "beta" }] }, "change nothing"],
      [{ edits: [{ old: "", new: "x" }] }, "`old` is empty"],
      [
        {
          edits: [
            { old: "beta", new: "ok" },
            { old: "nope", new: "x" },
          ],
        },
        "Edit 2",
      ],
    ];
    for (const [args, message] of cases) await expect(edit({ path: "a.txt", ...args })).rejects.toThrow(message);
    expect(await directory.text("a.txt")).toBe(text);
    await expect(edit({ path: "none.txt", edits: [{ old: "a", new: "b" }] })).rejects.toThrow("Use write");
    expect(String((await edit({ path: "a.txt", edits: [{ old: "alpha", new: "x" }], replace_all: true })).output)).toContain(
      "+x",
    );
    expect(await directory.text("a.txt")).toBe("x\nbeta\nx\n");
  });

  it("shows the nearest lines of a text that is almost there", async () => {
    directory = await TestDirectory.make({ "a.ts": "one\nfunction compute(value: number) {\n  return value;\n}\n" });
    await expect(edit({ path: "a.ts", edits: [{ old: "function compute(value: string) {", new: "x" }] })).rejects.toThrow(
      "2\tfunction compute(value: number) {",
    );
  });

  it("matches over trailing blanks and line ends, says so, and never in the middle of a line", async () => {
    directory = await TestDirectory.make({ "a.txt": "one  \r\ntwo\t\r\nthree\r\n", "b.txt": "x = 15\n" });
    const { output } = await edit({ path: "a.txt", edits: [{ old: "one\ntwo", new: "1\n2" }] });
    expect(output).toContain("matched only without trailing blanks");
    expect(await directory.text("a.txt")).toBe("1\r\n2\r\nthree\r\n");
    await expect(edit({ path: "b.txt", edits: [{ old: "x = 1 ", new: "x = 2" }] })).rejects.toThrow("not in the file");
    await expect(edit({ path: "b.txt", edits: [{ old: " = 15 ", new: "y" }] })).rejects.toThrow("not in the file");
  });

  it("keeps the byte order mark, CRLF, and a missing last newline; refuses what is no UTF-8", async () => {
    directory = await TestDirectory.make({ "a.txt": "\ufeffone\r\ntwo", "latin.txt": Buffer.from([0xe9, 0x0a]) });
    await edit({ path: "a.txt", edits: [{ old: "two", new: "two\nthree" }] });
    expect(await directory.text("a.txt")).toBe("\ufeffone\r\ntwo\r\nthree");
    await expect(edit({ path: "latin.txt", edits: [{ old: "\n", new: "x" }] })).rejects.toThrow("not UTF-8");
  });

  it("mends the ways models get the arguments wrong", async () => {
    const shapes = [
      { path: "a.txt", old: "a", new: "b" },
      { file_path: "a.txt", old_string: "a", new_string: "b" },
      { path: "a.txt", edits: '[{"oldText":"a","newText":"b"}]' },
      { filePath: "a.txt", edits: [{ oldString: "a", newString: "b" }] },
    ];
    directory = await TestDirectory.make();
    for (const shape of shapes) {
      await directory.write("a.txt", "a\n");
      await edit(shape);
      expect(await directory.text("a.txt"), JSON.stringify(shape)).toBe("b\n");
    }
    await expect(edit({ path: "a.txt" })).rejects.toThrow("required properties edits");
  });

  it("changes nothing but the place, whatever the text", () => {
    const word = fc.constantFrom("a", "b", "\n", " ", "\r\n", "é");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), fc.array(word, { maxLength: 20 }), fc.string(), (before, after, fresh) => {
        const text = `${before.join("")}UNIQUE${after.join("")}`;
        const { result } = replaceAll(text, [{ old: "UNIQUE", new: fresh.replaceAll(/[\r\n]/g, "") }], false);
        expect(result).toBe(`${before.join("")}${fresh.replaceAll(/[\r\n]/g, "")}${after.join("")}`);
      }),
    );
  });
});

describe("apply_patch", () => {
  it("adds, updates, moves and deletes in one go", async () => {
    directory = await TestDirectory.make({ "a.txt": "1\n2\n3\n", "old.txt": "keep\nme\n", "gone.txt": "x\n" });
    await chmod(join(directory.path, "old.txt"), 0o755);
    await apply(
      "*** Add File: sub/new.txt",
      "+hello",
      "+",
      "*** Update File: a.txt",
      "@@",
      " 1",
      "-2",
      "+two",
      " 3",
      "*** Update File: old.txt",
      "*** Move to: moved/new name.txt",
      "@@",
      " keep",
      "-me",
      "+you",
      "*** Delete File: gone.txt",
    );
    expect(await directory.tree()).toEqual({
      "sub/new.txt": "hello\n\n",
      "a.txt": "1\ntwo\n3\n",
      "moved/new name.txt": "keep\nyou\n",
    });
    expect((await stat(join(directory.path, "moved/new name.txt"))).mode & 0o777).toBe(0o755);
  });

  it("all or nothing: a failure in the last operation leaves everything as it was", async () => {
    const files = { "a.txt": "1\n", "b.txt": "2\n" };
    directory = await TestDirectory.make(files);
    const failing: string[][] = [
      ["*** Add File: new.txt", "+x", "*** Update File: a.txt", "-1", "+one", "*** Update File: b.txt", "-nope", "+x"],
      ["*** Delete File: a.txt", "*** Delete File: missing.txt"],
      ["*** Add File: new.txt", "+x", "*** Frobnicate: a.txt"],
      ["*** Update File: a.txt"],
      ["*** Update File: missing.txt", "-a", "+b"],
      [],
      ["*** Update File: a.txt", "@@ no such line", "-1", "+2"],
      ["*** Add File: new.txt", "no plus"],
    ];
    await mkdir(join(directory.path, "dir"));
    for (const lines of [...failing, ["*** Delete File: dir"]]) {
      await expect(apply(...lines), lines.join("|")).rejects.toThrow();
      expect(await directory.tree()).toEqual(files);
    }
    await expect(directory.call(applyPatchTool, { patch: "no patch" })).rejects.toThrow("*** Begin Patch");
  });

  it("finds lines in four passes and says which", async () => {
    directory = await TestDirectory.make({ "a.txt": "  if (x) {  \n\treturn “yes” – always;\n  }\n" });
    const { output } = await apply("*** Update File: a.txt", "@@", " if (x) {", '-return "yes" - always;', "+\treturn no;", " }");
    expect(output).toContain("matched only with other dashes");
    // Lines that stay keep their own bytes.
    expect(await directory.text("a.txt")).toBe("  if (x) {  \n\treturn no;\n  }\n");
  });

  it("keeps CRLF and mixed line ends, adds a last newline, appends, and works at the end of the file", async () => {
    directory = await TestDirectory.make({
      "crlf.txt": "1\r\n2\r\n",
      "mixed.txt": "1\r\n2\r\n3\r0\n",
      "open.txt": "1",
      "twice.txt": "x\ny\nx\n",
    });
    await apply("*** Update File: crlf.txt", "@@", "-1", "+one", "+more", " 2");
    await apply("*** Update File: mixed.txt", "@@", " 1", "-2", "+two", " 3");
    await apply("*** Update File: open.txt", "@@", "+2");
    await apply("*** Update File: twice.txt", "@@", "-x", "+last", "*** End of File");
    expect(await directory.tree()).toEqual({
      "crlf.txt": "one\r\nmore\r\n2\r\n",
      "mixed.txt": "1\r\ntwo\r\n3\r0\n",
      "open.txt": "1\n2\n",
      "twice.txt": "x\ny\nlast\n",
    });
  });

  it("uses anchors for equal lines, sees its own earlier changes, and takes wrapped patches", async () => {
    const body = "def a():\n  pass\n\ndef b():\n  pass\n";
    directory = await TestDirectory.make({ "a.py": body });
    await apply("*** Update File: a.py", "@@ def b():", "-  pass", "+  return 1");
    expect(await directory.text("a.py")).toBe("def a():\n  pass\n\ndef b():\n  return 1\n");
    await apply("*** Update File: a.py", "-  return 1", "+  return 2", "*** Update File: a.py", "-  return 2", "+  return 3");
    expect(await directory.text("a.py")).toContain("return 3");
    const wrapped = `<<'EOF'\n${patch("*** Delete File: a.py")}\nEOF\n`;
    await directory.call(applyPatchTool, { patch: wrapped });
    expect(await directory.tree()).toEqual({});
  });

  it("property: a patch made of two texts turns one into the other", async () => {
    directory = await TestDirectory.make();
    const line = fc.constantFrom("alpha", "beta", " gamma", "-delta", "+x", "", "*** End Patch", "@@");
    const texts = fc.array(line, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(texts, texts, async (before, after) => {
        const text = patch("*** Update File: f", "@@", ...before.map((one) => `-${one}`), ...after.map((one) => `+${one}`));
        const { files } = await applyPatch(parsePatch(text), async () => before.map((one) => `${one}\n`).join(""));
        expect(files.get("f")).toBe(after.map((one) => `${one}\n`).join(""));
      }),
    );
  });
});

describe("file changes", () => {
  it("know whether they were made", async () => {
    directory = await TestDirectory.make({ a: "1", b: "2" });
    const change = async (name: string, content: string | null) =>
      planChange(join(directory.path, name), content === null ? null : Buffer.from(content), directory.blobs);
    const changes = [await change("a", "one"), await change("b", null), await change("c", "three")];
    expect(await changeState(changes)).toBe("not_done");
    await directory.write("a", "one");
    expect(await changeState(changes)).toBe("partly");
    await makeChanges(changes, directory.blobs);
    expect(await changeState(changes)).toBe("done");
    expect(await directory.tree()).toEqual({ a: "one", c: "three" });
    await directory.write("a", "by somebody else");
    expect(await changeState(changes)).toBe("unknown");
    await expect(makeChanges(changes, directory.blobs)).rejects.toThrow("somebody else");
  });

  it("are undone when one of them cannot be made", async () => {
    directory = await TestDirectory.make({ a: "1", "dir/x": "" });
    const good = await planChange(join(directory.path, "a"), Buffer.from("one"), directory.blobs);
    // A file where a directory is needed: it fails after the first change was made.
    const bad = { path: join(directory.path, "a", "below"), pre: null, post: good.post, mode: 0o644 };
    await expect(makeChanges([good, { ...bad }], directory.blobs)).rejects.toThrow();
    const blocked = { path: join(directory.path, "new", "x"), pre: null, post: "0".repeat(64), mode: 0o644 };
    await expect(makeChanges([good, blocked], directory.blobs)).rejects.toThrow("Nothing was changed");
    expect(await directory.text("a")).toBe("1");
  });
});
