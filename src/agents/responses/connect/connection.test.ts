/** The connection against endpoints that answer as a test says: real sessions, the real log, the real tools. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { type Core, openCore } from "../../../daemon/core.ts";
import {
  type Answer,
  answerStream,
  block,
  message,
  resource,
  type ShortItem,
  sendStream,
  startEndpoint,
  streamOf,
  type TestEndpoint,
} from "../../../openresponses/test-endpoint.ts";
import type { UniversalEvent } from "../../../schema/event.ts";
import { checkGrammar } from "../../../schema/grammar.ts";
import { foldItems } from "../../../schema/projection/item-projection.ts";
import type { Session } from "../../../session/session.ts";
import { eventsOf, play, textsOf, turnEnd, until } from "../../../session/test-session.ts";
import { responsesAgent } from "../agent.ts";

let dir: string;
let work: string;
let core: Core;
let endpoint: TestEndpoint | null = null;

const open = (settings: object, env: NodeJS.ProcessEnv = {}): Promise<Core> =>
  openCore({
    dataDir: join(dir, "data"),
    config: { agents: { responses: { model: "m", retries: 0, ...settings } } },
    agents: [responsesAgent],
    env: { PATH: process.env.PATH, HOME: dir, ...env },
    defaultDirectory: work,
    log: () => {},
  });

/** False where mounting is not permitted. */
function mount(path: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Answers of the model, one request after the other; the last one stays. */
const answers =
  (...list: (readonly ShortItem[])[]): Answer =>
  (response, _request, nth) =>
    sendStream(response, answerStream(list[Math.min(nth, list.length) - 1] ?? []));

async function serve(answer: Answer, settings: object = {}): Promise<void> {
  endpoint = await startEndpoint(answer);
  core = await open({ endpoint: endpoint.baseUrl, ...settings });
}

beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-responses-")));
  work = join(dir, "work");
  mkdirSync(work);
});

afterEach(async () => {
  await core.close();
  await endpoint?.close();
  endpoint = null;
  rmSync(dir, { recursive: true, force: true });
});

const start = async (more: object = {}): Promise<Session> =>
  await core.manager.get((await core.manager.create({ agent: "responses", directory: work, ...more })).session_id);

const of = <T extends UniversalEvent["type"]>(events: UniversalEvent[], type: T): Extract<UniversalEvent, { type: T }>[] =>
  events.filter((event): event is Extract<UniversalEvent, { type: T }> => event.type === type);

/** Plays one turn and checks the whole story against the grammar. */
async function turn(session: Session, text = "Go."): Promise<{ end: UniversalEvent; events: UniversalEvent[] }> {
  const end = await play(session, text);
  const events = await eventsOf(session);
  expect(checkGrammar(events)).toEqual([]);
  return { end, events };
}

const results = (events: UniversalEvent[]): string[] =>
  foldItems(events).flatMap((item) => item.content.flatMap((part) => (part.type === "tool_result" ? [part.output] : [])));

/** What the model knows of its calls. */
const outputs = (nth: number): string[] =>
  JSON.parse(endpoint?.requests[nth - 1]?.body ?? "{}").input.flatMap((item: { type: string; output?: unknown }) =>
    item.type === "function_call_output" ? [String(item.output)] : [],
  );

describe("a turn", () => {
  it("streams text, runs tools and keeps every byte of the provider", async () => {
    writeFileSync(join(work, "a.txt"), "alpha\n");
    const sent: string[] = [];
    await serve((response, _request, nth) => {
      const text = answerStream(
        nth === 1 ? [{ text: "Reading." }, { call: "read", args: { path: "a.txt" } }] : [{ text: "Done." }],
      );
      sent.push(text);
      sendStream(response, text);
    });
    const session = await start();
    const { end, events } = await turn(session);
    expect(end).toMatchObject({ data: { stop_reason: "end_turn" } });
    expect(await textsOf(session, "assistant")).toEqual(["Reading.", "Done."]);
    expect(results(events)[0]).toContain("alpha");
    const native = await session.stream.readNative({ limit: 10_000 });
    const sse = native.messages.filter(({ dir: from }) => from === "sse").map(({ body }) => body.toString());
    expect(sse.join("")).toBe(sent.join(""));
  });

  it("comes piece by piece: each piece is an event and a row of its own, with its bytes, in the ledger alone", async () => {
    const texts = Array.from({ length: 300 }, (_, index) => (index % 50 === 7 ? `"${index}"\n🐉` : `word ${index} `));
    const at = { item_id: "msg", output_index: 0, content_index: 0 };
    const whole = { ...message(texts.join("")), id: "msg" };
    const part = { type: "output_text", text: "", annotations: [] };
    const stream = streamOf(
      [
        { type: "response.created", response: resource("in_progress") },
        { type: "response.output_item.added", output_index: 0, item: { ...whole, status: "in_progress", content: [] } },
        { type: "response.content_part.added", ...at, part },
        ...texts.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
        { type: "response.content_part.done", ...at, part },
        { type: "response.output_item.done", output_index: 0, item: whole },
        { type: "response.completed", response: resource("completed", { output: [whole] }) },
      ].map((event, sequence_number) => ({ ...event, sequence_number })),
    );
    await serve((response) => sendStream(response, stream));
    const session = await start();
    const { events } = await turn(session);
    expect(await textsOf(session, "assistant")).toEqual([texts.join("")]);
    const deltas = of(events, "item.delta").filter(({ source }) => source === "agent");
    expect(deltas.map(({ data }) => data.delta)).toEqual(texts);
    const { messages } = await session.stream.readNative({ limit: 10_000 });
    const rows = messages.filter(({ dir: from }) => from === "sse").map(({ body }) => body.toString());
    expect(rows).toEqual(stream.split(/(?<=\n\n)/));
    const [folder = ""] = readdirSync(join(dir, "data", "agents", "responses", "sessions"));
    const journal = readFileSync(join(dir, "data", "agents", "responses", "sessions", folder, "journal"), "utf8");
    expect(journal).toContain('"type":"response.ended"');
    expect(journal).not.toContain("response.output_text.delta");
  });

  it("gives frames from its ledger: one for each event of the provider, and the tool's beginning, output and end", async () => {
    await serve(answers([{ call: "bash", args: { command: "echo out; echo err >&2" } }], [{ text: "Done." }]));
    const session = await start({ permission_mode: "bypass" });
    await turn(session);
    const reader = responsesAgent.createLedgerReader?.();
    const { messages } = await session.stream.readNative({ limit: 10_000 });
    const frames = messages.flatMap(({ dir: from, body }) => reader?.frames({ dir: from, text: body.toString() }) ?? []);
    const provider = frames.filter(({ type }) => type === "provider_event");
    expect(provider).toHaveLength(messages.filter(({ dir: from }) => from === "sse").length);
    expect(provider.at(0)).toMatchObject({ provider: "openresponses", status: "event", errors: [], response_errors: [] });
    expect(provider.at(-1)).toMatchObject({ status: "done", data: null });
    const tools = frames.filter(({ type }) => type.startsWith("tool_"));
    expect(tools.map(({ type }) => type).sort()).toEqual(["tool_ended", "tool_started", "tool_stderr", "tool_stdout"]);
    expect(tools.at(0)).toMatchObject({ type: "tool_started", name: "bash", args: { command: "echo out; echo err >&2" } });
    expect(tools.at(-1)).toMatchObject({ type: "tool_ended", exit_code: 0 });
  });

  it("goes over a WebSocket where that is configured: only what is new is sent, and its frames have no fault", async () => {
    const asked: { type?: string; previous_response_id?: string; input: unknown[] }[] = [];
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    server.on("connection", (socket) =>
      socket.on("message", (data) => {
        const nth = asked.push(JSON.parse(String(data)));
        const answer = answerStream(nth === 1 ? [{ call: "ls", args: {} }] : [{ text: "Done." }]);
        for (const [, event = ""] of answer.matchAll(/^data: (\{.*)$/gm)) socket.send(event);
      }),
    );
    await once(server, "listening");
    core = await open({ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, websocket: true });
    try {
      const session = await start();
      for (const text of ["Look around.", "And again."])
        expect((await turn(session, text)).end).toMatchObject({ data: { stop_reason: "end_turn" } });
      expect(asked.map(({ type, previous_response_id, input }) => [type, typeof previous_response_id, input.length])).toEqual([
        ["response.create", "undefined", 1],
        ["response.create", "string", 1],
        ["response.create", "string", 1],
      ]);
      const reader = responsesAgent.createLedgerReader?.();
      const { messages } = await session.stream.readNative({ limit: 10_000 });
      const frames = messages.flatMap(({ dir: from, body }) => reader?.frames({ dir: from, text: body.toString() }) ?? []);
      const provider = frames.flatMap((frame) => (frame.type === "provider_event" ? [frame] : []));
      expect(provider).toHaveLength(messages.filter(({ dir: from }) => from === "sse").length);
      expect(provider.flatMap(({ errors, response_errors }) => [...errors, ...response_errors])).toEqual([]);
      expect(new Set(provider.map(({ status, event_name }) => `${status} ${event_name}`))).toEqual(new Set(["event null"]));
    } finally {
      for (const client of server.clients) client.terminate();
      server.close();
    }
  });

  it("asks before it changes something, and does only what was allowed", async () => {
    const write: ShortItem[] = [{ call: "write", args: { path: "b.txt", content: "beta\n" } }];
    await serve(answers(write, [{ text: "I see." }], write, [{ text: "Done." }]));
    const session = await start();
    const reply = async (answer: "reject" | "once", after: number): Promise<number> => {
      const { turn_id } = await session.send("Write.", [], "queue");
      const asked = await until(session, ({ type, sequence }) => type === "permission.requested" && sequence > after);
      if (asked.type !== "permission.requested") throw new Error("nothing was asked");
      expect(asked.data.metadata.diff).toContain("+beta");
      await session.replyPermission(asked.data.permission_id, { reply: answer });
      return (await turnEnd(session, turn_id)).sequence;
    };
    const end = await reply("reject", 0);
    expect(existsSync(join(work, "b.txt"))).toBe(false);
    expect(outputs(2)[0]).toContain("does not allow");
    await reply("once", end);
    expect(readFileSync(join(work, "b.txt"), "utf8")).toBe("beta\n");
    expect(checkGrammar(await eventsOf(session))).toEqual([]);
  });

  it("a question belongs to the call that asks it: it is one thing, not two", async () => {
    await serve(answers([{ call: "ask", args: { question: "Red or blue?" } }], [{ text: "Blue it is." }]));
    const session = await start();
    const { turn_id } = await session.send("Paint it.", [], "queue");
    const asked = await until(session, ({ type }) => type === "question.requested");
    if (asked.type !== "question.requested") throw new Error("nothing was asked");
    await session.replyQuestion(asked.data.question_id, [["Blue"]]);
    await turnEnd(session, turn_id);
    const events = await eventsOf(session);
    expect(checkGrammar(events)).toEqual([]);
    const call = foldItems(events).find(({ kind }) => kind === "tool_call");
    expect(call?.content[0]).toMatchObject({ type: "tool_call", tool_kind: "question", call_id: asked.data.call_id });
    expect(asked.data.item_id).toBe(call?.item_id);
  });

  it("is forked, and both go on", async () => {
    await serve(answers([{ text: "One." }], [{ text: "Two." }]));
    const session = await start();
    await turn(session);
    const copy = await core.manager.get((await core.manager.fork(session.session_id, {})).session_id);
    await turn(copy, "Again.");
    expect(copy.nativeSessionId).not.toBe(session.nativeSessionId);
    expect(endpoint?.requests.at(-1)?.body).toContain("One.");
    await turn(session, "And you?");
    expect(endpoint?.requests.at(-1)?.body).not.toContain("Again.");
  });
});

describe("a fork at an event", () => {
  it("has the conversation up to there and nothing of what came later", async () => {
    await serve(answers([{ text: "One." }], [{ text: "Two." }], [{ text: "Three." }]));
    const session = await start();
    const first = await play(session, "First.");
    await play(session, "Second.");
    const copy = await core.manager.get((await core.manager.fork(session.session_id, { at: first.sequence })).session_id);
    await turn(copy, "Third.");
    const sent = JSON.parse(endpoint?.requests.at(-1)?.body ?? "{}").input;
    const texts = sent.map(({ content }: { content: { text: string }[] }) => content[0]?.text);
    expect(texts).toEqual(["First.", "One.", "Third."]);
    await expect(core.manager.fork(session.session_id, { at: 99_999 })).rejects.toThrow(/no event 99999/);
  });

  it("in the middle of a turn: the call that was open is closed", async () => {
    await serve(answers([{ call: "bash", args: { command: "echo out" } }], [{ text: "Done." }], [{ text: "Again." }]));
    const session = await start({ permission_mode: "bypass" });
    const { events } = await turn(session, "First.");
    const output = events.find(
      ({ type, data }) => type === "item.delta" && "part_type" in data && data.part_type === "tool_output",
    );
    const copy = await core.manager.get((await core.manager.fork(session.session_id, { at: output?.sequence ?? 0 })).session_id);
    await turn(copy, "Second.");
    expect(outputs(3)[0]).toContain("forked while this ran");
  });
});

describe("bad input", () => {
  const failing = async (answer: Answer, settings: object = {}): Promise<UniversalEvent[]> => {
    await serve(answer, settings);
    const { end, events } = await turn(await start());
    expect(end).toMatchObject({ data: { stop_reason: "error" } });
    return events;
  };

  it("an endpoint that is down", async () => {
    core = await open({ endpoint: "http://127.0.0.1:9/v1" });
    const { end, events } = await turn(await start());
    expect(end).toMatchObject({ data: { stop_reason: "error", error_code: "api_error" } });
    expect(of(events, "error")[0]?.data).toMatchObject({ code: "api_error", details: { error_source: "transport" } });
    await expect(core.directory.models("responses", undefined)).rejects.toMatchObject({
      code: "agent_failed_to_start",
      message: expect.stringContaining("is the endpoint running?"),
    });
  });

  it("a wrong key", async () => {
    const events = await failing((response) => {
      response.writeHead(401, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "Incorrect API key provided.", code: "invalid_api_key" } }));
    });
    expect(of(events, "auth.status").map(({ data }) => data.status)).toEqual(["required"]);
    expect(of(events, "error").map(({ data }) => data.code)).toEqual(["provider_auth"]);
  });

  it("a model that is unknown", async () => {
    const events = await failing((response) => {
      response.writeHead(404, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: "The model m does not exist.", code: "model_not_found" } }));
    });
    const [error] = of(events, "error");
    expect(error?.data).toMatchObject({ code: "api_error", details: { native_code: "model_unknown", retryable: false } });
    expect(error?.data.message).toContain("choose one of its models");
  });

  it("a page of HTML instead of a stream", async () => {
    const events = await failing((response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<html><title>Welcome</title></html>");
    });
    expect(of(events, "error")[0]?.data).toMatchObject({ code: "api_error", details: { native_code: "not_a_stream" } });
  });

  it("a stream that stops: the pieces are taken back, and it is asked again", async () => {
    await serve(
      (response, _request, nth) => {
        const whole = answerStream([{ text: "Whole." }]);
        sendStream(response, nth === 1 ? whole.slice(0, whole.indexOf("response.output_item.done")) : whole);
      },
      { retries: 2 },
    );
    const session = await start();
    const { end, events } = await turn(session);
    expect(end).toMatchObject({ data: { stop_reason: "end_turn" } });
    expect(of(events, "session.status").map(({ data }) => data.status)).toContain("retrying");
    expect(of(events, "item.removed")).toHaveLength(1);
    // The half event at the end never became an event: that is reported once, and its bytes are in the ledger.
    expect(of(events, "agent.unparsed").map(({ data }) => data.error)).toEqual([expect.stringContaining("cut inside an event")]);
    const { messages } = await session.stream.readNative({ limit: 10_000 });
    const halves = messages.filter(({ disposition }) => disposition === "unparsed");
    expect(halves.map(({ body }) => body.toString())).toEqual(["event: "]);
  });

  it("an event of 20 MB", async () => {
    const text = "x".repeat(20 * 1024 * 1024);
    await serve(answers([{ text }]));
    const { end, events } = await turn(await start());
    expect(end).toMatchObject({ data: { stop_reason: "end_turn" } });
    const [part] = foldItems(events).find(({ role }) => role === "assistant")?.content ?? [];
    expect(part?.type === "text" && part.text === text).toBe(true);
  });

  it("what is no event is said to be none, and the answer counts", async () => {
    await serve((response) => {
      const whole = answerStream([{ text: "Well." }]);
      sendStream(response, `event: x\ndata: {broken\n\n: ping\n\n${block({ type: "nobody.knows", sequence_number: 0 })}${whole}`);
    });
    const { end, events } = await turn(await start());
    expect(end).toMatchObject({ data: { stop_reason: "end_turn" } });
    expect(of(events, "agent.unparsed")).toHaveLength(2);
  });

  const told = async (item: ShortItem, more: object = {}): Promise<string> => {
    await serve(answers([item], [{ text: "I see." }]));
    const { end, events } = await turn(await start({ permission_mode: "bypass", ...more }));
    expect(end).toMatchObject({ data: { stop_reason: "end_turn" } });
    const [output = ""] = outputs(2);
    expect(results(events)).toEqual([output]);
    return output;
  };

  it("a tool that does not exist", async () => {
    expect(await told({ call: "teleport", args: {} })).toContain('There is no tool "teleport"');
  });

  it("arguments that are not JSON", async () => {
    expect(await told({ call: "read", args: '{"path": ' })).toContain("not valid JSON");
  });

  it("a patch that does not apply changes nothing", async () => {
    writeFileSync(join(work, "a.txt"), "alpha\n");
    const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-omega\n+beta\n*** End Patch\n";
    expect(await told({ call: "apply_patch", args: { patch } })).toMatch(/a\.txt/);
    expect(readFileSync(join(work, "a.txt"), "utf8")).toBe("alpha\n");
  });

  it("a binary file to read", async () => {
    writeFileSync(join(work, "a.bin"), Buffer.from([0, 1, 2, 255, 0]));
    expect(await told({ call: "read", args: { path: "a.bin" } })).toMatch(/binary/i);
  });

  it("a directory that is deleted under it", async () => {
    await serve((response, _request, nth) => {
      if (nth === 1) rmSync(work, { recursive: true });
      sendStream(response, answerStream(nth === 1 ? [{ call: "bash", args: { command: "pwd" } }] : [{ text: "Gone." }]));
    });
    const { end } = await turn(await start({ permission_mode: "bypass" }));
    expect(end).toMatchObject({ data: { stop_reason: "end_turn" } });
    expect(outputs(2)[0]).toContain("not a directory");
    mkdirSync(work);
  });

  it("a full disk: it is said, and the session goes on when there is room", async (context) => {
    const disk = join(dir, "data", "agents", "responses");
    mkdirSync(disk, { recursive: true });
    if (!mount(disk)) return context.skip();
    try {
      await serve(answers([{ text: "Hello." }]));
      const session = await start();
      await turn(session);
      expect(() => writeFileSync(join(disk, "ballast"), Buffer.alloc(8 * 1024 * 1024))).toThrow(/ENOSPC/);
      const { end, events } = await turn(session, "x".repeat(100_000));
      expect(end).toMatchObject({ data: { stop_reason: "error", error_code: "execution_error" } });
      expect(of(events, "error").at(-1)?.data.message).toContain("Make room on the disk");
      rmSync(join(disk, "ballast"));
      expect((await turn(session, "Again.")).end).toMatchObject({ data: { stop_reason: "end_turn" } });
    } finally {
      await core.close();
      execFileSync("umount", ["-l", disk]);
    }
  });
});

describe("addresses and keys", () => {
  const key = (): string | undefined => endpoint?.requests.at(-1)?.headers.authorization;

  it("a key goes to the endpoint it was configured with, and not to one that a session names", async () => {
    endpoint = await startEndpoint(answers([{ text: "Hello." }]));
    const other = await startEndpoint(answers([{ text: "Hello." }]));
    core = await open({ endpoint: endpoint.baseUrl }, { RESPONSES_API_KEY: "secret-1" });
    await turn(await start());
    expect(key()).toBe("Bearer secret-1");
    await turn(await start({ env: { RESPONSES_ENDPOINT: other.baseUrl } }));
    expect(other.requests.at(-1)?.headers.authorization).toBeUndefined();
    await other.close();
  });

  it("a session brings no key", async () => {
    await serve(answers([{ text: "Hello." }]));
    await turn(await start({ env: { RESPONSES_API_KEY: "from-the-api" } }));
    expect(key()).toBeUndefined();
  });

  it("a file of keys counts when only its owner can read it", async () => {
    endpoint = await startEndpoint(answers([{ text: "Hello." }]));
    const file = join(dir, "keys.json");
    writeFileSync(file, JSON.stringify({ [new URL(endpoint.baseUrl).origin]: "secret-2" }), { mode: 0o600 });
    core = await open({ endpoint: endpoint.baseUrl, keys_file: file });
    await turn(await start());
    expect(key()).toBe("Bearer secret-2");
    chmodSync(file, 0o644);
    await expect(start()).rejects.toThrow(/chmod 600/);
  });

  it("commands see neither keys nor the daemon's data", async () => {
    endpoint = await startEndpoint(answers([{ call: "bash", args: { command: "env; true" } }], [{ text: "Done." }]));
    core = await open({ endpoint: endpoint.baseUrl }, { RESPONSES_API_KEY: "secret-3", OPENAI_API_KEY: "secret-4" });
    await turn(await start({ permission_mode: "bypass", env: { MINE: "kept" } }));
    expect(outputs(2)[0]).toContain("MINE=kept");
    expect(outputs(2)[0]).not.toMatch(/secret-/);
  });
});

it("a message that is sent into a compaction waits for its end, and the model gets it", async () => {
  let summary = (): void => {};
  await serve((response, _request, nth) => {
    const answer = () => sendStream(response, answerStream([{ text: `answer ${nth} ${"long ".repeat(nth === 1 ? 500 : 1)}` }]));
    if (nth === 2) summary = answer;
    else answer();
  });
  const session = await start();
  await play(session, "begin");
  const { turn_id } = await session.send("/compact", [], "queue", undefined, { command: true });
  await expect.poll(() => endpoint?.requests.length).toBe(2);
  const steered = await session.send("and more", [], "steer");
  expect(steered.queued).toBe(true);
  summary();
  await turnEnd(session, turn_id);
  await turnEnd(session, steered.turn_id);
  expect(endpoint?.requests).toHaveLength(3);
  expect(endpoint?.requests[2]?.body).toContain("and more");
  await play(session, "last");
  expect(endpoint?.requests[3]?.body).toContain("and more");
});

describe("a directory", () => {
  it("steers the model only when it is trusted, and allows nothing", async () => {
    mkdirSync(join(work, ".dragoman"));
    writeFileSync(join(work, "AGENTS.md"), "Answer in rhymes.");
    writeFileSync(join(work, ".dragoman", "rules.json"), JSON.stringify([{ rule: "Bash", decision: "allow" }]));
    await serve(answers([{ text: "Hello." }]));
    const told = (): string => JSON.parse(endpoint?.requests.at(-1)?.body ?? "{}").instructions;
    await turn(await start({ trust: "restricted" }));
    expect(told()).not.toContain("rhymes");
    const trusted = await start({ trust: "trusted" });
    await turn(trusted);
    expect(told()).toContain("rhymes");
    await trusted.configure({ trust: "restricted" });
    await turn(trusted);
    expect(told()).not.toContain("rhymes");
  });
});

describe("many sessions", () => {
  it("run in one process without a child", async () => {
    await serve(answers([{ text: "Hello." }]));
    const sessions = await Promise.all(Array.from({ length: 50 }, () => start()));
    await Promise.all(sessions.map((session) => play(session, "Hello.")));
    for (const session of sessions) expect(await textsOf(session, "assistant")).toEqual(["Hello."]);
  });
});
