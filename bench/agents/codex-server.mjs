#!/usr/bin/env node
// Speaks the protocol of `codex app-server`: one process, many threads. What a turn says is the prompt's word (script.mjs).
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { play, writerTo } from "./script.mjs";

if (process.argv.includes("--version")) {
  console.log("codex-cli 0.0.1");
  process.exit(0);
}

const write = writerTo(process.stdout);
const notify = (method, params) => write(`${JSON.stringify({ method, params, emittedAtMs: Date.now() })}\n`);

async function turn(threadId, turnId, input) {
  await notify("turn/started", { threadId, turn: { id: turnId, rootTurnId: turnId } });
  let open = null;
  const close = () =>
    open && notify("item/completed", { threadId, turnId, item: { type: "agentMessage", id: open.id, text: open.text } });
  const message = () => {
    close();
    open = { id: `msg_${randomUUID()}`, text: "" };
    notify("item/started", { threadId, turnId, item: { type: "agentMessage", id: open.id, text: "" } });
    const params = JSON.stringify({ threadId, turnId, itemId: open.id, delta: "|" }).split("|");
    return (text) => {
      open.text += text;
      return `{"method":"item/agentMessage/delta","params":${params[0]}${text}${params[1]},"emittedAtMs":${Date.now()}}\n`;
    };
  };
  // A turn that stays open until the process ends.
  if (input !== "hang") await play(input, message, write);
  else return void (await write(message()("waiting ")));
  close();
  await notify("turn/completed", { threadId, turn: { id: turnId, status: "completed", error: null, items: [] } });
}

const opened = (id, { cwd, model, approvalPolicy }) => ({
  thread: { id, cwd },
  model: model ?? "bench-1",
  cwd,
  approvalPolicy,
  sandbox: { type: "workspaceWrite" },
});

const methods = {
  initialize: () => ({ userAgent: "bench" }),
  "thread/start": (params) => opened(randomUUID(), params),
  "thread/resume": (params) => opened(params.threadId, params),
  "turn/start": ({ threadId, input }) => {
    const id = randomUUID();
    setImmediate(() => turn(threadId, id, input[0].text));
    return { turn: { id, rootTurnId: id } };
  },
  "model/list": () => ({ data: [{ id: "bench-1", isDefault: true }] }),
};

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined && method !== undefined) write(`${JSON.stringify({ id, result: methods[method]?.(params) ?? {} })}\n`);
  })
  .on("close", () => process.exit());
