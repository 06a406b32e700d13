import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AgentHost } from "../agents/contract.ts";
import { carriedFiles } from "../agents/kit/carry.ts";
import { mockAgent } from "../agents/mock/agent.ts";
import { migrateLog } from "../daemon/migrate-log.ts";
import type { Log, StreamWriter } from "../log/contract.ts";
import { openSqliteLog } from "../log/sqlite/log.ts";
import { CarriedMemory, canMove, mustCarry } from "./carried-memory.ts";
import { parseRow, type SessionRow } from "./session-row.ts";

const MIB = 1024 * 1024;
const NATIVE = "native_1";

let root: string;
let log: Log;
let warnings: unknown[];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "dragoman-carried-"));
  log = await openSqliteLog({ dataDir: join(root, "log") });
  warnings = [];
});

afterEach(async () => {
  await log.close();
  rmSync(root, { recursive: true, force: true });
});

/** One session on one node: what its agent keeps there, and what of it is in the log. */
class Held {
  readonly folder: string;
  readonly row: SessionRow;
  readonly stream: StreamWriter;
  readonly memory: CarriedMemory;
  /** Something that happens in just that moment. */
  afterLook = (): void => {};
  beforeRead = (): void => {};

  constructor(node: string | null, stream: StreamWriter, row: SessionRow) {
    this.folder = join(root, node ?? "alone");
    this.stream = stream;
    this.row = row;
    const host = {
      environment: () => ({}),
      log: (level: string, _: string, fields: unknown) => {
        if (level === "warn") warnings.push(fields);
      },
    } as unknown as AgentHost;
    const carry = carriedFiles(
      "home",
      () => this.folder,
      (id) => [[`${id}.jsonl`], [id, "**"]],
    );
    const get = (kind: string, name: string): Promise<string | undefined> => {
      if (kind === "carried_piece") this.beforeRead();
      return log.documents.get(kind, name);
    };
    this.memory = new CarriedMemory({
      ...{ host, node, row: this.row, documents: stream.documents },
      log: { documents: { get }, row: (kind, name) => log.row(kind, name) },
      carry: {
        ...carry,
        files: async (place) => {
          const files = await carry.files(place);
          this.afterLook();
          return files;
        },
      },
      save: (carried) => {
        this.row.carried = carried;
        stream.setState(JSON.stringify(this.row));
      },
      committed: () => stream.committed(),
    });
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
  }

  read(name: string): Buffer {
    return readFileSync(this.path(name));
  }

  /** The agent runs, and rests. */
  async works(): Promise<void> {
    await this.memory.bring();
    await this.memory.rested();
  }
}

async function begun(id: string, node: string | null, more: Partial<SessionRow> = {}): Promise<Held> {
  const json = JSON.stringify({ session_id: id, agent: "test", directory: root, native_session_id: NATIVE, ...more });
  return new Held(node, await log.create("session", id, json), parseRow(json));
}

/** Another node takes the session over. */
async function taken(held: Held, node: string | null): Promise<Held> {
  held.memory.close();
  const stream = await log.writer("session", held.stream.id);
  if (!stream) throw new Error("the session is gone");
  return new Held(node, stream, parseRow(JSON.stringify(held.row)));
}

const pieces = async (): Promise<string[]> => (await log.documents.list("carried_piece")).map(({ id }) => id);

describe("what an agent remembers goes with its session", () => {
  it("is on the next node as it was: text, bytes that are no text, an empty file, a folder, a large file", async () => {
    const a = await begun("ses_1", "a");
    const bytes = Buffer.from([0, 255, 254, 10, 128]);
    const large = Buffer.alloc(2 * MIB + 17, "line of text\n");
    a.write(`${NATIVE}.jsonl`, '{"text":"prüfe ✓"}\n');
    a.write(`${NATIVE}/deep/blob`, bytes);
    a.write(`${NATIVE}/empty`, "");
    a.write(`${NATIVE}/large`, large);
    a.write("other.jsonl", "of another session");
    await a.works();
    const b = await taken(a, "b");
    await b.memory.bring();
    expect(b.read(`${NATIVE}.jsonl`).toString()).toBe('{"text":"prüfe ✓"}\n');
    expect(b.read(`${NATIVE}/deep/blob`).equals(bytes)).toBe(true);
    expect(b.read(`${NATIVE}/empty`).length).toBe(0);
    expect(b.read(`${NATIVE}/large`).equals(large)).toBe(true);
    expect(readdirSync(b.folder).sort()).toEqual([NATIVE, `${NATIVE}.jsonl`]);
    expect(warnings).toEqual([]);
  });

  it("a file that grew costs what is new of it, and nothing that is out of use stays in the log", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, Buffer.alloc(MIB + 100_000, "a"));
    await a.works();
    const before = await pieces();
    expect(before.length).toBe(2);
    appendFileSync(a.path(`${NATIVE}.jsonl`), Buffer.alloc(10_000, "b"));
    await a.works();
    const grown = await pieces();
    // Both as they were, and the new end.
    expect(grown.length).toBe(3);
    expect(before.every((id) => grown.includes(id))).toBe(true);
    // The end was small: it is one piece with what follows it.
    appendFileSync(a.path(`${NATIVE}.jsonl`), "c");
    await a.works();
    expect((await pieces()).length).toBe(3);
    a.write(`${NATIVE}.jsonl`, "made shorter by the agent");
    await a.works();
    expect((await pieces()).length).toBe(1);
    expect((await log.documents.list("carried_files")).length).toBe(1);
    const b = await taken(a, "b");
    await b.memory.bring();
    expect(b.read(`${NATIVE}.jsonl`).toString()).toBe("made shorter by the agent");
  });

  it("nothing is written when nothing has changed", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, "one");
    await a.works();
    const { carried } = a.row;
    const mark = a.stream.enqueuedMark;
    await a.works();
    expect(a.row.carried).toBe(carried);
    expect(a.stream.enqueuedMark).toBe(mark);
  });

  it("what the node itself stored last is not overwritten: it may have more of it", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, "one");
    await a.works();
    appendFileSync(a.path(`${NATIVE}.jsonl`), " and two");
    const again = await taken(a, "a");
    await again.memory.bring();
    expect(again.read(`${NATIVE}.jsonl`).toString()).toBe("one and two");
    rmSync(again.folder, { recursive: true });
    const empty = await taken(again, "a");
    await empty.memory.bring();
    expect(empty.read(`${NATIVE}.jsonl`).toString()).toBe("one");
  });

  it("comes back from another node as it was left there", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, "one");
    await a.works();
    const b = await taken(a, "b");
    await b.memory.bring();
    appendFileSync(b.path(`${NATIVE}.jsonl`), " two");
    await b.memory.rested();
    const back = await taken(b, "a");
    await back.memory.bring();
    expect(back.read(`${NATIVE}.jsonl`).toString()).toBe("one two");
  });

  it("a fork begins with the memory of the session it branches off from, on any node", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, "of the origin");
    await a.works();
    const fork = await begun("ses_2", "b", { fork: true, forked_from: "ses_1" });
    await fork.memory.bring();
    expect(fork.read(`${NATIVE}.jsonl`).toString()).toBe("of the origin");
    // The agent has not branched off yet: what lies there is the origin's.
    await fork.memory.rested();
    expect(fork.row.carried).toBeUndefined();
    Object.assign(fork.row, { fork: false, native_session_id: "native_2" });
    fork.write("native_2.jsonl", "of the fork");
    await fork.memory.rested();
    const c = await taken(fork, "c");
    await c.memory.bring();
    expect(readdirSync(c.folder)).toEqual(["native_2.jsonl"]);
  });

  it("goes with the session when that is removed", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, "one");
    await a.works();
    a.memory.close();
    await log.delete("session", "ses_1");
    expect(await pieces()).toEqual([]);
    expect(await log.documents.list("carried_files")).toEqual([]);
  });
});

describe("what cannot be trusted is not followed", () => {
  it("a link beside the conversation is not read: it may lead anywhere", async () => {
    const a = await begun("ses_1", "a");
    const secret = join(root, "secret");
    writeFileSync(secret, "not the agent's");
    a.write(`${NATIVE}.jsonl`, "one");
    mkdirSync(a.path(NATIVE));
    symlinkSync(secret, a.path(`${NATIVE}/link`));
    symlinkSync(root, a.path(`${NATIVE}/folder`));
    await a.works();
    const b = await taken(a, "b");
    await b.memory.bring();
    expect(readdirSync(b.folder)).toEqual([`${NATIVE}.jsonl`]);
  });

  it.each(["../outside", "/etc/outside", "a/../../outside", "."])(
    "a list that names %s is refused, and the agent does not start",
    async (path) => {
      const a = await begun("ses_1", "a");
      a.stream.documents.put("carried_files", "made-up", JSON.stringify({ node: "b", files: [{ path, pieces: [] }] }));
      a.row.carried = "made-up";
      await a.stream.committed();
      await expect(a.memory.bring()).rejects.toThrow("lies outside the agent's folder");
      expect(readdirSync(root).sort()).not.toContain("outside");
    },
  );

  it.each([
    ["missing", (stream: StreamWriter, id: string) => stream.documents.delete("carried_piece", id)],
    ["damaged", (stream: StreamWriter, id: string) => stream.documents.put("carried_piece", id, '{"text":"something else"}')],
  ])("a piece that is %s stops the start with a sentence, and no half of a file is left", async (word, harm) => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, "one");
    await a.works();
    const [id = ""] = await pieces();
    harm(a.stream, id.split("/").at(-1) ?? "");
    await a.stream.committed();
    const b = await taken(a, "b");
    await expect(b.memory.bring()).rejects.toThrow(`A piece of what the agent of ses_1 remembers is ${word}.`);
    expect(readdirSync(b.folder)).toEqual([]);
  });

  it("an id that is no plain name has no files", async () => {
    const a = await begun("ses_1", "a", { native_session_id: "../a" });
    a.write(`${NATIVE}.jsonl`, "one");
    await a.works();
    expect(a.row.carried).toBeUndefined();
  });
});

describe("what an agent can do to its own folder", () => {
  it("a file with a hole of a terabyte is not stored, what was stored before stays whole, and it is said", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, "one");
    await a.works();
    a.write(`${NATIVE}/aaa`, Buffer.alloc(MIB, "before the other"));
    a.write(`${NATIVE}/hole`, "");
    truncateSync(a.path(`${NATIVE}/hole`), 2 ** 40);
    await a.works();
    expect(warnings).toEqual([{ session_id: "ses_1", error: expect.stringContaining("hole these are more than 1024 MiB") }]);
    rmSync(a.path(`${NATIVE}/hole`));
    rmSync(a.path(`${NATIVE}/aaa`));
    a.write(`${NATIVE}.jsonl`, "one and two");
    await a.works();
    expect((await pieces()).length).toBe(1);
    const b = await taken(a, "b");
    await b.memory.bring();
    expect(b.read(`${NATIVE}.jsonl`).toString()).toBe("one and two");
  });

  it("a pipe in the place of a file, put there after the folder was read, is not waited for", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, "one");
    a.write(`${NATIVE}/notes`, "two");
    a.afterLook = () => {
      rmSync(a.path(`${NATIVE}/notes`));
      execFileSync("mkfifo", [a.path(`${NATIVE}/notes`)]);
    };
    await a.works();
    const b = await taken(a, "b");
    await b.memory.bring();
    expect(readdirSync(b.folder)).toEqual([`${NATIVE}.jsonl`]);
  });

  it("a name as long as the system allows is brought back as any other", async () => {
    const long = `${NATIVE}/${"n".repeat(255)}`;
    const a = await begun("ses_1", "a");
    a.write(long, "one");
    await a.works();
    const b = await taken(a, "b");
    await b.memory.bring();
    expect(b.read(long).toString()).toBe("one");
  });

  it("what a daemon that was killed had half written is no part of it", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}/notes`, "one");
    await a.works();
    const b = await taken(a, "b");
    let half = "";
    b.beforeRead = () => {
      half = readdirSync(b.path(NATIVE))[0] ?? "";
    };
    await b.memory.bring();
    b.write(`${NATIVE}/${half}`, "half");
    b.write(`${NATIVE}/notes`, "one and two");
    await b.memory.rested();
    const c = await taken(b, "c");
    await c.memory.bring();
    expect([half === "", readdirSync(c.path(NATIVE))]).toEqual([false, ["notes"]]);
  });

  it("when no more files can be opened, what is stored is not taken to be gone", async () => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, "one");
    await a.works();
    const again = await taken(a, "a");
    appendFileSync(again.path(`${NATIVE}.jsonl`), " and two");
    const open: number[] = [];
    const limit = (files: number): void => void execFileSync("prlimit", ["--pid", String(process.pid), `--nofile=${files}:`]);
    const before = execFileSync("prlimit", ["--pid", String(process.pid), "--nofile", "-o", "SOFT", "--noheadings"]);
    // Before the process that sets it, which needs some itself.
    limit(readdirSync("/proc/self/fd").length + 200);
    try {
      for (;;) open.push(openSync("/dev/null", "r"));
    } catch (error) {
      expect(error).toMatchObject({ code: "EMFILE" });
    }
    const outcome = await again.memory.bring().catch((error: unknown) => error);
    await again.memory.rested();
    for (const each of open) closeSync(each);
    limit(Number(before));
    expect(outcome).toMatchObject({ code: "agent_failed_to_start", message: expect.stringContaining("EMFILE") });
    expect(warnings.length).toBe(1);
    await again.memory.bring();
    expect(again.read(`${NATIVE}.jsonl`).toString()).toBe("one and two");
  });
});

it("a session that only says that it branches off from another does not get at that one's memory", async () => {
  const a = await begun("ses_1", "a");
  a.write(`${NATIVE}.jsonl`, "what was stored");
  await a.works();
  a.write(`${NATIVE}.jsonl`, "what the agent is writing now");
  const imported = await begun("ses_2", "a", { fork: true, forked_from: "ses_1", native_session_id: "made-up" });
  await imported.memory.bring();
  expect(a.read(`${NATIVE}.jsonl`).toString()).toBe("what the agent is writing now");
  const elsewhere = await begun("ses_3", "b", { fork: true, forked_from: "ses_1", agent: "other" });
  await elsewhere.memory.bring();
  expect(() => readdirSync(elsewhere.folder)).toThrow("ENOENT");
});

it("where its folder cannot be written, the agent does not start, and the next try is a new one", async () => {
  const a = await begun("ses_1", "a");
  a.write(`${NATIVE}.jsonl`, "one");
  await a.works();
  writeFileSync(join(root, "b"), "a file where the folder should be");
  const b = await taken(a, "b");
  await expect(b.memory.bring()).rejects.toMatchObject({ code: "agent_failed_to_start" });
  rmSync(join(root, "b"));
  await b.memory.bring();
  expect(b.read(`${NATIVE}.jsonl`).toString()).toBe("one");
});

it("an owner that was replaced stores nothing more", async () => {
  const a = await begun("ses_1", "a");
  a.write(`${NATIVE}.jsonl`, "one");
  await a.works();
  const b = await taken(a, "b");
  await b.works();
  a.write(`${NATIVE}.jsonl`, "what the old node wrote later");
  await a.memory.rested();
  expect((await pieces()).length).toBe(1);
  const c = await taken(b, "c");
  await c.memory.bring();
  expect(c.read(`${NATIVE}.jsonl`).toString()).toBe("one");
});

it("what must be carried is decided by where it lies and by what the nodes share", () => {
  const carry = carriedFiles(
    "home",
    () => root,
    () => [],
  );
  const own = carriedFiles(
    "data_directory",
    () => root,
    () => [],
  );
  const row = { fork: false };
  const at = { ...mockAgent, carry };
  const inDaemon = { ...mockAgent, carry: own };
  expect(mustCarry(at, undefined, row)).toBeNull();
  expect(mustCarry(at, { node: "a", homes: false }, row)).toBeNull();
  expect(mustCarry(at, { node: "a", homes: true }, row)).toBe(carry);
  expect(mustCarry(inDaemon, { node: "a", homes: false }, row)).toBe(own);
  expect(mustCarry(mockAgent, { node: "a", homes: true }, row)).toBeNull();
  expect(canMove(mockAgent, { homes: true })).toBe(false);
  expect(canMove(mockAgent, { homes: false })).toBe(true);
  expect(canMove(at, { homes: true })).toBe(true);
  expect(canMove(undefined, { homes: true })).toBe(false);
  expect(mustCarry(at, undefined, { fork: false, carried: "a list" })).toBe(carry);
  expect(mustCarry(at, undefined, { fork: false, carried: null })).toBeNull();
});

describe("a log that a fleet has left to one daemon", () => {
  const moved = async (): Promise<{ alone: Held; to: Log }> => {
    const a = await begun("ses_1", "a");
    a.write(`${NATIVE}.jsonl`, Buffer.alloc(MIB, "memory "));
    a.write(`${NATIVE}/blob`, Buffer.from([0, 255, 254]));
    await a.works();
    await log.close();
    const [from, to] = [join(root, "log"), join(root, "moved")];
    await migrateLog({ from, to });
    log = await openSqliteLog({ dataDir: to });
    return { alone: await taken(a, null), to: log };
  };

  it("puts back what the agent remembers when it is needed, once, and then it is the daemon's own", async () => {
    const { alone } = await moved();
    alone.write(`${NATIVE}.jsonl`, "what the daemon knew before the fleet had it");
    await alone.memory.bring();
    expect(alone.read(`${NATIVE}.jsonl`)).toEqual(Buffer.alloc(MIB, "memory "));
    expect(alone.read(`${NATIVE}/blob`)).toEqual(Buffer.from([0, 255, 254]));
    expect([await pieces(), alone.row.carried]).toEqual([[], null]);
    alone.write(`${NATIVE}.jsonl`, "and what came later");
    await alone.memory.rested();
    const later = await taken(alone, null);
    await later.memory.bring();
    expect(later.read(`${NATIVE}.jsonl`).toString()).toBe("and what came later");
    expect([await pieces(), warnings]).toEqual([[], []]);
  });

  it("a fork takes it over and leaves it to the session it branches off from", async () => {
    const { alone } = await moved();
    const kept = (await pieces()).length;
    alone.memory.close();
    const fork = await begun("ses_2", null, { fork: true, forked_from: "ses_1" });
    await fork.memory.bring();
    expect(fork.read(`${NATIVE}/blob`)).toEqual(Buffer.from([0, 255, 254]));
    expect((await pieces()).length).toBe(kept);
  });
});
