/**
 * Streams of a provider, each as a whole through a session of our own agent: the blocks it sent, the rows of the ledger and the `provider_event` frames are the same in
 * number and order, and the bytes are equal. The list is published in `src/openresponses/README.md`; its ids stand in the names.
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { responsesAgent } from "../src/agents/responses/agent.ts";
import { type Core, openCore } from "../src/daemon/core.ts";
import { KNOWN_EVENT_TYPES } from "../src/openresponses/event-types.ts";
import { block, message, resource, sendStream, startEndpoint, type TestEndpoint } from "../src/openresponses/test-endpoint.ts";
import type { LedgerFrame } from "../src/schema/dialect.ts";

type Send = (response: ServerResponse) => void;
type Frame = Extract<LedgerFrame, { type: "provider_event" }>;

let dir: string;
let core: Core;
let endpoint: TestEndpoint;
let send: Send;

beforeAll(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-provider-stream-")));
  mkdirSync(join(dir, "work"));
  endpoint = await startEndpoint((response) => send(response));
  core = await openCore({
    dataDir: join(dir, "data"),
    config: { agents: { responses: { endpoint: endpoint.baseUrl, model: "m", retries: 0, stall_ms: 20_000 } } },
    agents: [responsesAgent],
    env: { PATH: process.env.PATH, HOME: dir },
    defaultDirectory: join(dir, "work"),
    log: () => {},
  });
});
afterAll(async () => {
  await core.close();
  await endpoint.close();
  rmSync(dir, { recursive: true, force: true });
});

const cases = new Set<string>();
afterEach(({ task }) => void cases.add(/\[(PS\d+)\]/.exec(task.name)?.[1] ?? ""));

/** One turn with this answer: what the ledger has of it, and how the turn ended. */
async function played(answer: Send): Promise<{ rows: Buffer[]; frames: Frame[]; end: string; errors: number }> {
  send = answer;
  const { session_id } = await core.manager.create({ agent: "responses", directory: join(dir, "work") });
  const session = await core.manager.get(session_id);
  const { turn_id } = await session.send("Go.", [], "queue");
  let errors = 0;
  const end = await new Promise<string>((resolve) => {
    const subscription = session.stream.subscribe({
      after: 0,
      onBatch: ({ events, types }) => {
        for (const [index, type] of types.entries()) {
          const event = JSON.parse(events[index] ?? "{}");
          if (type === "error") errors += 1;
          if (type !== "turn.ended" || event.data.turn_id !== turn_id) continue;
          setImmediate(() => subscription.close());
          resolve(event.data.stop_reason);
        }
      },
    });
  });
  const rows: Buffer[] = [];
  const frames: Frame[] = [];
  const reader = responsesAgent.createLedgerReader?.();
  for (let after = 0, more = true; more; ) {
    const page = await session.stream.readNative({ after, limit: 1_000 });
    for (const { dir: from, body } of page.messages) {
      if (from === "sse") rows.push(body);
      for (const frame of reader?.frames({ dir: from, text: body.toString() }) ?? [])
        if (frame.type === "provider_event") frames.push(frame);
    }
    after = page.next;
    more = page.has_more;
  }
  await session.terminate();
  return { rows, frames, end, errors };
}

const OK = { type: "response.completed", response: resource("completed", { output: [message("Hi.")] }) };
/** An answer around these blocks that comes to a good end. */
const around = (middle: string, done = true): string => {
  const open = { type: "response.created", response: resource("in_progress") };
  return `${block({ ...open, sequence_number: 0 })}${middle}${block({ ...OK, sequence_number: 1_000_000 })}${done ? "data: [DONE]\n\n" : ""}`;
};

/** Nothing dropped: as many rows as blocks, as many frames as blocks with data, and every byte. */
async function keeps(text: string | Buffer, blocks: number, comments = 0): Promise<Frame[]> {
  const { rows, frames, end } = await played((response) => sendStream(response, text));
  expect(Buffer.concat(rows).equals(Buffer.from(text))).toBe(true);
  expect([rows.length, frames.length, end]).toEqual([blocks, blocks - comments, "end_turn"]);
  return frames;
}

describe("a provider's stream", () => {
  it("[PS1] all 71 event types", async () => {
    const text = KNOWN_EVENT_TYPES.filter((type) => !/^(error|response\.(failed|incomplete|completed))$/.test(type))
      .map((type, at) => block({ type, sequence_number: at + 1, response: resource("in_progress"), delta: "x" }))
      .join("");
    expect(KNOWN_EVENT_TYPES).toHaveLength(71);
    const frames = await keeps(around(text), 67 + 3);
    expect(new Set(frames.map(({ event_name }) => event_name)).size).toBe(67 + 2);
  });

  it("[PS2] extensions, slug:name, with fields nobody knows", async () => {
    const data = { type: "acme:usage.tick", sequence_number: 1, deep: { a: [1, { b: null }] } };
    const frames = await keeps(around(block(data)), 4);
    expect(frames[1]).toMatchObject({ event_name: "acme:usage.tick", status: "event", errors: [], data: JSON.stringify(data) });
  });

  it("[PS3] types nobody knows, and events without a type", async () => {
    const frames = await keeps(around(`${block({ type: "response.new_thing", sequence_number: 1 })}${block({ a: 1 }, "x")}`), 5);
    expect(frames.slice(1, 3).every(({ errors, status }) => status === "event" && errors.length > 0)).toBe(true);
  });

  it("[PS4] payloads that are no JSON, or no object", async () => {
    const frames = await keeps(around("data: {broken\n\ndata: [1]\n\ndata: 17\n\ndata:\n\n"), 7);
    expect(frames.slice(1, 5).map(({ status, raw }) => [status, raw])).toEqual([
      ["invalid_json", "{broken"],
      ["invalid_json", "[1]"],
      ["invalid_json", "17"],
      ["invalid_json", ""],
    ]);
  });

  it("[PS5] bytes that are no UTF-8", async () => {
    const text = Buffer.concat([
      Buffer.from(around("").split("\n\n")[0] ?? ""),
      Buffer.from("\n\ndata: \xff\xfe{\n\n", "latin1"),
    ]);
    const rest = Buffer.from(block({ ...OK, sequence_number: 9 }));
    await keeps(Buffer.concat([text, rest]), 3);
  });

  it("[PS6] comments are heartbeats: kept, and no events", async () => {
    await keeps(around(": ping\n\n:\n\n"), 5, 2);
  });

  it("[PS7] CRLF and CR as line ends, and a byte order mark", async () => {
    await keeps(`\ufeff${around("").replaceAll("\n", "\r\n")}`, 3);
    await keeps(around("").replaceAll("\n", "\r"), 3);
  });

  it("[PS8] data in several lines is one payload", async () => {
    const frames = await keeps(around('event: acme:x\ndata: {"type":"acme:x",\ndata: "sequence_number":1}\n\n'), 4);
    expect(frames[1]).toMatchObject({ status: "event", data: '{"type":"acme:x", "sequence_number":1}', raw: null });
  });

  it("[PS9] characters cut at every byte", async () => {
    const text = "Grüße 🐉 ﷽";
    const bytes = Buffer.from(around(block({ type: "acme:text", sequence_number: 1, text })));
    const start = bytes.indexOf(text);
    for (let cut = start; cut <= start + Buffer.byteLength(text); cut++) {
      const { rows } = await played((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(bytes.subarray(0, cut), () => setImmediate(() => response.end(bytes.subarray(cut))));
      });
      expect([cut, Buffer.concat(rows).equals(bytes)]).toEqual([cut, true]);
    }
  });

  it("[PS10] an event of 20 MB", async () => {
    const data = { type: "acme:blob", sequence_number: 1, blob: "x".repeat(20 * 1024 * 1024) };
    const frames = await keeps(around(block(data)), 4);
    expect(frames[1]?.data?.length).toBe(JSON.stringify(data).length);
  });

  it("[PS11] error and response.failed are one error of the turn", async () => {
    const error = {
      type: "error",
      sequence_number: 1,
      error: { type: "server_error", code: "server_error", message: "Broken." },
    };
    const failed = { type: "response.failed", sequence_number: 2, response: resource("failed", { error: error.error }) };
    const text = `${block({ type: "response.created", response: resource("in_progress"), sequence_number: 0 })}${block(error)}${block(failed)}data: [DONE]\n\n`;
    const { rows, frames, end, errors } = await played((response) => sendStream(response, text));
    expect([rows.length, frames.length, end, errors]).toEqual([4, 4, "error", 1]);
    expect(Buffer.concat(rows).toString()).toBe(text);
  });

  it("[PS12] no [DONE]", async () => {
    await keeps(around("", false), 2);
  });

  it("[PS13] the end of the connection before the end of the answer: told, and what came is kept", async () => {
    const whole = block({ type: "response.created", response: resource("in_progress"), sequence_number: 0 });
    const { rows, frames, end, errors } = await played((response) => sendStream(response, `${whole}event: response.out`));
    expect(Buffer.concat(rows).toString()).toBe(`${whole}event: response.out`);
    expect(frames.map(({ status }) => status)).toEqual(["event", "invalid_json"]);
    expect([end, errors]).toEqual(["error", 1]);
  });

  it("[PS14] an incomplete answer", async () => {
    const incomplete = resource("incomplete", {
      incomplete_details: { reason: "max_output_tokens" },
      output: [message("Hi", "incomplete")],
    });
    const text = `${block({ type: "response.created", response: resource("in_progress"), sequence_number: 0 })}${block({ type: "response.incomplete", sequence_number: 1, response: incomplete })}`;
    const { rows, frames, end } = await played((response) => sendStream(response, text));
    expect([rows.length, frames.length, end]).toEqual([2, 2, "output_length"]);
  });

  it("[PS15] 5,000 events in one read", async () => {
    const text = Array.from({ length: 5_000 }, (_, at) => block({ type: "acme:n", sequence_number: at + 1, at })).join("");
    const frames = await keeps(around(text), 5_003);
    expect(frames.slice(1, 5_001).map(({ data }) => JSON.parse(data ?? "{}").at)).toEqual(
      Array.from({ length: 5_000 }, (_, at) => at),
    );
  });
});

it("is the list that is published", () => {
  const text = readFileSync(new URL("../src/openresponses/README.md", import.meta.url), "utf8");
  expect(new Set(text.match(/\bPS\d+\b/g))).toEqual(new Set([...cases].filter((id) => id !== "")));
});
