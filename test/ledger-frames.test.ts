/** Frames of a session of our own agent, over every door of a real daemon: they come from its ledger, and the provider's stream is in them, event by event. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { Dragoman, type SessionHandle } from "../src/client/index.ts";
import { type Daemon, startDaemon } from "../src/daemon/daemon.ts";
import { contractErrors } from "../src/dialects/frames/test-contract.ts";
import { uuidOf } from "../src/dialects/frames/uuid.ts";
import { answerStream, block, sendStream, startEndpoint, type TestEndpoint } from "../src/openresponses/test-endpoint.ts";
import { removeDir, temporaryDir } from "./daemon-process.ts";

type Frame = { id: string; seq: number; type: string; timestamp_ms: number; [field: string]: unknown };

let dir: string;
let work: string;
let endpoint: TestEndpoint;
let daemon: Daemon;
let client: Dragoman;
let session: SessionHandle;
let all: Frame[];
/** What the endpoint sent, block by block. */
const sent: string[] = [];

const DELTAS = ["Grüße ", "🐉", "!"];
/** Spaces, unknown keys and a number that no double holds: it must arrive like this. */
const ODD = `{"type" : "acme:trace", "sequence_number": 4, "big": 12345678901234567890, "x": [1.50, "\\u00e9"]}`;

/** An answer as a list of blocks: what is not JSON, comments and foreign events among them. */
function answerOf(nth: number): string {
  const calls = [
    { call: "bash", args: { command: "echo out; echo err >&2; exit 3" } },
    { call: "write", args: { path: "b.txt", content: "beta\n" } },
    { call: "read", args: { path: "nothing-here.txt" } },
  ];
  const text = answerStream(nth <= calls.length ? [calls[nth - 1] ?? { text: "" }] : [{ text: DELTAS.join("") }]);
  const blocks = text.split(/(?<=\n\n)/);
  const noise =
    nth === 1 ? [": a heartbeat\n\n", `event: acme:trace\ndata: ${ODD}\n\n`, "data: {broken\n\n", "data: 17\n\n"] : [];
  const at = { item_id: "m", output_index: 0, content_index: 0 };
  const deltas =
    nth > calls.length
      ? DELTAS.map((delta) => block({ type: "response.output_text.delta", sequence_number: 90, ...at, delta }))
      : [];
  return [...blocks.slice(0, 2), ...noise, ...deltas, ...blocks.slice(2)].join("");
}

beforeAll(async () => {
  dir = temporaryDir("ledger-frames");
  work = join(dir, "work");
  mkdirSync(work);
  writeFileSync(join(work, "a.txt"), "alpha\n");
  endpoint = await startEndpoint((response, _request, nth) => {
    const text = answerOf(nth);
    sent.push(...text.split(/(?<=\n\n)/));
    sendStream(response, text);
  });
  daemon = await startDaemon({
    dataDir: join(dir, "data"),
    port: 0,
    config: { agents: { responses: { endpoint: endpoint.baseUrl, model: "m", retries: 0 } } },
    env: { PATH: process.env.PATH, HOME: dir },
    directory: work,
  });
  client = new Dragoman({ url: daemon.url, token: daemon.token });
  session = await client.createSession({ agent: "responses", directory: work, permission_mode: "bypass" });
  await session.prompt("Do it.");
  await session.prompt("And again.");
  await session.terminate();
  all = await collect(session.dialect("frames", { version: 1 }));
});

afterAll(async () => {
  await daemon.close();
  await endpoint.close();
  removeDir(dir);
});

async function collect(stream: AsyncIterable<unknown>): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of stream) frames.push(frame as Frame);
  return frames;
}

const ofProvider = (frames: readonly Frame[]): Frame[] => frames.filter(({ provider }) => provider === "openresponses");

describe("frames of our own agent", () => {
  it("fit the contract field by field, from 0 without a gap, and end with the session", async () => {
    expect(contractErrors(all, 1)).toEqual([]);
    expect(contractErrors(await collect(session.dialect("frames")), 2)).toEqual([]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(all[0]).toMatchObject({ type: "session_started", input: "Do it.", session_id: uuidOf(session.id) });
    expect(all.at(-1)).toMatchObject({ type: "session_ended" });
  });

  it("have one provider_event for each event of the provider, in order, and its own JSON", async () => {
    const events = sent.filter((text) => !text.startsWith(":"));
    const frames = ofProvider(all);
    expect(frames).toHaveLength(events.length);
    const statuses = events.map((text) =>
      text.includes("[DONE]") ? "done" : /data: (\{broken|17)/.test(text) ? "invalid_json" : "event",
    );
    expect(frames.map(({ status }) => status)).toEqual(statuses);
    const raw = frames.map((frame, index) => (frame.raw === null ? null : [frame.raw, events[index]]));
    for (const pair of raw) if (pair) expect(pair[1]).toContain(`data: ${String(pair[0])}\n`);
    expect(raw.filter((pair) => pair !== null)).toHaveLength(statuses.filter((status) => status !== "event").length);
    const answer = await fetch(`${daemon.url}/v1/sessions/${session.id}/events?dialect=frames&limit=10000`, {
      headers: { authorization: `Bearer ${daemon.token}` },
    });
    expect(await answer.text()).toContain(`"event_name":"acme:trace","data":${ODD},"raw":null,"errors":[],"response_errors":[]`);
  });

  it("equal the ledger, row by row", async () => {
    const native = await (
      await fetch(`${daemon.url}/v1/sessions/${session.id}/native`, { headers: { authorization: `Bearer ${daemon.token}` } })
    ).text();
    const rows = native.split("\n").filter((line) => line.includes('"dir":"sse"'));
    expect(rows).toHaveLength(sent.length);
    expect(ofProvider(all)).toHaveLength(rows.length - sent.filter((text) => text.startsWith(":")).length);
  });

  it("have the text beside the event that brought it", () => {
    const deltas = all.filter(({ type }) => type === "output_text_delta");
    expect(deltas.map(({ delta }) => delta)).toEqual([...DELTAS, ...DELTAS]);
    for (const { seq, delta } of deltas)
      expect(all[seq - 1]).toMatchObject({ type: "provider_event", event_name: "response.output_text.delta", data: { delta } });
  });

  it("have tools with both outputs apart, their exit code and their error", () => {
    const tools = all.filter(({ type }) => type.startsWith("tool_"));
    const bash = tools.filter(({ tool_id }) => tool_id === tools[0]?.tool_id);
    expect(bash.map(({ type }) => type).sort()).toEqual(["tool_ended", "tool_started", "tool_stderr", "tool_stdout"]);
    expect(bash[0]).toMatchObject({ name: "bash", args: { command: "echo out; echo err >&2; exit 3" }, timeout_ms: 120_000 });
    expect(bash.find(({ type }) => type === "tool_stdout")).toMatchObject({ chunk: "out\n" });
    expect(bash.find(({ type }) => type === "tool_stderr")).toMatchObject({ chunk: "err\n" });
    expect(bash.at(-1)).toMatchObject({ exit_code: 3, artifacts: { output: expect.stringContaining("out") } });
    expect(bash.at(-1)?.duration_ms).toBeTypeOf("number");
    expect(tools.filter(({ type }) => type === "tool_started").map(({ name }) => name)).toEqual(["bash", "write", "read"]);
    expect(tools.at(-1)).toMatchObject({ type: "tool_failed", error: expect.stringContaining("nothing-here.txt") });
  });

  it("have the checkpoint before the tool that changes a file", () => {
    expect(readFileSync(join(work, "b.txt"), "utf8")).toBe("beta\n");
    const write = all.find(({ type, name }) => type === "tool_started" && name === "write");
    const checkpoints = all.filter(({ type, seq }) => type === "checkpoint_created" && seq < (write?.seq ?? 0));
    expect(checkpoints.length).toBeGreaterThan(0);
    expect(checkpoints.at(-1)).toMatchObject({ auto: true, files: expect.any(Array), label: expect.any(String) });
  });

  it("are the same from any event on, on pages and live", async () => {
    const { events } = await session.page({ limit: 10_000 });
    const last = events.length;
    for (const after of [1, 2, 5, 9, Math.floor(last / 2), last - 4, last - 1]) {
      const live = await collect(session.dialect("frames", { version: 1, after }));
      expect([after, live]).toEqual([after, all.slice(all.length - live.length)]);
      expect(live.length).toBeGreaterThan(0);
    }
    const paged: unknown[] = [];
    for (let after = 0, more = true; more; ) {
      const page = await session.page({ dialect: "frames", version: 1, limit: 7, after });
      paged.push(...page.events);
      after = page.next;
      more = page.has_more;
    }
    expect(paged).toEqual(all);
  });

  it("keep their numbers when some are left out", async () => {
    const types = "output_text_delta,tool_started";
    const answer = await fetch(`${daemon.url}/v1/sessions/${session.id}/events/sse?dialect=frames&version=1&types=${types}`, {
      headers: { authorization: `Bearer ${daemon.token}` },
    });
    const some = (await answer.text())
      .split("\n")
      .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
    expect(some).toEqual(all.filter(({ type }) => types.includes(type)));
    expect(contractErrors(some, 1, { filtered: true })).toEqual([]);
    expect(answer.headers.get("dragoman-seq")).toBe("unfiltered");
  });

  /** Everything that a WebSocket says. */
  async function overSocket(query: string): Promise<{ hello: object; frames: Frame[] }> {
    const url = `${daemon.url.replace("http", "ws")}/v1/sessions/${session.id}/ws?dialect=frames&${query}`;
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${daemon.token}` } });
    const frames: Frame[] = [];
    let hello = {};
    socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      if (message.type === "event") frames.push(message.event);
      else if (message.type === "hello") hello = message;
    });
    await new Promise((resolve) => socket.once("close", resolve));
    return { hello, frames };
  }

  it("say over a WebSocket, too, that some were left out after they were numbered", async () => {
    const { hello, frames } = await overSocket("version=1&types=tool_started");
    expect(hello).toMatchObject({ seq: "unfiltered" });
    expect(frames).toEqual(all.filter(({ type }) => type === "tool_started"));
  });

  it("go over a WebSocket in version 2, which names the stream", async () => {
    const { hello, frames } = await overSocket("version=2");
    expect(hello).not.toHaveProperty("seq");
    const { session_id: _, ...fields } = all[0] as Frame;
    expect(frames[0]).toEqual({ ...fields, stream_kind: "session", stream_id: session.id, session_id: session.id });
    expect(frames.map(({ seq, type, id }) => [seq, type, id])).toEqual(all.map(({ seq, type, id }) => [seq, type, id]));
  });

  it("of a reader who may not see secrets come from the events alone", async () => {
    const observe = new Dragoman({ url: daemon.url, token: daemon.observeToken ?? "" });
    const frames = await collect(observe.session(session.id).dialect("frames"));
    expect(frames.map(({ seq }) => seq)).toEqual(frames.map((_, index) => index));
    expect(frames.filter(({ type, delta }) => type === "output_text_delta" && delta !== "").length).toBeGreaterThan(0);
  });
});

describe("a turn that runs", () => {
  it("shows what a command writes before it ends", async () => {
    const fifo = join(work, "go");
    const command = `mkfifo ${fifo}; echo first; cat ${fifo}`;
    let nth = 0;
    const slow = await startEndpoint((response) => {
      nth += 1;
      sendStream(response, answerStream(nth === 1 ? [{ call: "bash", args: { command } }] : [{ text: "Done." }]));
    });
    try {
      const env = { RESPONSES_ENDPOINT: slow.baseUrl };
      const live = await client.createSession({ agent: "responses", directory: work, permission_mode: "bypass", env });
      await live.send("Go.");
      const types: string[] = [];
      for await (const frame of live.dialect("frames")) {
        const { type, chunk } = frame as Frame;
        types.push(type);
        if (type === "tool_stdout" && String(chunk).includes("first")) {
          expect(types).not.toContain("tool_ended");
          writeFileSync(fifo, "second\n");
        }
        if (type === "tool_ended") break;
      }
      expect(types.filter((type) => type === "tool_stdout").length).toBeGreaterThan(1);
      await live.terminate();
    } finally {
      await slow.close();
    }
  });
});
