// Secrets in a session: who operates it reads what is stored, who observes it and who gets an export does not.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Dragoman, type SessionHandle } from "../src/client/index.ts";
import type { Config } from "../src/daemon/config.ts";
import { type Daemon, startDaemon } from "../src/daemon/daemon.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { checkGrammar } from "../src/schema/grammar.ts";
import { foldItems } from "../src/schema/projection/item-projection.ts";

const KEY = `sk-ant-api03-${"aB3".repeat(14)}`;
const GITHUB = `ghp_${"x1Y2".repeat(9)}`;
const BEARER = "q8w7e6r5t4y3u2i1o0p9";
const PEM_BODY = "MIIEpAIBAAKCAQEA7bq0";
const ENV = "env-value-4711-of-the-session";
const MCP_ENV = "mcp-env-value-0815-x";
const HEADER = "header-value-1234567890";
const PASSWORD = "pa55word-in-the-url";
const OWN = "ACME-00112233";
const DAEMON_KEY = "the-daemons-own-key-77";
const SECRETS = [KEY, GITHUB, BEARER, PEM_BODY, ENV, MCP_ENV, HEADER, PASSWORD, OWN, DAEMON_KEY];

let directory: string;
let daemon: Daemon;
let operator: Dragoman;
let observer: Dragoman;
let session: SessionHandle;

const start = (config: Config = {}): Promise<Daemon> =>
  startDaemon({
    port: 0,
    dataDir: join(directory, `data-${Math.random()}`),
    directory,
    config,
    env: { PATH: process.env.PATH, HOME: directory, SOME_API_KEY: DAEMON_KEY },
  });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "dragoman-redaction-"));
  daemon = await start({ redact_patterns: ["ACME-[0-9]{8}"] });
  operator = new Dragoman({ url: daemon.url, token: daemon.token });
  observer = new Dragoman({ url: daemon.url, token: daemon.observeToken });
  session = await operator.createSession({
    agent: "mock",
    directory,
    env: { SESSION_SECRET: ENV },
    mcp_servers: [
      { name: "one", type: "stdio", command: "one", env: { TOKEN: MCP_ENV } },
      { name: "two", type: "http", url: `https://me:${PASSWORD}@example.org/mcp?token=${HEADER}`, headers: { "x-key": HEADER } },
    ],
  });
  // The mock says a word a delta: what holds spaces is divided.
  await session.prompt(`say use ${KEY} and Authorization: Bearer ${BEARER} and https://u:${PASSWORD}@h/ ${OWN} it's s`);
  await session.prompt(`say -----BEGIN RSA PRIVATE KEY----- ${PEM_BODY} ${PEM_BODY} -----END RSA PRIVATE KEY----- done`);
  await session.prompt(`shell echo ${GITHUB} ${ENV} ${MCP_ENV} ${HEADER} ${DAEMON_KEY} ${daemon.token}`);
  await session.send(`ask curl -H ${GITHUB}`);
  for await (const event of session.events()) if (event.type === "permission.requested") break;
});
afterAll(async () => {
  await daemon.close();
  rmSync(directory, { recursive: true, force: true });
});

function clean(text: string, what: string): void {
  for (const secret of [...SECRETS, daemon.token, daemon.observeToken])
    expect(text.includes(secret), `${secret} in ${what}`).toBe(false);
}

const get = async (path: string, token: string): Promise<{ status: number; text: string }> => {
  const answer = await fetch(`${daemon.url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, text: await answer.text() };
};

/** As many events as there are, over a live stream. */
async function streamed(path: string, count: number): Promise<string> {
  const gone = new AbortController();
  const answer = await fetch(`${daemon.url}${path}`, {
    headers: { authorization: `Bearer ${daemon.observeToken}` },
    signal: gone.signal,
  });
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.split("\ndata: ").length > count) break;
  }
  gone.abort();
  return text;
}

describe("secrets in a session", () => {
  it("are there for who operates it, verbatim", async () => {
    const { text } = await get(`/v1/sessions/${session.id}/events?limit=10000`, daemon.token);
    for (const secret of [KEY, GITHUB, PEM_BODY, OWN, DAEMON_KEY]) expect(text).toContain(secret);
    expect((await get(`/v1/sessions/${session.id}/native`, daemon.token)).text).toContain(KEY);
  });

  it("[R1] are not in anything an observer reads", async () => {
    const paths = [
      "",
      "/events?limit=10000",
      "/events?limit=10000&order=desc",
      "/events?include_raw=true&limit=10000",
      "/items",
      "/snapshot",
      "/queue",
      "/pending",
      "/coverage",
    ];
    for (const path of [...paths, "/events?dialect=messages&limit=10000", "/events?types=item.delta&limit=10000"]) {
      const { status, text } = await get(`/v1/sessions/${session.id}${path}`, daemon.observeToken);
      expect([path, status]).toEqual([path, 200]);
      clean(text, path);
    }
    expect((await get("/v1/sessions", daemon.observeToken)).text).toContain(session.id);
    for (const path of ["/native", "/export"])
      expect([path, (await get(`/v1/sessions/${session.id}${path}`, daemon.observeToken)).status]).toEqual([path, 403]);
  });

  it("[R1] are not in the state at any event, also where an item ends in the middle of one", async () => {
    const { last_sequence } = await session.get();
    for (let at = 1; at <= last_sequence; at++)
      for (const path of [`/snapshot?at=${at}`, `/items?limit=1000&at=${at}`])
        clean((await get(`/v1/sessions/${session.id}${path}`, daemon.observeToken)).text, path);
    const open = await get(`/v1/sessions/${session.id}/snapshot`, daemon.token);
    expect(open.text).toContain(GITHUB);
  });

  it("[R1] are not in live streams, wherever they begin", async () => {
    const { last_sequence } = await session.get();
    clean(await streamed(`/v1/sessions/${session.id}/events/sse`, last_sequence), "sse");
    clean(await streamed(`/v1/events/sse?after=0.0`, last_sequence), "all events");
    const events: UniversalEvent[] = [];
    for await (const event of observer.session(session.id).events()) {
      events.push(event);
      if (event.sequence === last_sequence) break;
    }
    clean(JSON.stringify(events), "the socket");
    expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index + 1));
    const texts = JSON.stringify(foldItems(events).map((item) => item.content));
    expect(texts).toContain("use [redacted:anthropic_key] and Authorization: Bearer [redacted:authorization]");
    expect(texts).toContain("[redacted:private_key] done");
  });

  it("[R1] cannot be put together from pages of one event", async () => {
    const { last_sequence } = await session.get();
    let deltas = "";
    for (let after = 0; after < last_sequence; after++) {
      const { events } = await observer.session(session.id).page({ after, limit: 1 });
      for (const event of events) if (event.type === "item.delta") deltas += event.data.delta;
    }
    clean(deltas, "pages of one");
    expect(deltas).toContain("use [redacted:anthropic_key]");
  });

  it("[R2] are not in an export, which is still whole and can be imported", async () => {
    const text = await (await session.export()).text();
    const lines = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; base64?: string; event: UniversalEvent });
    clean(text, "the export");
    clean(lines.map(({ base64 }) => Buffer.from(base64 ?? "", "base64").toString()).join("\n"), "native messages");
    expect(text).toContain("[redacted:anthropic_key]");
    expect(checkGrammar(lines.flatMap((line) => (line.kind === "event" ? [line.event] : [])))).toEqual([]);
    const copy = await operator.importSession(text, { session_id: "redacted-copy" });
    expect(copy.last_sequence).toBe((await session.get()).last_sequence);
  });

  it("[R2] are in an export only for an admin who asks for them", async () => {
    const { token } = await operator.mintToken("operate", { lifetime_ms: 60_000 });
    expect((await get(`/v1/sessions/${session.id}/export?with_secrets=true`, token)).status).toBe(403);
    const mine = await get(`/v1/sessions/${session.id}/export?with_secrets=true`, daemon.token);
    expect(mine.status).toBe(200);
    expect(mine.text).toContain(KEY);
    expect(mine.text).not.toContain(`"SESSION_SECRET":`);
  });

  it("are in nothing written for others: large output as an artifact", async () => {
    const other = await operator.createSession({ agent: "mock", directory });
    await other.prompt(`big 400000`);
    const { events } = await other.page({ limit: 1000 });
    const artifact = events.find((event) => event.type === "artifact.written");
    const id = artifact?.type === "artifact.written" ? artifact.data.artifact_id : "";
    const [whole, seen] = [await get(`/v1/artifacts/${id}`, daemon.token), await get(`/v1/artifacts/${id}`, daemon.observeToken)];
    expect(seen).toEqual(whole);
    expect(whole.text.length).toBeGreaterThan(300_000);
  });

  it("are shown to everybody when redaction is switched off", async () => {
    const open = await start({ redaction: "off" });
    const own = new Dragoman({ url: open.url, token: open.token });
    const other = await own.createSession({ agent: "mock", directory });
    await other.prompt(`say ${KEY}`);
    const read = await new Dragoman({ url: open.url, token: open.observeToken }).session(other.id).page({ limit: 1000 });
    expect(JSON.stringify(read)).toContain(KEY);
    await open.close();
  });
});
