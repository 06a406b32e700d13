import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bash, temporary } from "../test-trees.ts";
import { type FileChanges, Files, FilesError } from "./index.ts";

let place: ReturnType<typeof temporary>;
let outside: ReturnType<typeof temporary>;
let files: Files;

beforeEach(async () => {
  place = temporary("files");
  outside = temporary("outside");
  writeFileSync(join(outside.path, "secret"), "secret");
  files = await Files.open(place.path);
});
afterEach(() => {
  place.remove();
  outside.remove();
});

const at = (path: string) => join(place.path, path);
const code = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return "no error";
  } catch (error) {
    return error instanceof FilesError ? error.code : String(error);
  }
};

const wholeOf = async (body: Readable): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
};

describe("reading", () => {
  it("lists by name, in pages, and tells links as links", async () => {
    for (const name of ["b", "a", "c"]) writeFileSync(at(name), name);
    mkdirSync(at("d"));
    symlinkSync(outside.path, at("e"));
    const all = await files.list();
    expect(all.entries.map(({ name, type }) => `${name} ${type}`)).toEqual([
      "a file",
      "b file",
      "c file",
      "d directory",
      "e link",
    ]);
    expect(all.entries[4]).toMatchObject({ target: outside.path });
    const first = await files.list("", { limit: 2 });
    expect(first).toMatchObject({ next: "b" });
    expect((await files.list(".", { limit: 3, after: first.next! })).entries.map(({ name }) => name)).toEqual(["c", "d", "e"]);
  });

  it.runIf(existsSync("/dev/shm"))("lists a file whose time no calendar has, and those beside it", async () => {
    const memory = mkdtempSync("/dev/shm/dragoman-files-");
    try {
      for (const [name, seconds] of Object.entries({ far: "9000000000000", past: "-9000000000000", some: "0" }))
        execFileSync("touch", ["-d", `@${seconds}`, join(memory, name)]);
      const { entries } = await (await Files.open(memory)).list();
      expect(entries.map(({ name, modified_at }) => `${name} ${modified_at}`)).toEqual([
        "far 9999-12-31T23:59:59.999Z",
        "past 0000-01-01T00:00:00.000Z",
        "some 1970-01-01T00:00:00.000Z",
      ]);
    } finally {
      rmSync(memory, { recursive: true });
    }
  });

  it("reads whole files and parts of them, and knows binary ones", async () => {
    writeFileSync(at("text"), "0123456789é");
    writeFileSync(at("binary"), Buffer.from([1, 0, 2]));
    writeFileSync(at("empty"), "");
    writeFileSync(at("long"), "é".repeat(6_000));
    expect(await files.read("text")).toMatchObject({ size: 12, start: 0, end: 11, binary: false });
    expect((await files.read("text", { start: 2, end: 4 })).content.toString()).toBe("234");
    expect((await files.read("text", { start: -3 })).content.toString()).toBe("9é");
    expect((await files.read("text", { start: 5, end: 999 })).end).toBe(11);
    expect((await files.read("binary")).binary).toBe(true);
    expect((await files.read("long")).binary).toBe(false);
    expect(await files.read("empty")).toMatchObject({ size: 0, binary: false });
    expect(await code(files.read("text", { start: 12 }))).toBe("invalid_range");
    expect(await code(files.read("text", { start: 5, end: 4 }))).toBe("invalid_range");
    expect(await code(files.read("empty", { start: 0 }))).toBe("invalid_range");
  });

  it("reads a huge file only in parts, or as a stream", async () => {
    writeFileSync(at("huge"), "begin");
    truncateSync(at("huge"), 5 * 1024 ** 3);
    expect(await code(files.read("huge"))).toBe("too_large");
    expect((await files.read("huge", { start: 0, end: 4 })).content.toString()).toBe("begin");
    const { entry, read } = await files.open("huge");
    expect(entry.size).toBe(5 * 1024 ** 3);
    expect((await wholeOf(read({ start: 3, end: 4 }))).toString()).toBe("in");
  });

  it("breaks off when a file becomes shorter while it is read, and closes it, read or not", async () => {
    writeFileSync(at("shrinking"), Buffer.alloc(1024 ** 2, "x"));
    const shrinking = await files.open("shrinking");
    truncateSync(at("shrinking"), 300_000);
    await expect(wholeOf(shrinking.read())).rejects.toThrow("ended at byte 300000");
    const before = readdirSync("/proc/self/fd").length;
    const unread = (await files.open("shrinking")).read();
    unread.destroy();
    await once(unread, "close");
    expect(readdirSync("/proc/self/fd").length).toBe(before);
  });

  it.runIf(process.platform === "linux")("lists and completes names that are no UTF-8, as they are shown", async () => {
    bash(place.path, "mkdir odd; printf x > $'odd/caf\\xe9'; printf y > odd/b");
    const first = await files.list("odd", { limit: 1 });
    expect(first).toMatchObject({ entries: [{ path: "odd/b" }], next: "b" });
    expect(await files.list("odd", { after: first.next! })).toMatchObject({
      entries: [{ path: "odd/caf\\xe9", size: 1 }],
      next: null,
    });
    expect(await files.complete("caf")).toContainEqual({ path: "odd/caf\\xe9", type: "file" });
  });

  it("says what a path is instead", async () => {
    mkdirSync(at("dir"));
    writeFileSync(at("file"), "");
    bash(place.path, "mkfifo pipe");
    expect(await code(files.read("dir"))).toBe("is_a_directory");
    expect(await code(files.read(""))).toBe("is_a_directory");
    expect(await code(files.read("pipe"))).toBe("not_a_file");
    expect(await code(files.list("file"))).toBe("not_a_directory");
    expect(await code(files.read("file/below"))).toBe("not_a_directory");
    expect(await code(files.read("nothing"))).toBe("not_found");
    expect(await code(files.read("a\0b"))).toBe("invalid_path");
    expect(await code(files.read("x".repeat(5_000)))).toBe("invalid_path");
    expect(await code(files.read("x".repeat(300)))).toBe("invalid_path");
    expect(await files.stat("")).toMatchObject({ type: "directory", path: "" });
  });

  it("says when the workspace is gone", async () => {
    rmSync(place.path, { recursive: true });
    expect(await code(files.list())).toBe("directory_missing");
    expect(await code(files.read("a"))).toBe("directory_missing");
    expect(await code(files.write("a", ""))).toBe("directory_missing");
    expect(await code(Files.open(place.path))).toBe("directory_missing");
  });
});

describe("no way out", () => {
  it("refuses paths and links that lead outside, for every operation", async () => {
    symlinkSync(outside.path, at("link"));
    symlinkSync("/etc/passwd", at("passwd"));
    symlinkSync(join(outside.path, "new"), at("dangling"));
    symlinkSync("../..", at("up"));
    const ways = [
      "../secret",
      `../${outside.path.split("/").at(-1)}/secret`,
      join(outside.path, "secret"),
      "link/secret",
      "passwd",
      "a/../../x",
      "/etc/passwd",
      "up/etc",
      "dangling",
    ];
    for (const way of ways) {
      expect([way, await code(files.read(way))]).toEqual([way, "path_outside"]);
      expect([way, await code(files.write(way, "x"))]).toEqual([way, "path_outside"]);
      expect([way, await code(files.stat(way))]).toEqual([way, "path_outside"]);
      expect([way, await code(files.mkdir(way, { parents: true }))]).toEqual([way, "path_outside"]);
    }
    expect(await code(files.list("link"))).toBe("path_outside");
    expect(await code(files.search("secret", { path: "link" }))).toBe("path_outside");
    expect(await code(files.delete("link/secret"))).toBe("path_outside");
    expect(await code(files.move("link/secret", "mine"))).toBe("path_outside");
    writeFileSync(at("mine"), "");
    expect(await code(files.move("mine", "link/mine"))).toBe("path_outside");
    expect(await code(files.delete(""))).toBe("invalid_path");
    expect(readdirSync(outside.path)).toEqual(["secret"]);
  });

  it("deletes and moves a link itself, never what it leads to", async () => {
    symlinkSync(outside.path, at("link"));
    mkdirSync(at("tree/deep"), { recursive: true });
    symlinkSync(outside.path, at("tree/deep/link"));
    await files.move("link", "moved");
    await files.delete("moved");
    await files.delete("tree", { recursive: true });
    expect(readdirSync(place.path)).toEqual([]);
    expect(readdirSync(outside.path)).toEqual(["secret"]);
  });

  it("follows links that stay inside, and writes through them", async () => {
    mkdirSync(at("real"));
    writeFileSync(at("real/file"), "1");
    symlinkSync("real", at("dir"));
    symlinkSync("real/file", at("file"));
    expect((await files.read("dir/file")).entry.path).toBe("real/file");
    await files.write("file", "2");
    expect(readFileSync(at("real/file"), "utf8")).toBe("2");
    expect((await files.stat("file", { follow: false })).type).toBe("link");
  });

  it.each([
    ["the directory itself", "", "dir"],
    ["a directory above it", "/dir", "above"],
  ])("loses every race against a link that is swapped in for %s", async (_name, below, swapped) => {
    const inner = below === "" ? "dir" : "above/dir";
    mkdirSync(at(inner), { recursive: true });
    mkdirSync(`${outside.path}${below}`, { recursive: true });
    writeFileSync(at(`${inner}/secret`), "inside");
    for (const name of ["secret", "victim"]) writeFileSync(`${outside.path}${below}/${name}`, "outside");
    const swapper = new Worker(
      `const { renameSync, symlinkSync } = require("node:fs");
       const { dir, outside } = require("node:worker_threads").workerData;
       symlinkSync(outside, dir + ".link");
       for (;;) { try { renameSync(dir, dir + ".real"); renameSync(dir + ".link", dir); renameSync(dir, dir + ".link"); renameSync(dir + ".real", dir); } catch {} }`,
      { eval: true, workerData: { dir: at(swapped), outside: outside.path } },
    );
    let inside = 0;
    try {
      for (let round = 0; round < 400; round++) {
        const read = await files.read(`${inner}/secret`).catch(() => null);
        if (read) expect(String(read.content)).toBe("inside");
        if (read) inside += 1;
        await files.write(`${inner}/victim`, "overwritten").catch(() => {});
        await files.delete(`${inner}/victim`).catch(() => {});
        if (round % 10 === 0) await files.mkdir(`${inner}/made/deep`, { parents: true }).catch(() => {});
        if (round % 10 === 5) await files.delete(`${inner}/made`, { recursive: true }).catch(() => {});
      }
    } finally {
      await swapper.terminate();
    }
    expect(inside).toBeGreaterThan(0);
    expect(readdirSync(`${outside.path}${below}`).sort()).toEqual(["secret", "victim"]);
    expect(readFileSync(`${outside.path}${below}/victim`, "utf8")).toBe("outside");
  });
});

describe("writing", () => {
  it("writes whole files, keeps the mode, and leaves nothing behind", async () => {
    const made = await files.write("new/deep/file.sh", "1", { parents: true, mode: 0o755 });
    expect(made).toMatchObject({ path: "new/deep/file.sh", size: 1, mode: "0755" });
    chmodSync(at("new/deep/file.sh"), 0o700);
    linkSync(at("new/deep/file.sh"), at("other-name"));
    await files.write("new/deep/file.sh", Buffer.from("22"));
    expect(statSync(at("new/deep/file.sh")).mode & 0o777).toBe(0o700);
    // Readers of the old file keep it: it was replaced, not changed.
    expect(readFileSync(at("other-name"), "utf8")).toBe("1");
    expect(readdirSync(at("new/deep"))).toEqual(["file.sh"]);
    expect(await code(files.write("missing/dir/x", ""))).toBe("not_found");
    expect(await code(files.write("new", ""))).toBe("is_a_directory");
    expect(readdirSync(place.path).sort()).toEqual(["new", "other-name"]);
  });

  it("keeps others' changes: etags and create_only", async () => {
    const one = await files.write("f", "1");
    expect((await files.read("f")).entry.etag).toBe(one.etag);
    const two = await files.write("f", "2", { if_match: one.etag });
    expect(two.etag).not.toBe(one.etag);
    expect(await code(files.write("f", "3", { if_match: one.etag }))).toBe("etag_mismatch");
    expect(await code(files.write("none", "3", { if_match: one.etag }))).toBe("etag_mismatch");
    expect(await code(files.write("f", "3", { create_only: true }))).toBe("already_exists");
    expect(readFileSync(at("f"), "utf8")).toBe("2");
    const racing = await Promise.allSettled(
      Array.from({ length: 8 }, (_, n) => files.write("once", String(n), { create_only: true })),
    );
    expect(racing.filter(({ status }) => status === "fulfilled").length).toBe(1);
  });

  it("moves a file over another name of the same file", async () => {
    writeFileSync(at("a"), "content");
    linkSync(at("a"), at("b"));
    await files.move("a", "b", { overwrite: true });
    expect(readdirSync(place.path)).toEqual(["b"]);
    expect(readFileSync(at("b"), "utf8")).toBe("content");
  });

  it("moves, and deletes only what it was asked to", async () => {
    bash(place.path, "mkdir -p d/e; echo 1 > d/e/f; echo 2 > g");
    expect(await code(files.move("g", "d/e/f"))).toBe("already_exists");
    expect(await files.move("g", "d/e/f", { overwrite: true })).toMatchObject({ path: "d/e/f" });
    expect(readFileSync(at("d/e/f"), "utf8")).toBe("2\n");
    await files.move("d/e", "moved");
    expect(await code(files.move("moved", "moved/below"))).toBe("invalid_path");
    expect(await code(files.move("nothing", "x"))).toBe("not_found");
    expect(await code(files.delete("moved"))).toBe("not_empty");
    await files.delete("moved", { recursive: true });
    expect(await code(files.delete("moved"))).toBe("not_found");
    expect(await code(files.mkdir("d"))).toBe("already_exists");
    expect(await files.mkdir("d", { parents: true })).toMatchObject({ type: "directory" });
    expect(readdirSync(place.path)).toEqual(["d"]);
  });
});

describe("finding", () => {
  it.runIf(process.platform === "linux")(
    "searches beside a file that would fill the memory, and says that there may be more",
    async () => {
      bash(place.path, "git init -q .");
      writeFileSync(at("a.txt"), "a needle");
      writeFileSync(at("b"), "");
      truncateSync(at("b"), 64 * 1024 ** 3);
      expect(await files.search("needle")).toEqual({
        matches: [{ path: "a.txt", line: 1, column: 3, text: "a needle" }],
        truncated: true,
      });
    },
  );

  it("shows the beginning of a line of any length, and refuses an expression that git cannot hold", async () => {
    writeFileSync(at("long.txt"), `needle ${"x".repeat(20 * 1024 ** 2)}\nneedle\n`);
    const { matches, truncated } = await files.search("needle");
    expect(matches).toEqual([
      { path: "long.txt", line: 1, column: 1, text: `needle ${"x".repeat(493)}` },
      { path: "long.txt", line: 2, column: 1, text: "needle" },
    ]);
    expect(truncated).toBe(false);
    // So large that git has no memory for it at once: one that it works on for long would be stopped on a busy machine.
    const huge = "((((a{1,100}){1,100}){1,100}){1,100}){1,100}";
    await expect(files.search(huge, { regex: true, time_ms: 100_000 })).rejects.toMatchObject({ code: "invalid_pattern" });
  });

  it("does not search for a caller who went before it began", async () => {
    writeFileSync(at("a.txt"), "needle\n");
    expect(await files.search("needle", { signal: AbortSignal.abort() })).toEqual({ matches: [], truncated: true });
  });

  it("searches text with ignore rules, in a repository and without one", async () => {
    bash(
      place.path,
      "mkdir -p src out; echo 'a needle here' > src/a.ts; echo 'Needle' > src/b.md; echo needle > out/c; printf 'needle\\0' > bin; echo out/ > .gitignore",
    );
    symlinkSync(join(outside.path, "secret"), at("link"));
    for (const init of ["true", "git init -q"]) {
      bash(place.path, init);
      expect((await files.search("needle")).matches).toEqual([{ path: "src/a.ts", line: 1, column: 3, text: "a needle here" }]);
      expect((await files.search("needle", { ignore_case: true, glob: "*.md" })).matches.map(({ path }) => path)).toEqual([
        "src/b.md",
      ]);
      expect((await files.search("n.{2}dle", { regex: true, path: "src" })).matches.length).toBe(1);
      expect((await files.search("n.{2}dle")).matches).toEqual([]);
      expect((await files.search("secret")).matches).toEqual([]);
      expect(await files.search("needle", { ignore_case: true, limit: 1 })).toMatchObject({ truncated: true });
      expect(await code(files.search("(", { regex: true }))).toBe("invalid_pattern");
      expect(await code(files.search(""))).toBe("invalid_pattern");
    }
    expect((await files.search("-e")).matches).toEqual([]);
  });

  it("says where it found a text, also in a file whose name has several lines", async () => {
    bash(place.path, "mkdir -p $'odd\\n\\nsrc'; printf 'needle\\nneedle\\n' > $'odd\\n\\nsrc/real.ts'; echo needle > z.ts");
    const found = (await files.search("needle")).matches.map(({ path, line }) => [path, line]);
    expect(found).toEqual([
      ["odd\n\nsrc/real.ts", 1],
      ["odd\n\nsrc/real.ts", 2],
      ["z.ts", 1],
    ]);
  });

  it("completes paths: names first, ignored and deleted ones never", async () => {
    bash(
      place.path,
      "git init -q; mkdir -p src/session lib/deep node_modules/x; echo node_modules > .gitignore; for f in src/session/session-log.ts src/session.ts lib/deep/log.ts node_modules/x/session.ts session-gone.ts README.md; do : > $f; done; git add -A; rm session-gone.ts",
    );
    expect((await files.complete("session")).map(({ path }) => path)).toEqual(
      ["src/session.ts", "src/session", "src/session/session-log.ts"].sort((a, b) => a.length - b.length),
    );
    expect((await files.complete("seslog"))[0]).toEqual({ path: "src/session/session-log.ts", type: "file" });
    expect((await files.complete("README"))[0]).toEqual({ path: "README.md", type: "file" });
    expect((await files.complete("")).map(({ path }) => path).sort()).toEqual([".gitignore", "README.md", "lib", "src"]);
    expect(await files.complete("zzz")).toEqual([]);
    expect((await files.complete("s", 1)).length).toBe(1);
  });

  it("tells changes, also in new directories, but not in ignored ones", async () => {
    bash(place.path, "git init -q; mkdir -p src ignored; echo ignored/ > .gitignore");
    const seen: FileChanges[] = [];
    const watch = await files.watch((changes) => seen.push(changes));
    const paths = () => new Set(seen.flatMap((changes) => changes.paths));
    try {
      expect(watch.failure).toBeNull();
      writeFileSync(at("ignored/x"), "1");
      mkdirSync(at("src/new"));
      await expect.poll(paths).toContain("src/new");
      await files.write("src/new/file", "1");
      await expect.poll(paths).toContain("src/new/file");
      renameSync(at("src/new"), at("src/other"));
      await expect.poll(paths).toContain("src/other");
      writeFileSync(at("src/other/again"), "1");
      await expect.poll(paths).toContain("src/other/again");
      expect([...paths()].filter((path) => path.startsWith("ignored/") || path.startsWith(".git/"))).toEqual([]);
    } finally {
      watch.close();
    }
  });
});
