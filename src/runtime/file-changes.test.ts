import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeChanges, planChange, readCurrent } from "./file-changes.ts";
import { MemoryBlobs } from "./memory-stores.ts";

let place: string;
let blobs: MemoryBlobs;
beforeEach(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-changes-")));
  for (const name of ["work/inner/deep", "outside/deep"]) mkdirSync(join(place, name), { recursive: true });
  for (const name of ["work/inner/a.txt", "outside/a.txt"]) writeFileSync(join(place, name), "old");
  blobs = new MemoryBlobs();
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

describe.runIf(existsSync("/proc/self/fd"))("a directory that became a link after its change was planned", () => {
  it.each([
    ["inner/a.txt", Buffer.from("new")],
    ["inner/deep/b.txt", Buffer.from("new")],
    ["inner/a.txt", null],
  ])("leads nobody out: %s", async (path, content) => {
    const change = await planChange(join(place, "work", path), content, blobs);
    renameSync(join(place, "work/inner"), join(place, "work/moved"));
    symlinkSync(join(place, "outside"), join(place, "work/inner"));
    await expect(readCurrent(join(place, "work/inner/a.txt"))).rejects.toThrow(/leads elsewhere now/);
    await expect(makeChanges([change], blobs)).rejects.toThrow(/leads elsewhere now|ELOOP|ENOTDIR|somebody else/);
    expect(readFileSync(join(place, "outside/a.txt"), "utf8")).toBe("old");
    expect([readdirSync(join(place, "outside")), readdirSync(join(place, "outside/deep"))]).toEqual([["a.txt", "deep"], []]);
  });

  it("changes files otherwise, with their permissions", async () => {
    const file = join(place, "work/inner/a.txt");
    await makeChanges([await planChange(file, Buffer.from("new"), blobs)], blobs);
    expect(readFileSync(file, "utf8")).toBe("new");
    await makeChanges([await planChange(file, null, blobs)], blobs);
    expect(readdirSync(join(place, "work/inner"))).toEqual(["deep"]);
  });
});

it("makes the directories that a file needs, and gives up where none can be made", async () => {
  const file = join(place, "work/new/and/deep/a.txt");
  await makeChanges([await planChange(file, Buffer.from("new"), blobs)], blobs);
  expect(readFileSync(file, "utf8")).toBe("new");
  const change = { ...(await planChange(file, Buffer.from("newer"), blobs)), path: "/proc/nobody/deep/a.txt", pre: null };
  await expect(makeChanges([change], blobs)).rejects.toThrow(/Nothing was changed/);
});
