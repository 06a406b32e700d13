import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../openresponses/json.ts";
import { answerStream } from "../openresponses/test-endpoint.ts";
import { isTooLong, pruneOutputs, splitPoint } from "./compaction.ts";
import { balanceFault } from "./input-items.ts";
import { MemoryBlobs } from "./memory-stores.ts";
import type { SkillReader } from "./ports.ts";
import { recordsOf } from "./records.ts";
import { replay } from "./replay.ts";
import { bodyOf, echoTool, openLoop, startModel } from "./test-loop.ts";
import { planTool } from "./tools/plan.ts";
import { skillTool } from "./tools/skill.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const isSummary = (body: JsonObject): boolean => body.tools === undefined;
const STYLE: SkillReader = {
  offered: [{ name: "style", description: "How to write", allowed: [], project: false }],
  load: async (name) => ({
    ...{ name, path: "/skills/style/SKILL.md", directory: "/skills/style", digest: "sha256:1", allowed: [] },
    text: '<skill_content name="style">\nWrite plain sentences.\n</skill_content>',
  }),
};
const GOAL = "Translate the whole library, and keep the name Aurelia.";

describe("compaction", () => {
  it("300 steps in a window of 20,000 tokens: goal, last message, plan and skill survive, always balanced, same prefix, replayable", async () => {
    let steps = 0;
    const seen: JsonObject[] = [];
    const model = await startModel((body) => {
      seen.push(body);
      if (isSummary(body)) return [{ text: `Goal: ${GOAL}\nDone: ${steps} steps.` }];
      steps += 1;
      // Real endpoints count: an estimate alone must not decide.
      const input = Math.ceil(JSON.stringify(body).length / 4);
      if (steps === 1) return [{ call: "plan", args: { entries: [{ text: "translate chapter ten", status: "pending" }] } }];
      if (steps === 2) return [{ call: "skill", args: { name: "style" } }];
      if (steps > 300) return answerStream([{ text: "all done" }], { input, output: 5 });
      return answerStream([{ call: "echo", args: { text: `${steps} ${"lorem ipsum ".repeat(40)}` } }], { input, output: 150 });
    });
    closers.push(model.close);
    const limits = { steps: 1000, tokens: null, cost_usd: null, time_ms: null };
    const test = await openLoop({
      baseUrl: model.baseUrl,
      settings: { context_window: 20_000, limits },
      tools: [echoTool, planTool, skillTool(STYLE)],
    });
    expect(await test.loop.prompt(GOAL)).toMatchObject({ reason: "end_turn" });
    const compactions = recordsOf(test.journal.records, "compacted");
    expect(compactions.length).toBeGreaterThan(3);
    expect(new Set(compactions.map((one) => one.method))).toContain("summary");
    for (const body of seen) {
      const { input } = body as { input: JsonObject[] };
      expect(balanceFault(input)).toBeNull();
      expect(JSON.stringify(body).length / 4).toBeLessThan(20_000);
      expect(body.instructions).toBe("Test.");
      expect(JSON.stringify(input)).toContain("Aurelia");
      if (!isSummary(body)) expect(input.some((item) => item.role === "user")).toBe(true);
    }
    const last = JSON.stringify(seen.at(-1));
    expect(last).toContain("translate chapter ten");
    expect(last.split("Write plain sentences.")).toHaveLength(2);
    const report = await replay(test.journal.records, { registry: test.registry, directory: "/nowhere" });
    expect(report).toMatchObject({ requests: seen.length, differentRequests: [], firstDifference: null });
  });

  it("an overflow is answered with one compaction, then with an error", async () => {
    const overflow = (times: number) => {
      let left = times;
      return startModel((body) => {
        if (isSummary(body)) return [{ text: "Goal: short." }];
        if ((body.input as unknown[]).length === 1 && left === times) return [{ call: "echo", args: { text: "x".repeat(4000) } }];
        left -= 1;
        if (left < 0) return [{ text: "done" }];
        const failed = {
          type: "response.failed",
          sequence_number: 1,
          response: { id: "r", status: "failed", error: { code: "context_length_exceeded", message: "too long" } },
        };
        return `event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`;
      });
    };
    const once = await overflow(1);
    const twice = await overflow(5);
    closers.push(once.close, twice.close);
    const good = await openLoop({ baseUrl: once.baseUrl });
    expect(await good.loop.prompt("go")).toMatchObject({ reason: "end_turn" });
    expect(recordsOf(good.journal.records, "compacted")).toMatchObject([{ trigger: "overflow", method: "summary" }]);
    const bad = await openLoop({ baseUrl: twice.baseUrl });
    expect(await bad.loop.prompt("go")).toMatchObject({ reason: "error", error_code: "context_overflow" });
  });

  it("uses the provider's own where there is one, and the summary when that fails", async () => {
    const item = { type: "compaction", id: "c", encrypted_content: "…" };
    const endpoint = {
      reasoning: "none",
      tool_choice: false,
      compact: true,
      prompt_cache_key: false,
      images_in_tool_results: false,
    } as const;
    const model = await startModel((body) =>
      isSummary(body) ? [{ text: "Goal: g" }] : [{ text: "a long answer, longer than its summary ".repeat(20) }],
    );
    closers.push(model.close);
    const own = await openLoop({
      baseUrl: model.baseUrl,
      settings: { endpoint },
      override: { compactAtProvider: async () => [item] },
    });
    await own.loop.prompt("hello");
    expect(await own.loop.compact()).toBe(true);
    await own.loop.prompt("again");
    expect(bodyOf(model.requests.at(-1)).input[0]).toEqual(item);
    const failing = await openLoop({
      baseUrl: model.baseUrl,
      settings: { endpoint },
      override: { compactAtProvider: () => Promise.reject(new Error("no")) },
    });
    await failing.loop.prompt("hello");
    expect(await failing.loop.compact()).toBe(true);
    expect(recordsOf(failing.journal.records, "compacted")).toMatchObject([{ method: "summary", trigger: "request" }]);
  });

  it("does not take half a summary", async () => {
    const model = await startModel((body) => {
      if (!isSummary(body)) return [{ text: "word ".repeat(200) }];
      return answerStream([{ text: "Goal: ha" }])
        .replaceAll("response.completed", "response.incomplete")
        .replaceAll('"status":"completed","incomplete_details"', '"status":"incomplete","incomplete_details"');
    });
    closers.push(model.close);
    const { loop, journal } = await openLoop({ baseUrl: model.baseUrl });
    await loop.prompt("hello");
    expect(await loop.compact()).toBe(false);
    expect(recordsOf(journal.records, "compacted")).toEqual([]);
  });

  it("keeps plan and running tasks in the summary's message", async () => {
    const model = await startModel((body) => (isSummary(body) ? [{ text: "Goal: g" }] : [{ text: "word ".repeat(400) }]));
    closers.push(model.close);
    const tasks = {
      start: () => Promise.reject(new Error("none")),
      get: () => undefined,
      list: () => [{ id: "task_7", title: "dev server", running: true }],
      close: () => Promise.resolve(),
    };
    const { loop, journal } = await openLoop({ baseUrl: model.baseUrl, tools: [echoTool], override: { tasks } });
    const plan = { type: "plan.updated", time: 1, entries: [{ text: "paint it", status: "pending" }] } as const;
    loop.state.apply({ ...plan, entries: [...plan.entries] });
    await loop.prompt("hello");
    await loop.compact();
    const [record] = recordsOf(journal.records, "compacted");
    const text = JSON.stringify(record?.items[0]);
    expect(text).toContain("[pending] paint it");
    expect(text).toContain("task_7: dev server");
  });
});

describe("parts of a compaction", () => {
  const call = (id: string, name = "read"): JsonObject => ({ type: "function_call", call_id: id, name, arguments: "{}" });
  const output = (id: string, size: number): JsonObject => ({
    type: "function_call_output",
    call_id: id,
    output: "x".repeat(size),
  });
  const user = (text: string): JsonObject => ({ type: "message", role: "user", content: text });

  it("prunes old outputs into artifacts, newest first kept, never a skill", async () => {
    const blobs = new MemoryBlobs();
    const items = [
      user("go"),
      ...["a", "b", "c"].flatMap((id) => [call(id), output(id, 4000)]),
      call("s", "skill"),
      output("s", 8000),
      call("d"),
      output("d", 4000),
    ];
    const pruned = await pruneOutputs(items, 1500, blobs);
    const kept = pruned.filter((item) => item.type === "function_call_output").map((item) => String(item.output).length > 1000);
    expect(kept).toEqual([false, false, false, true, true]);
    expect(balanceFault(pruned)).toBeNull();
    const digest = /artifact:([0-9a-f]{64})/.exec(String(pruned[2]?.output))?.[1] ?? "";
    expect((await blobs.get(digest))?.toString()).toBe("x".repeat(4000));
  });

  it("splits only where an answer begins", () => {
    const items = [
      user("go"),
      { type: "reasoning" },
      call("a"),
      call("b"),
      output("a", 400),
      output("b", 400),
      call("c"),
      output("c", 40),
    ];
    for (let tokens = 0; tokens < 600; tokens += 10) {
      const at = splitPoint(items, tokens);
      expect(balanceFault(items.slice(0, at)), `${tokens}`).toBeNull();
      expect(balanceFault(items.slice(at)), `${tokens}`).toBeNull();
      expect([1, 6, items.length]).toContain(at);
    }
  });

  it("reserves room for the answer, a quarter of a small window", () => {
    expect(isTooLong(83_000, 100_000)).toBe(false);
    expect(isTooLong(84_000, 100_000)).toBe(true);
    expect(isTooLong(15_100, 20_000)).toBe(true);
    expect(isTooLong(1_000_000, null)).toBe(false);
  });
});
