// The real daemon with its log in a real Postgres, which is killed in the middle: nothing that a client saw is lost, and the daemon goes on by itself.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startPostgres, type TestPostgres, withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { checkGrammar } from "../../src/schema/grammar.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

async function ask(
  daemon: DaemonProcess,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; code?: string }> {
  const response = await fetch(daemon.url + path, {
    method,
    headers: { authorization: `Bearer ${daemon.token}`, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  const parsed: { code?: string } = text.startsWith("{") ? JSON.parse(text) : {};
  return { status: response.status, ...(parsed.code === undefined ? {} : { code: parsed.code }) };
}

describe.skipIf(withoutPostgres())("a daemon whose log is in Postgres", () => {
  let server: TestPostgres;
  let dataDir: string;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    server = await startPostgres();
    dataDir = temporaryDir("postgres");
    daemon = await startDaemonProcess(dataDir, [], { DRAGOMAN_LOG: server.url });
  });
  afterAll(async () => {
    await daemon.kill("SIGKILL");
    await server.stop();
    removeDir(dataDir);
  });

  it("[D9] refuses commands while the database is away, goes on when it is back, and has lost nothing, nor after kill -9 of the daemon", async () => {
    const session = await daemon.client.createSession({ agent: "mock", directory: dataDir });
    const seen: UniversalEvent[] = [];
    const stop = new AbortController();
    const watching = (async () => {
      for await (const event of session.events({ signal: stop.signal })) seen.push(event);
    })().catch(() => undefined);
    await session.send("slow 20 a b c d e f g h i j k l m n o p q r s t u v w x y z\nflood 3000");
    await expect.poll(() => seen.length).toBeGreaterThan(10);
    await server.kill();
    await expect.poll(() => ask(daemon, "GET", "/v1/ready")).toMatchObject({ status: 503 });
    expect(await ask(daemon, "GET", "/v1/health")).toMatchObject({ status: 200 });
    const refused = { status: 503, code: "not_ready" };
    expect(await ask(daemon, "POST", "/v1/sessions", { agent: "mock", session_id: "refused", directory: dataDir })).toEqual(
      refused,
    );
    expect(await ask(daemon, "POST", `/v1/sessions/${session.id}/messages`, { message: "say refused" })).toEqual(refused);
    await server.restart();
    await expect.poll(() => seen.filter(({ type }) => type === "turn.ended").length).toBe(1);
    expect(await ask(daemon, "GET", "/v1/ready")).toMatchObject({ status: 200 });
    expect(await ask(daemon, "GET", "/v1/sessions/refused")).toMatchObject({ status: 404 });
    await session.prompt("say after");
    await expect.poll(() => seen.filter(({ type }) => type === "turn.ended").length).toBe(2);

    await daemon.kill("SIGKILL");
    stop.abort();
    await watching;
    // At once: it is the same data directory, so nobody else can have the log.
    daemon = await startDaemonProcess(dataDir, [], { DRAGOMAN_LOG: server.url });
    expect((await ask(daemon, "GET", `/v1/sessions?limit=5`)).status).toBe(200);
    const again = daemon.client.session(session.id);
    await again.prompt("say resumed");
    await again.terminate();
    const stored: UniversalEvent[] = [];
    for await (const event of again.events()) stored.push(event);
    expect(checkGrammar(stored)).toEqual([]);
    expect(stored.map(({ sequence }) => sequence)).toEqual(stored.map((_, index) => index + 1));
    expect(seen.map(({ event_id }) => event_id)).toEqual(stored.slice(0, seen.length).map(({ event_id }) => event_id));
    expect(seen.length).toBeGreaterThan(3000);
    expect(JSON.stringify(stored)).not.toContain("refused");
    expect(existsSync(join(dataDir, "dragoman.db"))).toBe(false);
  });

  it("refuses a second daemon for the same log, and a data directory that is in use", async () => {
    const other = temporaryDir("postgres-other");
    const log = { DRAGOMAN_LOG: server.url };
    await expect(startDaemonProcess(other, [], log)).rejects.toThrow(/in use by another dragoman/);
    await expect(startDaemonProcess(dataDir, [], log)).rejects.toThrow(/in use by another dragoman/);
    removeDir(other);
  });

  it("finds what was said, also after the database was away", async () => {
    await server.kill();
    await server.restart();
    const session = await daemon.client.createSession({ agent: "mock", directory: dataDir });
    await session.prompt("say needle in the haystack");
    await expect
      .poll(async () => {
        const response = await fetch(`${daemon.url}/v1/search?q=needle`, {
          headers: { authorization: `Bearer ${daemon.token}` },
        });
        return JSON.stringify(await response.json());
      })
      .toContain(session.id);
  });
});
