import { appendFileSync, existsSync, lstatSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Repositories } from "../git/repository.ts";
import { temporary } from "../test-trees.ts";
import { contentIds, readFile } from "./content.ts";
import type { Entry } from "./entry.ts";
import { Look } from "./look.ts";
import { Packs } from "./packs.ts";
import { FileReader } from "./read-files.ts";
import { Slices } from "./slices.ts";
import { Tree } from "./tree.ts";
import { WriteBack } from "./write-back.ts";

let place: ReturnType<typeof temporary>;
let store: ReturnType<typeof temporary>;
beforeEach(() => {
  place = temporary("read");
  store = temporary("packs");
});
afterEach(() => {
  place.remove();
  store.remove();
});

const limits = { files: 10, copied_bytes: 10_000, untracked_bytes: 100, ignored_bytes: 100, file_bytes: 1_000 };

describe("a file that grows", () => {
  it("between the look at it and the reading is not stored when it is too large by then", async () => {
    const packs = new Packs(join(store.path, "packs"));
    const tree = new Tree();
    const look = new Look(tree);
    const context = {
      ...{ root: place.path, tree, first: true, packs, idOf: contentIds("sha256"), repositories: new Repositories() },
      ...{ nested: async () => {}, watches: null, hidden: new Set<string>(), newPins: new Set<string>(), limits },
      pinned: new Set(["pinned"]),
    };
    const files = ["grown", "pinned", "same"].map((path) => {
      writeFileSync(join(place.path, path), "short");
      return { path, stat: lstatSync(join(place.path, path)), old: undefined };
    });
    appendFileSync(join(place.path, "grown"), "x".repeat(200));
    appendFileSync(join(place.path, "pinned"), "x".repeat(2_000));
    await new FileReader(context, look, new Slices()).read(files);
    const found = (path: string): Entry | undefined => tree.get(path);
    expect(["grown", "pinned", "same"].map((path) => [found(path)?.kind, found(path)?.size])).toEqual([
      ["s", 205],
      ["s", 2_005],
      ["f", 5],
    ]);
    packs.close();
  });

  it.runIf(existsSync("/proc/self/cmdline"))("without end is not read without end", () => {
    // Says that it is empty, and is not.
    const own = `/proc/${process.pid}`;
    expect(lstatSync(`${own}/cmdline`).size).toBe(0);
    expect(readFile(own, "cmdline", 1_000_000)?.content.length).toBeGreaterThan(3);
    expect(readFile(own, "cmdline", 3)).toBeNull();
  });

  it("and cannot be what a rewind expects any more is not read at all", () => {
    const read: number[] = [];
    const hands = new WriteBack({
      ...{ root: place.path, prefix: ".rewind-", content: () => Buffer.from("before") },
      idOf: (content) => String(read.push(content.length)),
    });
    const path = join(place.path, "huge");
    writeFileSync(path, "");
    truncateSync(path, 10_000_000);
    hands.run([{ path: "huge", from: "f 644 5 x", to: "f 644 6 y" }]);
    expect(hands.kept).toEqual([{ path: "huge", reason: "changed_meanwhile" }]);
    expect(read).toEqual([]);
  });
});
