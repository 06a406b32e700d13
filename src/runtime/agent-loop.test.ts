import Type from "typebox";
import { afterEach, describe, expect, it } from "vitest";
import type { ModelStep } from "../agents/scenario.ts";
import { ResponsesClient } from "../openresponses/client.ts";
import { answerStream } from "../openresponses/test-endpoint.ts";
import { startModelServer } from "../verify/model-server/model-server.ts";
import { scenario } from "../verify/model-server/test-client.ts";
import { AgentLoop } from "./agent-loop.ts";
import { fork, untilRequest } from "./fork.ts";
import { balanceFault } from "./input-items.ts";
import { MemoryJournal } from "./memory-stores.ts";
import { recordsOf } from "./records.ts";
import { replay } from "./replay.ts";
import { bodyOf, clientTransport, countTool, echoTool, openLoop, startModel, waitTool } from "./test-loop.ts";
import { baseTools } from "./tools/index.ts";
import { lsTool } from "./tools/search.ts";
import { defineTool } from "./tools/tool.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function scripted(...turns: ModelStep[][]) {
  const [first = [], ...more] = turns;
  const server = await startModelServer({ scenarios: [scenario("s", first, ...more)], default: "s" });
  closers.push(() => server.close());
  return { server, baseUrl: `${server.url}/v1` };
}

async function model(answer: Parameters<typeof startModel>[0]) {
  const started = await startModel(answer);
  closers.push(started.close);
  return started;
}

const waitShape = {
  name: "deaf",
  description: "Never ends.",
  parameters: Type.Object({}),
  effect: "unknown",
  subject: () => ({ kind: "internal" as const }),
} as const;
const echo = (text: string): ModelStep["blocks"][number] => ({ type: "tool", native_name: "echo", input: { text } });
const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
const inputs = (server: { requests: readonly { body: unknown }[] }) =>
  server.requests.map((request) => (request.body as { input: Record<string, unknown>[] }).input);

describe("turn", () => {
  it("goes from prompt to answer over tool calls, whole conversation each time, stateless", async () => {
    const { server, baseUrl } = await scripted([
      { blocks: [{ type: "text", text: "looking" }, echo("a"), echo("b")] },
      say("done"),
    ]);
    const { loop, frames, journal } = await openLoop({ baseUrl });
    const end = await loop.prompt("hello");
    expect(end).toMatchObject({ reason: "end_turn", error_code: null });
    expect(inputs(server)[1]).toMatchObject([
      { role: "user" },
      { type: "message", role: "assistant" },
      { type: "function_call" },
      { type: "function_call" },
      { type: "function_call_output", output: "echo: a" },
      { type: "function_call_output", output: "echo: b" },
    ]);
    expect(server.requests[0]?.body).toMatchObject({ store: false, stream: true, instructions: "Test." });
    expect(frames.filter((frame) => frame.type === "output_text_delta").length).toBeGreaterThan(0);
    expect(
      recordsOf(journal.records, "received")
        .map((one) => one.bytes)
        .join(""),
    ).toContain("response.completed");
    expect(loop.state.turn).toBeNull();
  });

  it("keeps items verbatim: reasoning with its encrypted form, phases and unknown items", async () => {
    const steps: ModelStep[] = [
      {
        blocks: [
          { type: "redacted_thinking" },
          { type: "text", text: "first", phase: "commentary" },
          { type: "native", responses: { type: "acme:thing", id: "x", deep: { a: [1] } } },
          echo("a"),
        ],
      },
      say("done"),
    ];
    const { server, baseUrl } = await scripted(steps);
    const endpoint = {
      reasoning: "encrypted",
      tool_choice: false,
      compact: false,
      prompt_cache_key: true,
      images_in_tool_results: false,
    } as const;
    const { loop, journal } = await openLoop({ baseUrl, settings: { endpoint } });
    await loop.prompt("hello");
    const [ended] = recordsOf(journal.records, "response.ended");
    expect(ended?.items.map((item) => item.type)).toEqual(["reasoning", "message", "acme:thing", "function_call"]);
    expect(inputs(server)[1]?.slice(1, 5)).toEqual(ended?.items);
    expect(server.requests[0]?.body).toMatchObject({ include: ["reasoning.encrypted_content"], prompt_cache_key: "session_1" });
  });

  it("asks before an effect, binds the approval to the input, and tells the model when it is denied", async () => {
    const counter = { count: 0 };
    const call: ModelStep = { blocks: [{ type: "tool", native_name: "count", input: { by: 2 } }] };
    const allowed = await openLoop({ ...(await scripted([call, say("ok")])), tools: [countTool(counter)] });
    await allowed.loop.prompt("go");
    expect(counter.count).toBe(2);
    expect(allowed.asked).toMatchObject([{ tool: "count", args: { by: 2 } }]);
    const denied = await openLoop({ ...(await scripted([call, say("ok")])), tools: [countTool(counter)], answer: "deny" });
    await denied.loop.prompt("go");
    const forged = await openLoop({
      ...(await scripted([call, say("ok")])),
      tools: [countTool(counter)],
      override: { asker: { ask: async () => ({ decision: "allow", input_digest: "of something else" }) } },
    });
    await forged.loop.prompt("go");
    expect(counter.count).toBe(2);
    const outputs = [denied, forged].map((one) => recordsOf(one.journal.records, "call.finished")[0]?.output);
    expect(outputs).toEqual(["The user does not allow this.", "The approval was given for another input. Ask again."]);
  });

  it("starts reads while the answer is streamed, but not after a call with an effect", async () => {
    const counter = { count: 0 };
    const blocks = [echo("early"), { type: "tool", native_name: "count", input: { by: 1 } }, echo("late")] as ModelStep["blocks"];
    const { baseUrl } = await scripted([{ blocks }, say("ok")]);
    const { loop, journal } = await openLoop({ baseUrl, tools: [echoTool, countTool(counter)] });
    await loop.prompt("go");
    const order = journal.records.flatMap((record) =>
      record.type === "call.started" || record.type === "response.ended" ? [record.type] : [],
    );
    expect(order.slice(0, 4)).toEqual(["call.started", "response.ended", "call.started", "call.started"]);
  });

  it("answers wrong arguments with a sentence, and ends the turn after three in a row", async () => {
    const wrong: ModelStep = { blocks: [{ type: "tool", native_name: "echo", raw_arguments: '{"text": 7}' }] };
    const broken: ModelStep = { blocks: [{ type: "tool", native_name: "echo", raw_arguments: "{nope" }] };
    const unknown: ModelStep = { blocks: [{ type: "tool", native_name: "nothing", input: {} }] };
    const { baseUrl } = await scripted([wrong, broken, unknown, say("never")]);
    const { loop, journal } = await openLoop({ baseUrl });
    expect(await loop.prompt("go")).toMatchObject({ reason: "error", error_code: "execution_error" });
    const outputs = recordsOf(journal.records, "call.finished").map((one) => String(one.output));
    expect(outputs[0]).toContain("/text must be string");
    expect(outputs[1]).toContain("not valid JSON");
    expect(outputs[2]).toContain("Use one of: echo");
  });

  it("answers a path that can be none with a sentence, and the turn goes on", async () => {
    const call = (name: string, path: string, more = {}): ModelStep => ({
      blocks: [{ type: "tool", native_name: name, input: { path, ...more } }],
    });
    const long = call("write", "q/".repeat(3000), { content: "x" });
    const { baseUrl } = await scripted([call("read", "a\0b"), long, say("Then not.")]);
    const { loop, journal } = await openLoop({ baseUrl, tools: baseTools() });
    expect(await loop.prompt("go")).toMatchObject({ reason: "end_turn" });
    const outputs = recordsOf(journal.records, "call.finished").map((one) => String(one.output));
    expect(outputs).toEqual(["The path has a NUL byte in it.", "The path has 6000 characters: at most 4096 are possible."]);
  });

  it("ends at the limit of steps, tokens, cost and time", async () => {
    const steps = Array.from(
      { length: 9 },
      (_, at): ModelStep => ({ blocks: [echo(String(at))], usage: { input: 100, output: 10 } }),
    );
    const limits = { steps: 3, tokens: null, cost_usd: null, time_ms: null };
    const prices = { input: 1000, cached: 0, output: 1000 };
    const run = async (change: object) => {
      const { loop } = await openLoop({ ...(await scripted(steps)), settings: { limits: { ...limits, ...change }, prices } });
      return { end: await loop.prompt("go"), steps: loop.state.requests };
    };
    expect(await run({})).toMatchObject({ end: { reason: "max_turns" }, steps: 3 });
    expect(await run({ steps: 50, tokens: 150 })).toMatchObject({ end: { reason: "max_budget" }, steps: 2 });
    expect(await run({ steps: 50, cost_usd: 0.3 })).toMatchObject({ end: { reason: "max_budget" }, steps: 3 });
    expect(await run({ steps: 50, time_ms: 0 })).toMatchObject({ end: { reason: "max_budget" }, steps: 0 });
  });

  it("notices a loop: asks, and in bypass warns the model once and then stops", async () => {
    const same = Array.from({ length: 12 }, (): ModelStep => ({ blocks: [echo("again")] }));
    const asking = await openLoop({ ...(await scripted(same)), answer: "deny" });
    expect(await asking.loop.prompt("go")).toMatchObject({ reason: "loop" });
    expect(asking.asked).toMatchObject([{ tool: "loop" }]);
    expect(asking.loop.state.requests).toBe(3);
    const bypass = await openLoop({ ...(await scripted(same)), settings: { mode: "bypass" } });
    expect(await bypass.loop.prompt("go")).toMatchObject({ reason: "loop" });
    expect(bypass.loop.state.requests).toBe(6);
    expect(recordsOf(bypass.journal.records, "input.added")).toHaveLength(1);
  });

  it("does not take polling for a loop", async () => {
    const counter = { count: 0 };
    const polls = Array.from(
      { length: 8 },
      (): ModelStep => ({ blocks: [{ type: "tool", native_name: "count", input: { by: 1 } }] }),
    );
    const { loop } = await openLoop({ ...(await scripted([...polls, say("done")])), tools: [countTool(counter)] });
    expect(await loop.prompt("go")).toMatchObject({ reason: "end_turn" });
    expect(counter.count).toBe(8);
  });

  it("ends with output_length, refusal or error as the provider says", async () => {
    const reasons = async (step: ModelStep) => (await openLoop(await scripted([step]))).loop.prompt("go");
    expect(await reasons({ ...say("cut"), stop: "max_tokens" })).toMatchObject({
      reason: "output_length",
      error_code: "output_length",
    });
    expect(await reasons({ ...say("cut"), stop: "content_filter" })).toMatchObject({ reason: "refusal" });
    const http = (status: number): ModelStep => ({ blocks: [], fault: { kind: "http", status } });
    expect(await reasons(http(401))).toMatchObject({ reason: "error", error_code: "provider_auth" });
    expect(await reasons(http(500))).toMatchObject({ reason: "error", error_code: "api_error" });
  });
});

describe("retries", () => {
  it("asks again after each kind of break and keeps nothing of the broken answer", async () => {
    const faults: ModelStep["fault"][] = [
      { kind: "http", status: 503, times: 2 },
      { kind: "http", status: 429, times: 1, headers: { "retry-after-ms": "1" } },
      { kind: "cut", after_chunks: 1, times: 1 },
      { kind: "eof", after_chunks: 1, times: 1 },
      { kind: "sse_error", after_chunks: 1, times: 1 },
      { kind: "garbage", after_chunks: 1, times: 1 },
      { kind: "failed", code: "server_error", times: 1 },
      { kind: "refuse_connection", times: 1 },
    ];
    for (const fault of faults) {
      const step: ModelStep = {
        blocks: [{ type: "text", text: "one two three", chunks: 3 }, echo("x")],
        ...(fault ? { fault } : {}),
      };
      const { server, baseUrl } = await scripted([step, say("done")]);
      const { loop, frames } = await openLoop({ baseUrl });
      expect(await loop.prompt("go"), fault?.kind).toMatchObject({ reason: "end_turn" });
      expect(
        frames.some((frame) => frame.type === "retrying"),
        fault?.kind,
      ).toBe(true);
      const last = inputs(server).at(-1) ?? [];
      expect(
        last.map((item) => item.type ?? item.role),
        fault?.kind,
      ).toEqual(["message", "message", "function_call", "function_call_output"]);
    }
  });

  it("a call of an answer that fails afterwards has no effect", async () => {
    const counter = { count: 0 };
    const first = answerStream([{ call: "count", args: { by: 1 } }]);
    const broken = first.slice(0, first.indexOf("event: response.completed"));
    const { baseUrl } = await model((body, nth) => {
      if (nth === 1) return broken;
      return (body.input as unknown[]).length === 1 ? [{ call: "count", args: { by: 1 } }] : [{ text: "done" }];
    });
    const { loop } = await openLoop({ baseUrl, tools: [countTool(counter)] });
    expect(await loop.prompt("go")).toMatchObject({ reason: "end_turn" });
    expect(counter.count).toBe(1);
  });
});

describe("steering, queue, interrupt", () => {
  it("a steering message comes before the next step; a queued one starts its own turn", async () => {
    const { baseUrl, requests } = await model((_body, nth) =>
      nth === 1 ? [{ call: "echo", args: { text: "a" } }] : [{ text: `answer ${nth}` }],
    );
    const test = await openLoop({
      baseUrl,
      onFrame: (frame) => {
        if (frame.type !== "tool_started") return;
        test.loop.enqueue("next task");
        test.loop.steer("also do this");
      },
    });
    await test.loop.prompt("go");
    await test.loop.idle();
    expect(requests).toHaveLength(3);
    expect(bodyOf(requests[1]).input.at(-1)).toMatchObject({ role: "user", content: [{ text: "also do this" }] });
    expect(bodyOf(requests[2]).input.at(-1)).toMatchObject({ role: "user", content: [{ text: "next task" }] });
    expect(recordsOf(test.journal.records, "turn.ended")).toHaveLength(2);
    expect(test.loop.state.queue).toEqual([]);
  });

  it("a message queued while nothing runs starts at once, and is replayed", async () => {
    const { baseUrl, requests } = await model((_body, nth) => [{ text: `answer ${nth}` }]);
    const { loop, journal, registry } = await openLoop({ baseUrl });
    loop.enqueue("first");
    expect(loop.busy).toBe(true);
    loop.enqueue("second");
    await loop.idle();
    await loop.prompt("third");
    expect(requests.map((request) => bodyOf(request).input.length)).toEqual([1, 3, 5]);
    const report = await replay(journal.records, { registry, directory: "/nowhere" });
    expect(report).toMatchObject({ requests: 3, differentRequests: [], firstDifference: null });
  });

  it("a queued message can be taken back, and a second prompt is refused while a turn runs", async () => {
    const { baseUrl, requests } = await model(() => [{ text: "ok" }]);
    const { loop } = await openLoop({ baseUrl });
    const turn = loop.prompt("go");
    expect(() => loop.prompt("again")).toThrow("A turn is running");
    const id = loop.enqueue("later");
    expect(loop.removeQueued(id)).toBe(true);
    expect(loop.removeQueued(id)).toBe(false);
    await turn;
    await loop.idle();
    expect(requests).toHaveLength(1);
  });

  it("an interrupt stops the tool, answers every call, keeps the queue, and the next turn goes on", async () => {
    const { baseUrl, requests } = await model((_body, nth) =>
      nth === 1
        ? [
            { call: "wait", args: {} },
            { call: "echo", args: { text: "never" } },
          ]
        : [{ text: "ok" }],
    );
    const test = await openLoop({
      baseUrl,
      tools: [waitTool, echoTool],
      onFrame: (frame) => {
        if (frame.type === "tool_stdout") void test.loop.interrupt();
      },
    });
    expect(await test.loop.prompt("go")).toMatchObject({ reason: "interrupted" });
    await test.loop.prompt("what now?");
    const { input } = bodyOf(requests[1]);
    expect(balanceFault(input)).toBeNull();
    expect(input.filter((item) => item.type === "function_call_output").map((item) => item.output)).toEqual([
      "Interrupted by the user.",
      "Interrupted by the user.",
    ]);
  });

  it("an interrupt does not wait for a tool that ignores it", async () => {
    const deaf = defineTool({
      ...waitShape,
      run: (_args, { onOutput }) => {
        onOutput("stdout", "x");
        return new Promise(() => {});
      },
    });
    const { baseUrl } = await model(() => [{ call: "deaf", args: {} }]);
    const test = await openLoop({
      baseUrl,
      tools: [deaf],
      onFrame: (frame) => {
        if (frame.type === "tool_stdout") void test.loop.interrupt();
      },
    });
    expect(await test.loop.prompt("go")).toMatchObject({ reason: "interrupted" });
  });

  it("an interrupt stops a request that hangs", async () => {
    const { baseUrl } = await scripted([{ blocks: [], fault: { kind: "hang" } }]);
    const { loop } = await openLoop({ baseUrl });
    const turn = loop.prompt("go");
    setImmediate(() => void loop.interrupt());
    expect(await turn).toMatchObject({ reason: "interrupted" });
  });
});

describe("durability", () => {
  it("a started call is durable before its effect, and its outcome before the next request", async () => {
    class WatchedJournal extends MemoryJournal {
      kept = 0;
      override async durable(): Promise<void> {
        // Later than anything that did not wait for it.
        const { length } = this.records;
        await new Promise((resolve) => setTimeout(resolve, 5));
        this.kept = Math.max(this.kept, length);
      }
    }
    const journal = new WatchedJournal();
    const lost = () => journal.records.slice(journal.kept).map((record) => record.type);
    const seen: string[][] = [];
    const effect = defineTool({
      ...waitShape,
      run: async () => {
        seen.push(lost());
        return { output: "ok" };
      },
    });
    const { baseUrl } = await model((_body, nth) => {
      seen.push(lost());
      return nth < 3 ? [{ call: "deaf", args: {} }] : [{ text: "done" }];
    });
    const { loop } = await openLoop({ baseUrl, tools: [effect], override: { journal } });
    await loop.prompt("go");
    expect(seen).toHaveLength(5);
    expect(seen.flat()).toEqual([]);
    expect(lost()).toEqual([]);
  });

  it("what could be had again is written before the next request, and not synced", async () => {
    class CountingJournal extends MemoryJournal {
      kept = 0;
      syncs = 0;
      override written(): void {
        this.kept = this.records.length;
      }
      override async durable(): Promise<void> {
        this.written();
        this.syncs += 1;
      }
    }
    const journal = new CountingJournal();
    // A person's answer would be synced.
    const policy = { decide: () => ({ decision: "allow", reason: "test" }) as const };
    const missing: number[] = [];
    const { baseUrl } = await model((_body, nth) => {
      missing.push(journal.records.length - journal.kept);
      return nth < 3 ? [{ call: "ls", args: {} }] : [{ text: "done" }];
    });
    const { loop } = await openLoop({ baseUrl, tools: [lsTool], override: { journal, policy } });
    await loop.prompt("go");
    expect(missing).toEqual([0, 0, 0]);
    // The message, and the end of the turn.
    expect(journal.syncs).toBe(2);
  });
});

describe("resume, fork, replay", () => {
  const answers = (_body: unknown, nth: number) =>
    nth <= 3
      ? [{ call: "count", args: { by: 1 } } as const, { call: "echo", args: { text: `${nth}` } } as const]
      : [{ text: "done" }];

  it("goes on from any point of the journal, and no effect happens twice", async () => {
    const counter = { count: 0 };
    const whole = await openLoop({ ...(await model(answers)), tools: [countTool(counter), echoTool] });
    await whole.loop.prompt("go");
    expect(counter.count).toBe(3);
    const all = whole.journal.records;
    const begin = all.findIndex((record) => record.type === "turn.started") + 1;
    for (let cut = begin; cut < all.length; cut += 1) {
      const kept = all.slice(0, cut);
      // What had been done by then stays done.
      const doneBefore = kept.filter((record) => record.type === "call.started" && record.effect === "unknown").length;
      const again = { count: doneBefore };
      const asked = recordsOf(kept, "response.ended").length;
      const { baseUrl, requests, close } = await startModel((body, nth) => answers(body, nth + asked));
      const { loop } = await openLoop({
        baseUrl,
        tools: [countTool(again), echoTool],
        override: { journal: new MemoryJournal(kept) },
      });
      const end = await loop.resume();
      expect(end, `cut at ${cut} (${all[cut - 1]?.type})`).toMatchObject({ reason: "end_turn" });
      expect(again.count, `cut at ${cut} (${all[cut - 1]?.type})`).toBe(3);
      for (const request of requests) expect(balanceFault(bodyOf(request).input)).toBeNull();
      await loop.close();
      await close();
    }
  });

  it("tells the model that a command ran when the daemon died, with its output so far", async () => {
    const test = await openLoop({ ...(await model(() => [{ call: "wait", args: {} }])), tools: [waitTool] });
    const turn = test.loop.prompt("go");
    await new Promise<void>((resolve) => {
      const look = (): void =>
        test.journal.records.some((record) => record.type === "call.output") ? resolve() : void setImmediate(look);
      look();
    });
    const kept = [...test.journal.records];
    await test.loop.interrupt();
    await turn;
    const after = await openLoop({
      ...(await model(() => [{ text: "ok" }])),
      tools: [waitTool],
      override: { journal: new MemoryJournal(kept) },
    });
    expect(() => after.loop.prompt("x")).toThrow("resume it first");
    expect(await after.loop.resume()).toMatchObject({ reason: "end_turn" });
    expect(recordsOf(after.journal.records, "call.finished")).toEqual([]);
    const records = (await after.options.journal.read()) as typeof kept;
    expect(recordsOf(records, "call.finished")[0]).toMatchObject({
      note: "state_unknown",
      output: expect.stringContaining("waiting"),
    });
  });

  it("after_crash stop: ends the turn instead", async () => {
    const test = await openLoop({
      ...(await model(answers)),
      tools: [countTool({ count: 0 }), echoTool],
      settings: { after_crash: "stop" },
    });
    await test.loop.prompt("go");
    const kept = test.journal.records.slice(0, test.journal.records.findIndex((record) => record.type === "response.ended") + 1);
    const { baseUrl, requests } = await model(() => [{ text: "ok" }]);
    const after = await openLoop({ baseUrl, tools: [echoTool], override: { journal: new MemoryJournal(kept) } });
    expect(await after.loop.resume()).toMatchObject({ reason: "interrupted" });
    expect(requests).toHaveLength(0);
    expect(await after.loop.prompt("go on")).toMatchObject({ reason: "end_turn" });
    expect(balanceFault(bodyOf(requests[0]).input)).toBeNull();
  });

  it("goes on from request n with another model", async () => {
    const test = await openLoop({ ...(await model(answers)), tools: [countTool({ count: 0 }), echoTool] });
    await test.loop.prompt("go");
    const { baseUrl, requests } = await model(() => [{ text: "another end" }]);
    const journal = new MemoryJournal(untilRequest(test.journal.records, 3));
    const { loop } = await openLoop({ baseUrl, tools: [echoTool], override: { journal } });
    expect(await loop.resume()).toMatchObject({ reason: "end_turn" });
    expect(requests).toHaveLength(1);
    const outputs = bodyOf(requests[0]).input.filter((item) => item.type === "function_call_output");
    expect(outputs.map((item) => item.output)).toEqual(["now 1", "echo: 1", "now 2", "echo: 2"]);
    expect(() => untilRequest(test.journal.records, 99)).toThrow("no request 99: it has 4");
  });

  it("forks at any record into a balanced conversation of its own", async () => {
    const test = await openLoop({ ...(await model(answers)), tools: [countTool({ count: 0 }), echoTool] });
    await test.loop.prompt("go");
    const all = test.journal.records;
    const { baseUrl, requests } = await model(() => [{ text: "forked" }]);
    for (let records = 1; records <= all.length; records += 1) {
      const journal = new MemoryJournal(fork(all, { records, sessionId: "fork", now: 1 }));
      const loop = await AgentLoop.open({
        ...test.options,
        journal,
        transport: clientTransport(new ResponsesClient({ baseUrl })),
      });
      expect(loop.state.sessionId).toBe("fork");
      expect(await loop.prompt("another way")).toMatchObject({ reason: "end_turn" });
      const { input } = bodyOf(requests.at(-1));
      expect(balanceFault(input), `fork at ${records}`).toBeNull();
      expect(input.at(-1)).toMatchObject({ content: [{ text: "another way" }] });
    }
  });

  it("replays with byte-equal requests, over retries, denials, steering and several turns", async () => {
    const { baseUrl } = await scripted(
      [
        { blocks: [{ type: "text", text: "a b c", chunks: 3 }, echo("a")], fault: { kind: "cut", after_chunks: 1, times: 2 } },
        { blocks: [{ type: "tool", native_name: "count", input: { by: 1 } }] },
        { blocks: [{ type: "tool", native_name: "echo", raw_arguments: "{nope" }] },
        say("done"),
      ],
      [{ blocks: [echo("b"), echo("c")] }, say("done too")],
    );
    let steered = false;
    const test = await openLoop({
      baseUrl,
      tools: [echoTool, countTool({ count: 0 })],
      answer: "deny",
      onFrame: (frame) => {
        if (frame.type !== "tool_failed" || steered) return;
        steered = true;
        test.loop.steer("be quick");
      },
    });
    await test.loop.prompt("one");
    await test.loop.prompt("two");
    const report = await replay(test.journal.records, { registry: test.registry, directory: "/nowhere" });
    expect(report).toMatchObject({ requests: loopRequests(test.journal), differentRequests: [], firstDifference: null });
    const forged = test.journal.records.map((record) =>
      record.type === "call.finished" && record.output === "echo: a" ? { ...record, output: "echo: A" } : record,
    );
    const caught = await replay(forged, { registry: test.registry, directory: "/nowhere" });
    expect(caught.differentRequests.length).toBeGreaterThan(0);
  });

  it("replays an interrupted turn and what came after it", async () => {
    const { baseUrl } = await model((_body, nth) => (nth === 1 ? [{ call: "wait", args: {} }] : [{ text: "ok" }]));
    const test = await openLoop({
      baseUrl,
      tools: [waitTool],
      onFrame: (frame) => {
        if (frame.type === "tool_stdout") void test.loop.interrupt();
      },
    });
    await test.loop.prompt("one");
    await test.loop.prompt("two");
    const report = await replay(test.journal.records, { registry: test.registry, directory: "/nowhere" });
    expect(report).toMatchObject({ requests: 2, differentRequests: [], firstDifference: null });
  });
});

const loopRequests = (journal: MemoryJournal): number => recordsOf(journal.records, "request.sent").length;
