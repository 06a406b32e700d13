import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClientFiles } from "./client-files.ts";

let base: string;
let root: string;
let files: ClientFiles;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "acp-files-"));
  root = join(base, "work");
  mkdirSync(root);
  writeFileSync(join(base, "secret.txt"), "secret");
  writeFileSync(join(root, "a.txt"), "one\ntwo\nthree\n");
  files = new ClientFiles(root, "error");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("reading", () => {
  it("reads some lines of a file that is too large as a whole", async () => {
    const path = join(root, "large.txt");
    writeFileSync(path, Array.from({ length: 600_000 }, (_, i) => `line ${i + 1}\n`).join(""));
    await expect(files.read({ path })).rejects.toThrow(/some lines/);
    expect(await files.read({ path, line: 500_000, limit: 2 })).toEqual({ content: "line 500000\nline 500001\n" });
    await expect(files.read({ path, line: 1, limit: 590_000 })).rejects.toThrow(/fewer/);
  });

  it("reads one file at a time, and none before the agent has read the last answer", async () => {
    let letGo = (): void => {};
    const slow = new ClientFiles(
      root,
      "error",
      () =>
        new Promise((resolve) => {
          letGo = resolve;
        }),
    );
    const order: string[] = [];
    const reads = ["a", "b"].map((name) => slow.read({ path: join(root, "a.txt") }).then(() => order.push(name)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    letGo();
    await reads[0];
    expect(order).toEqual(["a"]);
    letGo();
    await reads[1];
    expect(order).toEqual(["a", "b"]);
  });

  it("reads whole files, and lines counted from 1", async () => {
    expect(await files.read({ path: join(root, "a.txt") })).toEqual({ content: "one\ntwo\nthree\n" });
    expect(await files.read({ path: join(root, "a.txt"), line: 2, limit: 1 })).toEqual({ content: "two\n" });
    expect(await files.read({ path: join(root, "a.txt"), line: 3 })).toEqual({ content: "three\n" });
    expect(await files.read({ path: join(root, "a.txt"), limit: null, line: null })).toEqual({ content: "one\ntwo\nthree\n" });
  });

  it("answers a missing file as the agent needs it", async () => {
    await expect(files.read({ path: join(root, "none.txt") })).rejects.toMatchObject({ code: -32002 });
    expect(await new ClientFiles(root, "empty").read({ path: join(root, "none.txt") })).toEqual({ content: "" });
  });

  it.each([["../secret.txt"], ["a/../../secret.txt"], ["/etc/hostname"]])("refuses %s", async (path) => {
    await expect(files.read({ path })).rejects.toMatchObject({ code: -32602 });
  });

  it("a neighbour whose name begins alike is outside", async () => {
    mkdirSync(join(base, "work-2"));
    writeFileSync(join(base, "work-2", "x"), "x");
    await expect(files.read({ path: join(base, "work-2", "x") })).rejects.toMatchObject({ code: -32602 });
  });

  it("a link does not lead out, a link inside does", async () => {
    symlinkSync(join(base, "secret.txt"), join(root, "out"));
    symlinkSync(join(root, "a.txt"), join(root, "in"));
    symlinkSync(base, join(root, "dir"));
    await expect(files.read({ path: join(root, "out") })).rejects.toMatchObject({ code: -32602 });
    await expect(files.read({ path: join(root, "dir", "secret.txt") })).rejects.toMatchObject({ code: -32602 });
    expect(await files.read({ path: join(root, "in") })).toEqual({ content: "one\ntwo\nthree\n" });
  });

  it("refuses what is no file", async () => {
    await expect(files.read({ path: root })).rejects.toMatchObject({ code: -32602 });
    await expect(files.read({})).rejects.toMatchObject({ code: -32602 });
  });
});

describe("writing", () => {
  it("writes, makes folders, replaces", async () => {
    await files.write({ path: join(root, "new", "b.txt"), content: "b" });
    await files.write({ path: join(root, "a.txt"), content: "short" });
    expect(readFileSync(join(root, "new", "b.txt"), "utf8")).toBe("b");
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("short");
  });

  it("never through a link that leads out, not even a dangling one", async () => {
    symlinkSync(join(base, "secret.txt"), join(root, "out"));
    symlinkSync(join(base, "made.txt"), join(root, "dangling"));
    symlinkSync(base, join(root, "dir"));
    for (const path of ["out", "dangling", "dir/made.txt", "dir/new/made.txt"]) {
      await expect(files.write({ path: join(root, path), content: "x" })).rejects.toMatchObject({ code: -32602 });
    }
    expect(readFileSync(join(base, "secret.txt"), "utf8")).toBe("secret");
    expect(() => readFileSync(join(base, "made.txt"))).toThrow();
  });

  it("needs a text", async () => {
    await expect(files.write({ path: join(root, "c") })).rejects.toMatchObject({ code: -32602 });
  });
});

describe("directories for terminals", () => {
  it("is the session's own unless another one inside is named", async () => {
    mkdirSync(join(root, "sub"));
    expect(await files.directory(undefined)).toBe(root);
    expect(await files.directory(join(root, "sub"))).toBe(join(root, "sub"));
    await expect(files.directory(base)).rejects.toMatchObject({ code: -32602 });
    await expect(files.directory(join(root, "a.txt"))).rejects.toMatchObject({ code: -32602 });
  });
});

describe("a directory that is swapped for a link all the time", () => {
  // For a long proof: DRAGOMAN_RACE_TRIES=3000.
  const TRIES = Number(process.env.DRAGOMAN_RACE_TRIES ?? 1_000);
  /**
   * Takes the directory away, puts a link to the outside in its place, and back again, as fast as it can. A write that comes while nothing
   * stands there makes a new directory of that name: it is moved away, or the swapping would stand still from then on.
   */
  const SWAPPER = `
    const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
    const { workerData, parentPort } = require("node:worker_threads");
    const { sub, outside } = workerData;
    let made = 0;
    parentPort.postMessage("ready");
    for (;;) {
      renameSync(sub, sub + ".real");
      try {
        symlinkSync(outside, sub);
        unlinkSync(sub);
      } catch {}
      for (let back = false; !back; ) {
        try {
          renameSync(sub + ".real", sub);
          back = true;
        } catch {
          renameSync(sub, sub + ".made-" + made++);
        }
      }
    }`;

  it("lets no file be written or read outside", async () => {
    const [sub, outside] = [join(root, "sub"), join(base, "outside")];
    mkdirSync(join(sub, "deep"), { recursive: true });
    mkdirSync(join(outside, "deep"), { recursive: true });
    writeFileSync(join(sub, "same.txt"), "inside");
    writeFileSync(join(outside, "same.txt"), "secret");
    const worker = new Worker(SWAPPER, { eval: true, workerData: { sub, outside } });
    await new Promise((resolve) => worker.once("message", resolve));
    const done = { written: 0, read: 0, refused: 0, leaked: 0 };
    const refused = (): void => void done.refused++;
    let index = 0;
    // Until some of both met the directory, however seldom it is there.
    for (; index < TRIES || Math.min(done.written, done.read) === 0; index += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, each) => {
          const path = each % 2 ? join(sub, `${index + each}.txt`) : join(sub, "deep", `new-${index + each}`, "file.txt");
          await files.write({ path, content: "x" }).then(() => done.written++, refused);
          await files
            .read({ path: join(sub, "same.txt") })
            .then(({ content }) => (content === "inside" ? done.read++ : done.leaked++), refused);
        }),
      );
    }
    await worker.terminate();
    expect({ outside: readdirSync(outside, { recursive: true }).sort(), leaked: done.leaked }).toEqual({
      outside: ["deep", "same.txt"],
      leaked: 0,
    });
    expect(done.written + done.read + done.refused).toBe(2 * index);
  });
});
