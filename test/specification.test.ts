// Every rule of SPEC.md is cited by a test, and every citation names a rule. The rules of the envelope and the flight recorder are tested here.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtInAgents } from "../src/agents/registry.ts";
import type { SessionHandle } from "../src/client/session-handle.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { foldItems } from "../src/schema/projection/item-projection.ts";
import { replayFile } from "../src/verify/replay-command.ts";
import { type DaemonProcess, linux, processesRunning, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const rules = [...readFileSync(join(ROOT, "SPEC.md"), "utf8").matchAll(/^\| ([A-Z][0-9]+) \|/gm)].map(([, id = ""]) => id);

/** Rule ids in the names of tests, with the file they stand in. */
function citations(): { rule: string; file: string }[] {
  return ["src", "test"]
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file)))
    .filter((file) => /(\.test|\.suite|-cases)\.ts$/.test(file))
    .flatMap((file) =>
      [
        ...readFileSync(join(ROOT, file), "utf8").matchAll(/\b(?:it|test|describe)(?:\.\w+)*(?:\([^"'`]*\))?\(\s*["'`]([^\n]*)/g),
      ].flatMap(([, name = ""]) => [...name.matchAll(/\[([A-Z][0-9]+)\]/g)].map(([, rule = ""]) => ({ rule, file }))),
    );
}

describe("the specification", () => {
  it("is cited by tests, rule by rule", () => {
    const cited = new Set(citations().map(({ rule }) => rule));
    expect(rules.length).toBeGreaterThan(20);
    expect(rules.filter((rule) => !cited.has(rule))).toEqual([]);
  });

  it("knows every rule that a test cites, and no rule twice", () => {
    expect(citations().filter(({ rule }) => !rules.includes(rule))).toEqual([]);
    expect(new Set(rules).size).toBe(rules.length);
  });
});

describe("events of a session", () => {
  let dataDir: string;
  let daemon: DaemonProcess;
  let session: SessionHandle;
  let events: UniversalEvent[];
  beforeAll(async () => {
    dataDir = temporaryDir("specification");
    daemon = await startDaemonProcess(dataDir);
    session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt("say hello\nshell ls\nthink about it");
    await session.prompt("garbage");
    ({ events } = await session.page({ limit: 1_000, includeRaw: true }));
  });
  afterAll(async () => {
    await daemon.kill("SIGTERM");
    removeDir(dataDir);
  });

  it("[E1] have exactly the keys of the envelope", () => {
    const keys = "event_id sequence time session_id native_session_id synthetic source type data raw".split(" ");
    for (const event of events) expect(Object.keys(event)).toEqual(keys);
    const names = JSON.stringify(events.map(({ raw: _, ...event }) => event)).match(/"[A-Za-z_]+":/g) ?? [];
    expect([...new Set(names)].filter((name) => /[A-Z]/.test(name))).toEqual([]);
  });

  it("[E2] have ids that sort in the order they were made", () => {
    const ids = events.map((event) => event.event_id);
    for (const id of ids) expect(id).toMatch(/^evt_[0-9a-z]+$/);
    expect(new Set(ids).size).toBe(ids.length);
    expect([...ids].sort()).toEqual(ids);
  });

  it("[E3] have times in UTC with milliseconds", () => {
    for (const { time } of events) expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("[E4] carry the native message only when it is asked for", async () => {
    const plain = (await session.page({ limit: 1_000 })).events;
    expect(plain.map((event) => event.raw)).toEqual(plain.map(() => null));
    expect(plain).toEqual(events.map((event) => ({ ...event, raw: null })));
    const text = events.find((event) => event.type === "item.delta" && event.source === "agent");
    expect(text?.raw).toMatchObject({ type: "text" });
  });

  it("[L2] name the bytes that were not understood by their hash", async () => {
    const unparsed = events.filter((event) => event.type === "agent.unparsed");
    expect(unparsed.length).toBeGreaterThan(0);
    const lines = (await session.native()).trim().split("\n");
    const rows = lines.map((line) => JSON.parse(line) as { disposition: string; data: unknown });
    const hashes = rows
      .filter(({ disposition, data }) => disposition === "unparsed" && typeof data === "string" && !data.includes("\ufffd"))
      .map(({ data }) => createHash("sha256").update(String(data)).digest("hex"));
    expect(hashes.length).toBeGreaterThan(0);
    const named = unparsed.map((event) => (event.type === "agent.unparsed" ? event.data.raw_hash?.replace(/^sha256:/, "") : ""));
    for (const hash of hashes) expect(named).toContain(hash);
  });

  it("[L3] can be made again from the flight recorder", async () => {
    const file = join(dataDir, "recorded.ndjson");
    writeFileSync(file, await session.native());
    const create = builtInAgents.find(({ id }) => id === "mock")?.createTranslator;
    if (!create) throw new Error("there is no mock agent");
    const replayed: UniversalEvent[] = [];
    const out = { write: (line: string) => replayed.push(JSON.parse(line) as UniversalEvent) };
    await replayFile(create, file, { agent: "mock", prefix: "sess" }, out);
    const contents = (list: UniversalEvent[]) =>
      foldItems(list)
        .filter((item) => item.role !== "user")
        .map(({ kind, content }) => ({ kind, content }));
    expect(contents(replayed)).toEqual(contents(events));
    expect(contents(events).length).toBeGreaterThan(3);
  });
});

describe.skipIf(!linux)("processes of agents", () => {
  it("[S6] are gone after terminate, after SIGTERM, and after the start that follows kill -9", async () => {
    const dataDir = temporaryDir("left");
    const left = (): number[] => processesRunning("agents/mock/program", dataDir);
    const busy = async (daemon: DaemonProcess): Promise<SessionHandle> => {
      const session = await daemon.client.createSession({ agent: "mock" });
      await session.send("hang");
      for await (const event of session.events()) if (event.type === "turn.started") break;
      expect(left()).toHaveLength(1);
      return session;
    };
    let daemon = await startDaemonProcess(dataDir);
    await (await busy(daemon)).terminate();
    expect(left()).toEqual([]);
    await busy(daemon);
    await daemon.kill("SIGTERM");
    expect(left()).toEqual([]);
    daemon = await startDaemonProcess(dataDir);
    await busy(daemon);
    await daemon.kill("SIGKILL");
    daemon = await startDaemonProcess(dataDir);
    expect(left()).toEqual([]);
    await daemon.kill("SIGTERM");
    removeDir(dataDir);
  });
});
