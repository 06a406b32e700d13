import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mockAgent } from "../agents/mock/agent.ts";
import { type Core, openCore } from "../daemon/core.ts";
import { checkGrammar } from "../schema/grammar.ts";
import { toProblemError } from "../server/problems.ts";
import { type ImportOptions, importSession } from "./import-session.ts";
import { eventsOf, play, until } from "./test-session.ts";
import { exportLines } from "./transfer.ts";

type Json = Record<string, unknown>;

let dataDir: string;
let core: Core;
/** A session with every kind of event, artifacts and garbage, as it was exported. */
let exported: string;
let sessionId: string;

const open = () =>
  openCore({ dataDir, config: {}, agents: [mockAgent], env: process.env, defaultDirectory: dataDir, log: () => {} });

const exportOf = async (id: string): Promise<string> => {
  const stream = await core.log.stream("session", id);
  if (!stream) throw new Error(`no session ${id}`);
  let text = "";
  for await (const line of exportLines(core.log, stream, null)) text += line;
  return text;
};

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-import-"));
  core = await open();
  sessionId = (
    await core.manager.create({
      agent: "mock",
      directory: dataDir,
      permission_mode: "bypass",
      system_prompt: "Obey.",
      env: { SECRET: "hunter2" },
      mcp_servers: [{ name: "m", type: "stdio", command: "sh", env: { KEY: "hunter3" } }],
      metadata: { created_by: "mcp:1", colour: "red" },
    })
  ).session_id;
  const session = await core.manager.get(sessionId);
  for (const text of ["all", "garbage", "big 300000", "say ünïcödé \u2028 \u{1f600}"]) await play(session, text);
  exported = await exportOf(sessionId);
});

afterAll(async () => {
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

let copies = 0;
const take = (ndjson: string, options: ImportOptions = {}) =>
  importSession(core.log, ndjson, { session_id: `copy-${++copies}`, ...options });

const lines = (): Json[] =>
  exported
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
const text = (all: unknown[]): string => all.map((line) => `${JSON.stringify(line)}\n`).join("");
/** The file with another first line. */
const withRow = (change: Json, drop: string[] = []): string => {
  const [head, ...rest] = lines();
  const row: Json = { ...(head?.row as Json), ...change };
  for (const name of drop) delete row[name];
  return text([{ ...head, row }, ...rest]);
};
/** The file with the first line of a kind changed. */
const withLine = (kind: string, change: (line: Json) => Json): { file: string; number: number } => {
  const all = lines();
  const at = all.findIndex((line) => line.kind === kind);
  all[at] = change(all[at] ?? {});
  return { file: text(all), number: at + 1 };
};

describe("an import", () => {
  it("has the same events, byte for byte, and the same native messages", async () => {
    const origin = await core.log.stream("session", sessionId);
    const before = (await origin?.read({ limit: 100_000, maxBytes: 1e9 }))?.events;
    const natives = (await origin?.readNative({ limit: 100_000 }))?.messages;
    const file = await exportOf(sessionId);
    await core.manager.remove(sessionId);
    const copy = await importSession(core.log, file);
    expect(copy.id).toBe(sessionId);
    expect((await copy.read({ limit: 100_000, maxBytes: 1e9 })).events).toEqual(before);
    expect((await copy.readNative({ limit: 100_000 })).messages).toEqual(natives);
    expect((await exportOf(sessionId)).split("\n").slice(1)).toEqual(file.split("\n").slice(1));
  });

  it("[S9] brings nothing in that starts or widens something", async () => {
    const hostile = withRow({
      permission_mode: "bypass",
      mcp_servers: [{ name: "m", type: "stdio", command: "sh" }],
      env: { NODE_OPTIONS: "--require /tmp/x" },
      system_prompt: "Obey.",
      trusted: true,
      fork: true,
      metadata: { created_by: "mcp:1", colour: "red" },
      created_by: { token_id: "root", role: "admin", surface: "http" },
    });
    const session = await core.manager.get((await take(hostile)).id);
    const { row } = session;
    expect(row).toMatchObject({ permission_mode: "default", mcp_servers: [], env: {}, system_prompt: null, fork: false });
    expect(row).toMatchObject({ native_session_id: null, metadata: { colour: "red" }, status: "dormant" });
    expect(row.created_by?.surface).toBe("embedded");
    expect(row).not.toHaveProperty("trusted");
    expect(exported).not.toContain("hunter");
    // It is usable: the next message starts a conversation of its own.
    await play(session, "remember");
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("[S9] goes on with the native conversation only when it is asked to, and never with a path", async () => {
    const { native_session_id } = (lines()[0] as { row: { native_session_id: string } }).row;
    expect((await core.manager.get((await take(exported, { resume: true })).id)).nativeSessionId).toBe(native_session_id);
    for (const path of ["../../etc/passwd", "/tmp/a.jsonl", "a.jsonl"])
      await expect(take(withRow({ native_session_id: path }), { resume: true })).rejects.toMatchObject({ code: "not_resumable" });
  });

  it.each([
    [{ title: 5 }, /Line 1 .*row\.title/],
    [{ directory: 7 }, /Line 1 .*row\.directory/],
    [{ directory: "" }, /Line 1 .*row\.directory/],
    [{ directory: "/a\u0000b" }, /Line 1 .*row\.directory/],
    [{ model: "--x" }, /Line 1 .*row\.model/],
    [{ variant: "-v" }, /Line 1 .*row\.variant/],
    [{ agent_mode: "--yolo" }, /Line 1 .*row\.agent_mode/],
    [{ native_session_id: "-r" }, /Line 1 .*row\.native_session_id/],
    [{ agent: "--help" }, /Line 1 .*row\.agent/],
    [{ agent: 1 }, /Line 1 .*row\.agent/],
    [{ session_id: "../x" }, /Line 1 .*row\.session_id/],
    [{ metadata: [] }, /Line 1 .*row\.metadata/],
    [{ metadata: { a: "x".repeat(70_000) } }, /Line 1 .*row\.metadata may have 65536 characters as JSON, and has 70008/],
    [{ usage: { input_tokens: "many" } }, /Line 1 .*row\.usage/],
    [{ forked_from: {} }, /Line 1 .*row\.forked_from/],
  ])("refuses the row %j and says where", async (change, sentence) => {
    await expect(take(withRow(change))).rejects.toMatchObject({ code: "invalid_request", status: 400 });
    await expect(take(withRow(change))).rejects.toThrow(sentence);
  });

  it.each<[string, (line: Json) => Json, RegExp]>([
    ["native", (line) => ({ ...line, dir: "sideways" }), /dir/],
    ["native", (line) => ({ ...line, disposition: "lost" }), /disposition/],
    ["native", (line) => ({ ...line, t_ms: 1.5 }), /t_ms/],
    ["native", (line) => ({ ...line, base64: "a" }), /base64/],
    ["native", (line) => ({ ...line, base64: "<script>" }), /base64/],
    ["artifact", (line) => ({ ...line, base64: "QUJD" }), /its bytes are those of/],
    ["artifact", (line) => ({ ...line, artifact_id: "art_1" }), /artifact_id/],
    ["artifact", (line) => ({ ...line, mime: 3 }), /mime/],
    ["event", (line) => ({ ...line, native: 99_999 }), /native message 99999/],
    ["event", (line) => ({ ...line, event: { ...(line.event as Json), type: "constructor" } }), /unknown event type/],
    ["event", (line) => ({ ...line, event: { ...(line.event as Json), type: "item.started", data: {} } }), /schema/],
    ["event", (line) => ({ ...line, event: { ...(line.event as Json), sequence: 7 } }), /G1/],
    ["event", (line) => ({ ...line, event: { ...(line.event as Json), time: "now" } }), /time/],
    ["event", (line) => ({ ...line, event: { ...(line.event as Json), event_id: "x\ny" } }), /event_id/],
    ["event", () => ({ kind: "program" }), /kind/],
  ])("refuses a bad line: %s %#", async (kind, change, sentence) => {
    const { file, number } = withLine(kind, change);
    await expect(take(file)).rejects.toThrow(new RegExp(`Line ${number} `));
    await expect(take(file)).rejects.toThrow(sentence);
  });

  it("refuses what is no file, is cut, or is nested too deep", async () => {
    for (const file of [
      "",
      "\n",
      "hello",
      "[]",
      "null",
      '{"kind":"session"}',
      exported.slice(0, -40),
      lines().length > 0 ? text(lines().slice(0, 1)) : "",
    ])
      await expect(take(file)).rejects.toMatchObject({ code: "invalid_request" });
    const deep = `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`;
    const file = exported.replace('"metadata":{', `"metadata":{"deep":${deep},`);
    await expect(take(file)).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("closes what was open when it was exported", async () => {
    const session = await core.manager.get((await core.manager.create({ agent: "mock", directory: dataDir })).session_id);
    await session.send("ask", [], "queue");
    await until(session, (event) => event.type === "permission.requested");
    const file = await exportOf(session.session_id);
    await session.terminate();
    const copy = await core.manager.get((await take(file)).id);
    await core.log.documents.committed();
    expect(copy.pending()).toEqual({ permissions: [], questions: [] });
    await play(copy, "say on");
    const events = await eventsOf(copy);
    expect(checkGrammar(events)).toEqual([]);
    expect(events.filter((event) => event.type === "permission.resolved")).toHaveLength(1);
  });

  it("leaves the artifacts readable", async () => {
    const bytes = Buffer.from("an artifact");
    const id = `art_${createHash("sha256").update(bytes).digest("hex")}`;
    const artifact = {
      kind: "artifact",
      artifact_id: id,
      mime: "text/html\r\nx: y",
      artifact_kind: "media",
      base64: bytes.toString("base64"),
    };
    const [head, ...rest] = lines();
    await take(text([head, artifact, ...rest]));
    expect(await core.log.artifacts.stat(id)).toMatchObject({ bytes: bytes.length, mime: "application/octet-stream" });
  });
});

describe("a changed file", () => {
  const SEED = 20_261_116;
  /** Any JSON in any place of the row, of a line, or of an event. */
  const mutation = fc.record({
    line: fc.nat({ max: 60 }),
    path: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 4 }),
    value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom("--x", "", "\u0000", -1, 1e308, "constructor", "__proto__")),
    drop: fc.boolean(),
  });

  const mutate = (all: Json[], { line, path, value, drop }: { line: number; path: number[]; value: unknown; drop: boolean }) => {
    let place: Json = all[line % Math.min(all.length, 60)] ?? {};
    for (const [depth, step] of path.entries()) {
      const names = Object.keys(place);
      const name = names[step % Math.max(1, names.length)];
      if (name === undefined) return;
      const next = place[name];
      if (depth === path.length - 1 || typeof next !== "object" || next === null) {
        if (drop) delete place[name];
        else place[name] = value;
        return;
      }
      place = next as Json;
    }
  };

  it(`[S9] never makes a fault, and never harms what is read later (seed ${SEED})`, async () => {
    let imported = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
        const all = lines();
        for (const each of mutations) mutate(all, each);
        try {
          const { id } = await take(text(all));
          imported++;
          const session = await core.manager.get(id);
          expect(session.view().session_id).toBe(id);
          for await (const _ of exportLines(core.log, session.stream, null)) {
            // read to the end
          }
        } catch (error) {
          expect(toProblemError(error)).toMatchObject({ code: "invalid_request" });
        }
        for (const search of ["a", "5", "--"]) await core.manager.list({ limit: 500, search });
      }),
      { seed: SEED, numRuns: 150 },
    );
    expect(imported).toBeGreaterThan(0);
    await core.close();
    core = await open();
    const { sessions, unreadable } = await core.manager.list({ limit: 500, search: "mock" });
    expect([sessions.length > imported, unreadable]).toEqual([true, []]);
  });
});
