#!/usr/bin/env node
// An ACP agent for tests that really changes files: every prompt is a command for the shell, run in the session's directory as one tool call. `ask: <command>`
// asks for permission first. `wait: <file>` answers when the file exists.
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, watch } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const directories = new Map();
const waiting = new Map();
let asked = 0;

const request = (method, params) =>
  new Promise((resolve) => {
    const id = `ask-${++asked}`;
    waiting.set(id, resolve);
    write({ id, method, params });
  });

const appears = (file) =>
  new Promise((resolve) => {
    const watcher = watch(dirname(file), () => existsSync(file) && resolve());
    if (existsSync(file)) resolve();
    return watcher;
  });

async function prompt({ sessionId, prompt: [{ text }] }) {
  const update = (content) => write({ method: "session/update", params: { sessionId, update: content } });
  const cwd = directories.get(sessionId);
  const toolCallId = randomUUID();
  const [, how, command] = /^(?:(ask|wait): )?([\s\S]*)$/.exec(text.trim());
  if (how === "wait") {
    await appears(command);
    return "end_turn";
  }
  const call = { toolCallId, title: command, kind: "execute", status: "pending", rawInput: { command } };
  update({ sessionUpdate: "tool_call", ...call });
  if (how === "ask") {
    const options = [
      { optionId: "yes", name: "Allow", kind: "allow_once" },
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ];
    const { outcome } = await request("session/request_permission", { sessionId, toolCall: call, options });
    if (outcome.optionId !== "yes") {
      update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
      return "end_turn";
    }
  }
  const output = execFileSync("bash", ["-c", command], { cwd, encoding: "utf8" });
  update({
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "completed",
    content: [{ type: "content", content: { type: "text", text: output } }],
  });
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Done." } });
  return "end_turn";
}

const methods = {
  initialize: () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true }, authMethods: [] }),
  "session/new": ({ cwd }) => {
    const sessionId = randomUUID();
    directories.set(sessionId, cwd);
    return { sessionId };
  },
  "session/load": ({ sessionId, cwd }) => {
    directories.set(sessionId, cwd);
    return {};
  },
  "session/prompt": async (params) => ({ stopReason: await prompt(params) }),
};

createInterface({ input: process.stdin })
  .on("line", async (line) => {
    const { id, method, params, result } = JSON.parse(line);
    if (method === undefined) return waiting.get(id)?.(result);
    const answer = await methods[method]?.(params);
    if (id !== undefined) write({ id, result: answer ?? {} });
  })
  .on("close", () => process.exit());
