/** Imports as streams, in a real daemon: larger than any body may be, in bounded memory, and all or nothing whatever ends them. */
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DragomanError } from "../src/client/error.ts";
import { cli, type DaemonProcess, linux, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

const MB = 1024 * 1024;

let dataDir: string;
let daemon: DaemonProcess;
/** The lines of a small session, as it was exported. */
let head: string;
let body: string[];

beforeAll(async () => {
  dataDir = temporaryDir("import");
  daemon = await startDaemonProcess(dataDir);
  const session = await daemon.client.createSession({ agent: "mock", directory: dataDir, trust: "restricted" });
  for await (const event of session.sendStream("all")) if (event.type === "turn.ended") break;
  await session.terminate();
  [head = "", ...body] = (await (await session.export()).text()).trimEnd().split("\n");
});

afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const native = (kilobytes: number): string => {
  const base64 = randomBytes(kilobytes * 768).toString("base64");
  return JSON.stringify({ kind: "native", t_ms: 1, dir: "out", type: "padding", disposition: "noted", base64 });
};

/** The session with so many megabytes of native messages before its own lines. */
async function* large(megabytes: number, last?: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${head}\n`);
  const megabyte = Buffer.from(Array.from({ length: 16 }, () => `${native(64)}\n`).join(""));
  for (let sent = 0; sent < megabytes; sent++) yield megabyte;
  // Native messages are named by number: those of the session come after the padding.
  for (const line of body) yield Buffer.from(`${shifted(line, megabytes * 16)}\n`);
  if (last !== undefined) yield Buffer.from(last);
}

function shifted(text: string, by: number): string {
  const line = JSON.parse(text) as { kind: string; native?: number | null };
  return line.kind === "event" && line.native ? JSON.stringify({ ...line, native: line.native + by }) : text;
}

const spooled = (): string[] => (existsSync(join(dataDir, "imports")) ? readdirSync(join(dataDir, "imports")) : []);

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await holds()) return;
    await delay(10);
  }
  throw new Error(`never came: ${what}`);
}

const ids = async (): Promise<string[]> => (await daemon.client.sessions()).sessions.map(({ session_id }) => session_id);

/** The most memory the daemon ever had, in bytes. */
const peak = (): number => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))?.[1] ?? 0) * 1024;

describe("an import as a stream", () => {
  it.runIf(linux)("takes a file far above the limit of a body, in bounded memory", async () => {
    await daemon.client.importSession(large(4), { session_id: "warm-up" });
    const before = peak();
    const session = await daemon.client.importSession(large(200), { session_id: "large" });
    const grown = peak() - before;
    expect(session).toMatchObject({ session_id: "large", status: "ended" });
    expect(grown).toBeLessThan(120 * MB);
    expect(spooled()).toEqual([]);
    const handle = daemon.client.session("large");
    expect((await handle.coverage()).types.find(({ type }) => type === "padding")?.count).toBe(200 * 16);
    const events = body.filter((line) => line.startsWith('{"kind":"event"')).length;
    expect(session.last_sequence).toBe(events);
    await handle.remove();
  });

  it("comes from text, a Blob, a web stream, a path; over the socket, too", async () => {
    const text = [head, ...body].join("\n");
    const path = join(dataDir, "session.ndjson");
    await writeFile(path, text);
    const stream = new Blob([text]).stream();
    const forms = { text, blob: new Blob([text]), stream, path: { path } };
    for (const [name, form] of Object.entries(forms)) {
      const { session_id, status } = await daemon.client.importSession(form, { session_id: `from-${name}` });
      expect({ session_id, status }).toEqual({ session_id: `from-${name}`, status: "ended" });
    }
    // The command line finds the daemon by its unix socket.
    const file = await cli(dataDir, ["import", path, "--session", "by-cli"]);
    expect(file).toEqual({ code: 0, out: "by-cli\n", err: "" });
    const piped = await cli(dataDir, ["import", "-", "--session", "by-pipe", "--json"], text);
    expect(JSON.parse(piped.out)).toMatchObject({ session_id: "by-pipe", status: "ended" });
    const missing = await cli(dataDir, ["import", join(dataDir, "nothing")]);
    expect(missing.code).not.toBe(0);
    expect(missing.err).toContain("nothing");
  });

  it("is refused early when it is no session, and the answer arrives while most is still unsent", async () => {
    let sent = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{"kind":"something"}\n');
      for (; sent < 2_000; sent++) yield Buffer.alloc(MB, "y");
    }
    await expect(daemon.client.importSession(endless())).rejects.toMatchObject({ code: "invalid_request", status: 400 });
    expect(sent).toBeLessThan(500);
    expect(spooled()).toEqual([]);
  });

  it("is refused as a whole for its last line, and leaves nothing", async () => {
    const before = await ids();
    const bad = large(40, '{"kind":"event"}\n');
    await expect(daemon.client.importSession(bad, { session_id: "bad-end" })).rejects.toThrow(/^Line \d+ lacks required fields/);
    expect(await ids()).toEqual(before);
    expect(spooled()).toEqual([]);
    await expect(daemon.client.session("bad-end").get()).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("leaves nothing when its sender goes away", async () => {
    const leave = new AbortController();
    async function* cut(): AsyncGenerator<Uint8Array> {
      for await (const chunk of large(30)) yield chunk;
      await until("the file is spooled", () => spooled().length === 1);
      leave.abort();
      await delay(60_000, undefined, { ref: false });
    }
    await expect(daemon.client.importSession(cut(), { session_id: "cut" }, leave.signal)).rejects.toMatchObject({
      code: "aborted",
    });
    await until("the spooled file is gone", () => spooled().length === 0);
    expect(await ids()).not.toContain("cut");
  });

  it("does not replace a session, and says so for wrong options", async () => {
    const text = [head, ...body].join("\n");
    await daemon.client.importSession(text, { session_id: "twice" });
    await expect(daemon.client.importSession(text, { session_id: "twice" })).rejects.toMatchObject({ code: "session_exists" });
    await expect(daemon.client.importSession(text, { session_id: "../x" })).rejects.toMatchObject({ code: "invalid_request" });
    const post = (path: string, type?: string, payload = text): Promise<Response> =>
      fetch(`${daemon.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${daemon.token}`, ...(type ? { "content-type": type } : {}) },
        ...(type ? { body: payload } : {}),
      });
    const codeOf = async (answer: Promise<Response>): Promise<unknown> =>
      ((await (await answer).json()) as { code: string }).code;
    expect(await codeOf(post("/v1/sessions/import?colour=red", "application/x-ndjson"))).toBe("invalid_request");
    expect(await codeOf(post("/v1/sessions/import"))).toBe("invalid_request");
    expect(await codeOf(post("/v1/sessions/import", "text/csv"))).toBe("unsupported_media_type");
    // Other routes still take JSON alone.
    expect(await codeOf(post("/v1/sessions", "application/x-ndjson"))).toBe("unsupported_media_type");
    const json = JSON.stringify({ ndjson: text, session_id: "as-json" });
    expect((await post("/v1/sessions/import", "application/json", json)).status).toBe(201);
  });

  it("is hidden while it is written, and gone after kill -9", async () => {
    const wal = join(dataDir, "dragoman.db-wal");
    const outcome = daemon.client.importSession(large(250), { session_id: "killed" }).then(
      () => "imported",
      (error: DragomanError) => error.code,
    );
    const size = (): number => spooled().reduce((sum, name) => sum + statSync(join(dataDir, "imports", name)).size, 0);
    await until("all of it is spooled", () => size() > 250 * MB);
    const full = Date.now();
    await until("the log is written", () => statSync(wal).mtimeMs > full);
    expect(await ids()).not.toContain("killed");
    await expect(daemon.client.session("killed").get()).rejects.toMatchObject({ code: "session_not_found" });
    await expect(daemon.client.session("killed").page()).rejects.toMatchObject({ code: "session_not_found" });
    await daemon.kill("SIGKILL");
    expect(await outcome).toBe("unreachable");
    expect(spooled()).toHaveLength(1);
    daemon = await startDaemonProcess(dataDir);
    expect(await ids()).not.toContain("killed");
    expect(spooled()).toEqual([]);
    const again = await daemon.client.importSession([head, ...body].join("\n"), { session_id: "killed" });
    expect(again.status).toBe("ended");
  });
});
