import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { replayTrace, type TraceRow } from "../../../verify/replay.ts";
import { permissionChoices } from "../../claude/translate/permissions.ts";
import { ClaudeTranslator } from "../../claude/translate/translator.ts";
import type { AgentHost, Launch, NativeDirection } from "../../contract.ts";
import { sessionConfig } from "../../kit/test-config.ts";
import { claudeSdkAgent } from "../agent.ts";
import { connectSdk } from "./connection.ts";
import { PromptStream } from "./prompt-stream.ts";

/** A stand-in for the package: the same interface, messages of the same shape, no process. */
const MODULE = `
export function query({ prompt, options }) {
  let wake; const queue = []; let over = false; let failure;
  const push = (m) => { queue.push(m); wake?.(); };
  const id = { session_id: "s", uuid: "u" };
  (async () => {
    let n = 0;
    for await (const message of prompt) {
      const text = message.message.content; n += 1;
      push({ type: "system", subtype: "init", model: "m", permissionMode: options.permissionMode, ...id });
      if (text === "throw") { failure = new Error("Claude Code process exited with code 1"); break; }
      if (text === "ask") {
        push({ type: "assistant", parent_tool_use_id: null, message: { id: "m" + n, model: "m", content: [{ type: "tool_use", id: "t", name: "Bash", input: { command: "x" } }] }, ...id });
        const answer = await options.canUseTool("Bash", { command: "x" }, { signal: new AbortController().signal, toolUseID: "t", requestId: "r1", suggestions: [] });
        push({ type: "user", parent_tool_use_id: null, message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: answer.behavior, is_error: answer.behavior !== "allow" }] }, ...id });
      }
      push({ type: "assistant", parent_tool_use_id: null, message: { id: "a" + n, model: "m", content: [{ type: "text", text: "said " + text }] }, ...id, uuid: "a" + n });
      push({ type: "result", subtype: "success", is_error: false, stop_reason: "end_turn", result: "said " + text, ...id, uuid: "r" + n });
    }
    over = true; wake?.();
  })();
  return {
    async *[Symbol.asyncIterator]() {
      while (true) { while (queue.length) yield queue.shift(); if (failure) throw failure; if (over) return; await new Promise((r) => { wake = r; }); }
    },
    interrupt: async () => ({ still_queued: [] }),
    setModel: async (model) => { if (model === "bad") throw new Error("no such model"); },
    setPermissionMode: async () => {},
    initializationResult: async () => ({ commands: [{ name: "c", description: "d", argumentHint: "" }], models: [{ value: "m1", displayName: "M" }], agents: [], account: {} }),
    close: () => { over = true; wake?.(); },
  };
}
`;

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "claude-sdk-"));
  const folder = join(directory, "state", "node_modules", "@anthropic-ai", "claude-agent-sdk");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "@anthropic-ai/claude-agent-sdk", version: "0.3.1", type: "module", main: "sdk.mjs" }),
  );
  writeFileSync(join(folder, "sdk.mjs"), MODULE);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function lab() {
  const rows: TraceRow[] = [];
  const waiting: (() => void)[] = [];
  let closed = false;
  const tick = () => {
    for (const check of [...waiting]) check();
  };
  const host = {
    settings: {},
    stateDir: join(directory, "state"),
    processDir: join(directory, "processes"),
    version: "0",
    log: () => {},
    resolveCommand: async () => {
      throw new Error("not configured");
    },
    environment: (extra: Record<string, string>) => extra,
    openChannel: () => ({
      record: (dir: NativeDirection, raw: Buffer | string) => {
        // As it would come back from a recording.
        rows.push({ t_ms: 0, dir, data: JSON.parse(String(raw)) });
        tick();
      },
      exited: (_exit: unknown, data?: unknown) => {
        rows.push({ t_ms: 0, dir: "exit", data });
        tick();
      },
      unparsed: () => {},
      attach: () => {},
      detach: () => {},
    }),
  } satisfies AgentHost;
  const launch: Launch = {
    config: sessionConfig({ directory, permission_mode: "plan" }),
    resume: null,
    host,
    port: {
      session_id: "s1",
      say: () => {},
      closed: () => {
        closed = true;
        tick();
      },
    },
  };
  const until = (test: () => boolean) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (test()) resolve();
      };
      waiting.push(check);
      check();
    });
  const seen = (words: string) => rows.some((row) => row.dir === "out" && JSON.stringify(row.data).includes(words));
  return { launch, rows, until, seen, closed: () => closed };
}

const prompt = (text: string) => ({ message_id: "11111111-2222-4333-8444-555555555555", text, attachments: [] });

describe("the Agent SDK", () => {
  it("streams prompts, asks for permissions, and its recording replays through Claude Code's translator", async () => {
    const { launch, rows, until, seen } = lab();
    const connection = await connectSdk(launch);
    await connection.prompt(prompt("ask"));
    await until(() => seen("canUseTool"));
    const native = {
      kind: "permission",
      request_id: "r1",
      tool_use_id: "t",
      input: { command: "x" },
      choices: permissionChoices([]),
    };
    await connection.replyPermission(native, { reply: "once", option_id: null, message: null, updated_input: undefined });
    await until(() => seen("said ask") && seen('"result"'));
    await connection.configure({ model: "other", permission_mode: "accept_edits" });
    await connection.close();
    const replay = replayTrace(() => new ClaudeTranslator(), rows, { location: "claude-sdk" });
    const types = replay.sessions[0]?.events.map((event) => event.type) ?? [];
    expect(replay.unparsed).toEqual([]);
    expect(replay.sessions.flatMap((session) => session.violations)).toEqual([]);
    expect(types).toEqual(
      expect.arrayContaining(["permission.requested", "permission.resolved", "turn.ended", "config.changed"]),
    );
  });

  it("says what the SDK refused, and that it is gone when query() throws", async () => {
    const { launch, until, closed } = lab();
    const connection = await connectSdk(launch);
    await expect(connection.configure({ model: "bad" })).rejects.toThrow(/no such model/);
    await connection.prompt(prompt("throw"));
    await until(closed);
    await expect(connection.prompt(prompt("more"))).rejects.toMatchObject({ code: "agent_gone" });
  });

  it("is found in the data directory, and advises what to do when it is nowhere", async () => {
    const { launch } = lab();
    expect(await claudeSdkAgent.inspect(launch.host)).toMatchObject({ installed: true, version: "0.3.1" });
    const elsewhere = { ...launch.host, stateDir: join(directory, "nothing") };
    expect(await claudeSdkAgent.inspect(elsewhere)).toMatchObject({
      installed: false,
      advice: expect.stringContaining("install claude-sdk"),
    });
  });
});

describe("the prompt stream", () => {
  it("gives what was pushed before and after, in order, until it is closed", async () => {
    const stream = new PromptStream();
    stream.push(1);
    const taken: unknown[] = [];
    const reading = (async () => {
      for await (const message of stream) {
        taken.push(message);
        if (message === 2) stream.close();
      }
    })();
    stream.push(2);
    await reading;
    expect(taken).toEqual([1, 2]);
  });
});
