import {
  appendFileSync,
  chmodSync,
  mkdirSync,
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
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bash, differences, snapshot, temporary } from "../test-trees.ts";
import {
  CheckpointError,
  type CheckpointOptions,
  type Checkpoints,
  closeCheckpoints,
  openCheckpoints,
  pruneStores,
  storesBytes,
} from "./index.ts";

let place: ReturnType<typeof temporary>;
let stores: ReturnType<typeof temporary>;
let opened: Checkpoints[] = [];

beforeEach(() => {
  place = temporary("checkpoints");
  stores = temporary("stores");
});
afterEach(async () => {
  for (const each of opened) await closeCheckpoints(each);
  opened = [];
  place.remove();
  stores.remove();
});

const file = (name: string) => join(place.path, name);
const write = (name: string, text: string | Buffer) => {
  mkdirSync(join(file(name), ".."), { recursive: true });
  writeFileSync(file(name), text);
};
async function open(options: CheckpointOptions = {}, directory = place.path): Promise<Checkpoints> {
  const checkpoints = await openCheckpoints(directory, stores.path, options);
  opened.push(checkpoints);
  return checkpoints;
}
async function close(): Promise<void> {
  for (const each of opened.splice(0)) await closeCheckpoints(each);
}
const code = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return "no error";
  } catch (error) {
    return error instanceof CheckpointError ? error.code : String(error);
  }
};

describe("take", () => {
  it("says what changed, and makes no second checkpoint of the same tree", async () => {
    write("a.txt", "1");
    write("b/c.txt", "2");
    const checkpoints = await open();
    const first = await checkpoints.take({ kind: "turn_start", label: "first" });
    expect(first).toMatchObject({ created: true, label: "first", auto: true, counts: { entries: 3, added: 0 } });
    expect(first.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await checkpoints.take({ kind: "before_tool" })).toMatchObject({ id: first.id, created: false, files: [] });
    write("a.txt", "changed");
    write("new.txt", "n");
    rmSync(file("b"), { recursive: true });
    const next = await checkpoints.take({ kind: "after_tool", tool_name: "bash" });
    expect(next).toMatchObject({ created: true, tool_name: "bash", counts: { added: 1, modified: 1, deleted: 2 } });
    expect([...next.files].sort()).toEqual(["a.txt", "b", "b/c.txt", "new.txt"]);
    expect(checkpoints.list().map(({ id }) => id)).toEqual([first.id, next.id]);
  });

  it("gives equal trees equal digests, also in another directory and after a restart", async () => {
    bash(place.path, "git init -q; echo 1 > a; mkdir d; echo 2 > d/b; git add -A; git commit -qm x");
    const other = temporary("other");
    bash(other.path, `cp -a ${place.path}/. .`);
    const one = await (await open()).take({ kind: "manual" });
    await close();
    const again = await open();
    expect((await again.take({ kind: "manual" })).id).toBe(one.id);
    const two = await (await open({}, other.path)).take({ kind: "manual" });
    expect(two.digest).toBe(one.digest);
    await close();
    other.remove();
  });

  it("keeps working without watches, and after it was forgotten", async () => {
    write("a", "1");
    const checkpoints = await open({ idle_ms: 1 });
    const first = await checkpoints.take({ kind: "manual" });
    await expect.poll(() => checkpoints.usage().watched_directories).toBe(0);
    write("a", "2");
    expect((await checkpoints.take({ kind: "manual" })).timings.way).toBe("scan");
    await checkpoints.rewind(first.id, { force: true });
    expect(readFileSync(file("a"), "utf8")).toBe("1");
  });

  it("does not take its own store for a part of the workspace", async () => {
    write("a", "1");
    symlinkSync(place.path, join(stores.path, "here"));
    const checkpoints = await openCheckpoints(place.path, join(stores.path, "here/.data/stores"));
    opened.push(checkpoints);
    const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    write("a", "2");
    expect((await checkpoints.take({ kind: "after_tool", full: true })).files).toEqual(["a"]);
    expect((await checkpoints.rewind(id)).files).toEqual(["a"]);
    expect((await checkpoints.take({ kind: "after_tool", full: true })).created).toBe(false);
  });

  it("copies nothing that git has, and loses nothing when git drops it", async () => {
    for (let n = 0; n < 20; n++) write(`f${n}`, `content ${n} `.repeat(500));
    bash(
      place.path,
      "git init -q; git add -A; git commit -qm x; sleep 0.05; touch f0; git add -A; git update-index --refresh -q || true",
    );
    const checkpoints = await open();
    const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    expect(storesBytes(stores.path)).toBeLessThan(20_000);
    const before = snapshot(place.path);
    bash(place.path, "for n in 1 2 3; do echo changed > f$n; done");
    await checkpoints.take({ kind: "after_tool" });
    bash(
      place.path,
      "git checkout -q --orphan other; git rm -rfq .; git commit -q --allow-empty -m empty; git branch -D master main 2>/dev/null || true",
    );
    await checkpoints.take({ kind: "after_tool" });
    bash(place.path, "git reflog expire --expire=now --all; git gc -q --prune=now");
    expect((await checkpoints.rewind(id)).kept).toEqual([]);
    expect(differences(before, snapshot(place.path))).toEqual([]);
  });

  it("trusts no times where git stores other bytes than the file has", async () => {
    const text = "one\r\ntwo\r\n";
    bash(place.path, "git init -q; mkdir a b");
    for (const name of ["a/x", "b/x", "c"]) write(name, text);
    bash(
      place.path,
      "printf '* text eol=crlf\\n' > a/.gitattributes; printf '* text eol=crlf\\n' > b/.gitattributes; git add a; git add -f b/x; git commit -qm x; git rm -q --cached a/.gitattributes; sleep 0.1; git update-index -q --refresh",
    );
    const checkpoints = await open();
    const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    bash(place.path, "rm a/x b/x c");
    expect((await checkpoints.rewind(id)).kept).toEqual([]);
    for (const name of ["a/x", "b/x", "c"]) expect(readFileSync(file(name), "utf8")).toBe(text);
  });

  it("reads the files that only a removed repository had", async () => {
    bash(place.path, "git init -q; for n in 1 2 3; do echo $n > f$n; done; git add -A; git commit -qm x");
    const checkpoints = await open();
    const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    const before = snapshot(place.path);
    bash(place.path, "rm -rf .git; git init -q");
    await checkpoints.take({ kind: "after_tool" });
    bash(place.path, "rm f1; echo other > f2");
    expect((await checkpoints.rewind(id)).kept).toEqual([]);
    expect(differences(before, snapshot(place.path))).toEqual([]);
  });

  it("leaves out ignored directories, large and special files, and says so", async () => {
    bash(
      place.path,
      "git init -q; printf 'out/\\n*.big\\n' > .gitignore; mkdir -p out/deep; echo x > out/deep/x; echo small > s.big; mkfifo pipe",
    );
    write("large.bin", "");
    truncateSync(file("large.bin"), 11 * 1024 * 1024);
    write("ignored.big", "");
    truncateSync(file("ignored.big"), 2 * 1024 * 1024);
    const checkpoints = await open();
    const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    bash(place.path, "rm -rf out s.big; echo x >> large.bin; echo y > ignored.big; rm pipe; truncate -s 12M another.bin");
    const next = await checkpoints.take({ kind: "turn_end", session_id: "s" });
    expect(next.counts.not_stored).toBe(2);
    const rewound = await checkpoints.rewind(id);
    expect(rewound.files).toEqual(["s.big"]);
    expect(rewound.kept.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual([
      "another.bin not_stored",
      "ignored.big content_unavailable",
      "large.bin not_stored",
      "pipe content_unavailable",
    ]);
    expect(statSync(file("another.bin")).size).toBe(12 * 1024 * 1024);
  });

  it("has an ignored directory in which git tracks something", async () => {
    bash(
      place.path,
      "git init -q; printf 'out/\\nno/\\n' > .gitignore; mkdir -p out/deep no/deep; echo 1 > out/deep/x; echo 1 > out/y; echo 1 > no/deep/z; git add -f out/deep/x; git commit -qm x",
    );
    const checkpoints = await open();
    await checkpoints.take({ kind: "manual" });
    bash(place.path, "echo 2 > out/deep/x; echo 2 > out/y; echo 2 > no/deep/z");
    expect((await checkpoints.take({ kind: "manual" })).files.sort()).toEqual(["out/deep/x", "out/y"]);
  });

  it("stores what an edit touches, even in an ignored directory, and never deletes what it did not know", async () => {
    bash(place.path, "git init -q; echo lib/ > .gitignore; mkdir lib; echo 1 > lib/known; echo 1 > lib/other");
    const checkpoints = await open();
    const first = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    const pinned = await checkpoints.take({ kind: "before_tool", tool_name: "edit", paths: ["lib/known", file("lib/created")] });
    expect(pinned.created).toBe(true);
    writeFileSync(file("lib/known"), "2");
    writeFileSync(file("lib/created"), "new");
    const after = await checkpoints.take({ kind: "after_tool" });
    expect([...after.files].sort()).toEqual(["lib/created", "lib/known"]);
    await checkpoints.rewind(pinned.id);
    expect(readdirSync(file("lib")).sort()).toEqual(["known", "other"]);
    expect(readFileSync(file("lib/known"), "utf8")).toBe("1\n");
    await checkpoints.rewind(first.id);
    expect(readdirSync(file("lib")).sort()).toEqual(["known", "other"]);
  });

  it("does not take a directory for new because it is not ignored any more", async () => {
    bash(place.path, "git init -q; echo modules/ > .gitignore; mkdir modules; echo 1 > modules/a");
    const checkpoints = await open();
    const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    bash(place.path, "echo nothing > .gitignore");
    const next = await checkpoints.take({ kind: "after_tool" });
    expect(next.files).toContain("modules/a");
    expect((await checkpoints.rewind(id)).files).toEqual([".gitignore"]);
    expect(readFileSync(file("modules/a"), "utf8")).toBe("1\n");
  });
});

describe("diff", () => {
  it("names each kind of change, in both directions, with text on demand", async () => {
    write("edited.txt", "one\ntwo\n");
    write("deleted.txt", "gone\n");
    write("kind", "file");
    write("mode.sh", "x");
    write("binary", Buffer.from([0, 1, 2]));
    const checkpoints = await open();
    const a = await checkpoints.take({ kind: "manual" });
    write("edited.txt", "one\n2\n");
    rmSync(file("deleted.txt"));
    rmSync(file("kind"));
    symlinkSync("mode.sh", file("kind"));
    chmodSync(file("mode.sh"), 0o755);
    write("binary", Buffer.from([0, 9]));
    write("added.txt", "new\n");
    const b = await checkpoints.take({ kind: "manual" });
    const diff = await checkpoints.diff(a.id, b.id, { text: true });
    expect(diff.map(({ path, change }) => `${path} ${change}`)).toEqual([
      "added.txt added",
      "binary modified",
      "deleted.txt deleted",
      "edited.txt modified",
      "kind type",
      "mode.sh mode",
    ]);
    expect(diff.find(({ path }) => path === "edited.txt")?.patch).toContain("-two\n+2\n");
    expect(diff.find(({ path }) => path === "added.txt")?.patch).toMatch(/^--- \/dev\/null\n\+\+\+ b\/added.txt\n/);
    expect(diff.find(({ path }) => path === "binary")).toMatchObject({ binary: true });
    expect(diff.find(({ path }) => path === "mode.sh")).toMatchObject({ before: { mode: "0644" }, after: { mode: "0755" } });
    const back = await checkpoints.diff(b.id, a.id, { paths: ["added.txt", "deleted.txt"] });
    expect(back.map(({ path, change }) => `${path} ${change}`)).toEqual(["added.txt deleted", "deleted.txt added"]);
    write("later.txt", "x");
    expect((await checkpoints.diff(b.id, "now")).map(({ path }) => path)).toEqual(["later.txt"]);
    expect((await checkpoints.contentAt(a.id, "edited.txt"))?.toString()).toBe("one\ntwo\n");
    expect(await checkpoints.contentAt(a.id, "added.txt")).toBeNull();
    expect(await code(checkpoints.diff("nothing", b.id))).toBe("unknown_checkpoint");
  });
});

describe("rewind", () => {
  it("keeps what a person changed between turns, unless forced", async () => {
    write("agent.txt", "1");
    write("user.txt", "1");
    const checkpoints = await open();
    const first = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    write("agent.txt", "2");
    await checkpoints.take({ kind: "turn_end", session_id: "s" });
    write("user.txt", "mine");
    write("made/by/user.txt", "mine");
    await checkpoints.take({ kind: "turn_start", session_id: "s" });
    write("made/by/agent.txt", "3");
    write("user.txt", "changed by the agent too");
    await checkpoints.take({ kind: "turn_end", session_id: "s" });
    const rewound = await checkpoints.rewind(first.id);
    expect(rewound.kept.map(({ path, reason }) => `${path} ${reason}`).sort()).toEqual([
      "made user_edit",
      "made/by user_edit",
      "made/by/user.txt user_edit",
      "user.txt user_edit",
    ]);
    expect([...rewound.files].sort()).toEqual(["agent.txt", "made/by/agent.txt"]);
    expect(readFileSync(file("user.txt"), "utf8")).toBe("changed by the agent too");
    expect(readdirSync(file("made/by"))).toEqual(["user.txt"]);
    const forced = await checkpoints.rewind(first.id, { force: true });
    expect(forced.kept).toEqual([]);
    expect(readdirSync(place.path).sort()).toEqual(["agent.txt", "user.txt"]);
    await checkpoints.rewind(forced.undo_id);
    expect(readFileSync(file("made/by/user.txt"), "utf8")).toBe("mine");
  });

  it("rewinds only the paths that are asked for, with the directories they need", async () => {
    write("one/a.txt", "1");
    write("one/b.txt", "1");
    write("two.txt", "1");
    const checkpoints = await open();
    const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    bash(place.path, "rm -rf one; echo 2 > two.txt");
    const rewound = await checkpoints.rewind(id, { paths: ["one/a.txt"] });
    expect(rewound.files.sort()).toEqual(["one", "one/a.txt"]);
    expect(readdirSync(file("one"))).toEqual(["a.txt"]);
    expect(readFileSync(file("two.txt"), "utf8")).toBe("2\n");
    expect(await code(checkpoints.rewind(id, { paths: ["../outside"] }))).toBe("path_outside");
  });

  it("never touches git's refs or index, and says where HEAD was and is", async () => {
    bash(place.path, "git init -q -b main; echo 1 > a; git add a; git commit -qm one");
    const checkpoints = await open();
    const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    const one = bash(place.path, "git rev-parse HEAD").trim();
    bash(place.path, "git checkout -qb other; echo 2 > a; git commit -qam two");
    const two = bash(place.path, "git rev-parse HEAD").trim();
    const rewound = await checkpoints.rewind(id);
    expect(rewound.head).toEqual({
      at_checkpoint: { ref: "refs/heads/main", oid: one },
      now: { ref: "refs/heads/other", oid: two },
    });
    expect(bash(place.path, "git rev-parse HEAD; git symbolic-ref HEAD; git status --porcelain")).toBe(
      `${two}\nrefs/heads/other\n M a\n`,
    );
  });

  it("stays inside when a directory becomes a link on the way", async () => {
    write("d/file.txt", "inside");
    const outside = temporary("outside");
    const checkpoints = await open();
    const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
    writeFileSync(join(outside.path, "file.txt"), "outside");
    bash(place.path, `rm -rf d; ln -s ${outside.path} d`);
    const rewound = await checkpoints.rewind(id);
    expect(rewound.kept).toEqual([]);
    expect(readFileSync(join(outside.path, "file.txt"), "utf8")).toBe("outside");
    expect(readFileSync(file("d/file.txt"), "utf8")).toBe("inside");
    outside.remove();
  });
});

describe("refusals and limits", () => {
  it("refuses the root, the home directory and what holds it, and still stores touched files", async () => {
    const root = await open({}, "/");
    expect(root.refusal?.code).toBe("root_directory");
    write("touched", "1");
    const touched = await root.take({ kind: "before_tool", paths: [file("touched")] });
    write("touched", "2");
    await root.rewind(touched.id, { force: true });
    expect(readFileSync(file("touched"), "utf8")).toBe("1");
    await close();
    const home = file("home/user");
    mkdirSync(home, { recursive: true });
    expect((await open({ home }, file("home"))).refusal?.code).toBe("home_directory");
    await close();
    writeFileSync(join(home, "a.txt"), "1");
    writeFileSync(join(home, "b.txt"), "1");
    const checkpoints = await open({ home }, home);
    expect(checkpoints.refusal?.code).toBe("home_directory");
    expect(await code(checkpoints.take({ kind: "turn_start", session_id: "s" }))).toBe("home_directory");
    const taken = await checkpoints.take({ kind: "before_tool", paths: ["a.txt", "deep/new.txt"] });
    bash(home, "echo 2 > a.txt; echo 2 > b.txt; mkdir deep; echo n > deep/new.txt");
    await checkpoints.rewind(taken.id);
    expect(readFileSync(join(home, "a.txt"), "utf8")).toBe("1");
    expect(readFileSync(join(home, "b.txt"), "utf8")).toBe("2\n");
    expect(readdirSync(join(home, "deep"))).toEqual([]);
  });

  it("refuses too many files and too many bytes, and goes on with touched ones", async () => {
    for (let n = 0; n < 20; n++) write(`f${n}`, `${n} `.repeat(500));
    const many = await open({ limits: { files: 10 } });
    expect(await code(many.take({ kind: "turn_start" }))).toBe("too_many_files");
    expect(many.refusal?.code).toBe("too_many_files");
    expect(await many.take({ kind: "before_tool", paths: ["f1"] })).toMatchObject({ created: true });
    expect(many.list()[0]).toMatchObject({ scope: "touched" });
    await close();
    const large = await open({ limits: { copied_bytes: 5_000 } });
    expect(await code(large.take({ kind: "turn_start" }))).toBe("too_many_bytes");
    await close();
    // It fits now: the whole tree again, and nothing of it counts as new.
    const all = await open();
    expect(await all.take({ kind: "manual" })).toMatchObject({ counts: { entries: 20, added: 0 } });
  });

  it("says that the directory is gone", async () => {
    write("sub/a", "1");
    const checkpoints = await open({}, file("sub"));
    const { id } = await checkpoints.take({ kind: "manual" });
    rmSync(file("sub"), { recursive: true });
    expect(await code(checkpoints.take({ kind: "manual" }))).toBe("directory_missing");
    expect(await code(checkpoints.rewind(id))).toBe("directory_missing");
    await close();
    expect(await code(openCheckpoints(file("sub"), stores.path))).toBe("directory_missing");
    write("plain", "1");
    expect(await code(openCheckpoints(file("plain"), stores.path))).toBe("directory_missing");
  });

  it("finds everything in a directory that was removed and made again", async () => {
    write("sub/d/a", "1");
    const checkpoints = await open({}, file("sub"));
    await checkpoints.take({ kind: "manual" });
    rmSync(file("sub"), { recursive: true });
    expect(await code(checkpoints.take({ kind: "manual" }))).toBe("directory_missing");
    write("sub/d/b", "2");
    expect((await checkpoints.take({ kind: "manual" })).files.sort()).toEqual(["d/a", "d/b"]);
    write("sub/d/b", "3");
    expect((await checkpoints.take({ kind: "manual" })).files).toEqual(["d/b"]);
  });

  it("is one writer: another process is refused, the same process shares", async () => {
    write("a", "1");
    const one = await open();
    expect(await open()).toBe(one);
    await close();
    const folder = join(stores.path, readdirSync(stores.path)[0]!);
    const pid = Number(bash(place.path, "sleep 60 >/dev/null 2>&1 & echo $!"));
    writeFileSync(join(folder, "lock"), String(pid));
    expect(await code(openCheckpoints(place.path, stores.path))).toBe("store_locked");
    process.kill(pid);
    await expect.poll(() => code(open().then(() => {}))).toBe("no error");
  });
});

describe("watching", () => {
  it("notices that the kernel's queue was too short", async () => {
    write("first", "1");
    const checkpoints = await open();
    await checkpoints.take({ kind: "manual" });
    // The loop does not run meanwhile, so nobody reads the queue: 16,384 events fit.
    bash(place.path, "mkdir many; sync -f . 2>/dev/null || true");
    expect((await checkpoints.take({ kind: "manual" })).timings.way).toBe("watch");
    bash(place.path, "for i in $(seq 1 9000); do : > many/$i; : >> many/$i; done; rm first");
    const taken = await checkpoints.take({ kind: "manual" });
    expect(taken.timings.way).toBe("scan");
    expect(taken.counts).toMatchObject({ added: 9000, deleted: 1 });
    appendFileSync(file("many/7"), "x");
    expect(await checkpoints.take({ kind: "manual" })).toMatchObject({ files: ["many/7"], timings: { way: "watch" } });
  });

  it("follows directories that move, come and go", async () => {
    bash(place.path, "mkdir -p a/b; echo 1 > a/b/f");
    const checkpoints = await open();
    await checkpoints.take({ kind: "manual" });
    renameSync(file("a"), file("z"));
    expect((await checkpoints.take({ kind: "manual" })).files.sort()).toEqual(["a", "a/b", "a/b/f", "z", "z/b", "z/b/f"]);
    write("z/b/f", "2");
    expect((await checkpoints.take({ kind: "manual" })).files).toEqual(["z/b/f"]);
    bash(place.path, "rm -rf z; mkdir -p z/b; echo 3 > z/b/g");
    expect((await checkpoints.take({ kind: "manual" })).files.sort()).toEqual(["z/b/f", "z/b/g"]);
    write("z/b/h", "4");
    expect(await checkpoints.take({ kind: "manual" })).toMatchObject({ files: ["z/b/h"], timings: { way: "watch" } });
  });
});

describe("retention", () => {
  it("drops checkpoints and their contents, and what is left still adds up", async () => {
    const checkpoints = await open();
    write("f", "0");
    const ids = [(await checkpoints.take({ kind: "turn_start", session_id: "s" })).id];
    const states = [snapshot(place.path)];
    for (let n = 1; n <= 8; n++) {
      write("f", String(n).repeat(200_000));
      write(`only${n}`, String(n));
      ids.push((await checkpoints.take({ kind: "after_tool" })).id);
      states.push(snapshot(place.path));
    }
    const before = checkpoints.usage().bytes;
    const { dropped, freed_bytes } = await checkpoints.drop([ids[0]!, ids[2]!, ids[3]!, ids[4]!, ids[6]!, ids[7]!, ids[8]!]);
    expect(dropped).toBe(6);
    expect(freed_bytes).toBeGreaterThan(900_000);
    expect(checkpoints.usage().bytes).toBe(before - freed_bytes);
    expect(checkpoints.list().map(({ id }) => id)).toEqual([ids[1], ids[5], ids[8]]);
    await close();
    const again = await open();
    for (const at of [5, 1, 8, 5]) {
      expect((await again.rewind(ids[at]!)).kept).toEqual([]);
      expect(differences(states[at]!, snapshot(place.path))).toEqual([]);
    }
    expect(await code(again.rewind(ids[2]!))).toBe("unknown_checkpoint");
  });

  it("stays under its quota by dropping the oldest, and refuses what alone is more", async () => {
    write("f", "0");
    const checkpoints = await open({ quota_bytes: 400_000 });
    const first = await checkpoints.take({ kind: "manual" });
    for (let n = 1; n <= 9; n++) {
      write("f", String(n).repeat(100_000));
      await checkpoints.take({ kind: "manual" });
    }
    expect(checkpoints.usage().bytes).toBeLessThan(400_000);
    expect(checkpoints.list().some(({ id }) => id === first.id)).toBe(false);
    const kept = checkpoints.list().length;
    write("huge", "x".repeat(500_000));
    expect(await code(checkpoints.take({ kind: "manual" }))).toBe("quota_exceeded");
    expect(checkpoints.list().length).toBe(kept);
    rmSync(file("huge"));
    expect(await code(checkpoints.take({ kind: "manual" }))).toBe("no error");
  });

  it("cleans up the stores of all workspaces by age and size", async () => {
    for (const name of ["one", "two", "three"]) {
      write(`${name}/f`, name.repeat(50_000));
      await (await open({}, file(name))).take({ kind: "manual" });
      if (name !== "three") await close();
    }
    const all = storesBytes(stores.path);
    expect((await pruneStores(stores.path, { max_bytes: all, max_age_ms: 60_000 })).removed).toEqual([]);
    expect((await pruneStores(stores.path, { max_bytes: all - 1, max_age_ms: 60_000 })).removed.length).toBe(1);
    expect(
      (await pruneStores(stores.path, { max_bytes: all, max_age_ms: 60_000, now: Date.now() + 120_000 })).removed.length,
    ).toBe(1);
    expect(readdirSync(stores.path).length).toBe(1);
  });
});
