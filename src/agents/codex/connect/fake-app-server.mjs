// Test support: a small program that speaks the app-server's protocol. The text of a message says what it does; threads live in a file, as Codex's do.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

if (process.argv.includes("--version")) {
  console.log("codex-cli 0.0.1");
  process.exit(0);
}

const file = join(process.env.CODEX_HOME ?? ".", "threads.json");
const threads = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
const save = () => writeFileSync(file, JSON.stringify(threads));
const waiting = new Map();
const running = new Map();
const over = new Set();
const ANSWERED = Symbol("answered");
let asked = 0;
let skillRoots = [];

const write = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const notify = (method, params) => write({ method, params, emittedAtMs: Date.now() });
const unique = () => `${process.pid}-${Date.now()}-${Math.random().toString(36).slice(2)}`;

/** Sends a request and goes on with the answer. Ids begin at 0. */
function request(method, params, then) {
  const id = asked++;
  waiting.set(id, then);
  write({ id, method, params });
}

function say(threadId, turnId, text) {
  const item = { type: "agentMessage", id: `m-${unique()}`, text };
  notify("item/started", { threadId, turnId, item: { ...item, text: "" } });
  notify("item/agentMessage/delta", { threadId, turnId, itemId: item.id, delta: text });
  notify("item/completed", { threadId, turnId, item });
}

function end(threadId, turnId, status = "completed") {
  running.delete(threadId);
  notify("turn/completed", { threadId, turn: { id: turnId, status, error: null, items: [] } });
}

function answerAndEnd(threadId, turnId, text) {
  say(threadId, turnId, text);
  end(threadId, turnId);
}

function ask(threadId, turnId) {
  const item = {
    type: "commandExecution",
    id: `c-${unique()}`,
    command: "/bin/sh -c 'touch x'",
    cwd: "/",
    status: "inProgress",
    processId: null,
  };
  notify("item/started", { threadId, turnId, item });
  const params = { threadId, turnId, itemId: item.id, command: item.command, cwd: "/", kind: "command" };
  request("item/commandExecution/requestApproval", params, ({ result }) => {
    const status = result?.decision === "accept" ? "completed" : "declined";
    notify("item/completed", { threadId, turnId, item: { ...item, status, exitCode: status === "completed" ? 0 : null } });
    answerAndEnd(threadId, turnId, `decision ${JSON.stringify(result?.decision)}`);
  });
}

/** `edit <path>`: asks for a change of that file. */
function edit(threadId, turnId, text) {
  const path = text.trim().split(/\s+/)[1];
  const item = {
    type: "fileChange",
    id: `f-${unique()}`,
    changes: [{ path, kind: { type: "add" }, diff: "+x" }],
    status: "inProgress",
  };
  notify("item/started", { threadId, turnId, item });
  request("item/fileChange/requestApproval", { threadId, turnId, itemId: item.id, reason: null }, ({ result }) => {
    notify("item/completed", {
      threadId,
      turnId,
      item: { ...item, status: result?.decision === "accept" ? "completed" : "declined" },
    });
    answerAndEnd(threadId, turnId, `decision ${JSON.stringify(result?.decision)}`);
  });
}

/** `kid <path>`: a sub-agent asks for a change of that file. */
function kid(threadId, turnId, text) {
  const child = `th-${unique()}`;
  const inner = `t-${unique()}`;
  const path = text.trim().split(/\s+/)[1];
  const spawn = { type: "subAgentActivity", id: `s-${unique()}`, kind: "started", agentThreadId: child, agentPath: "/root/kid" };
  for (const phase of ["started", "completed"]) notify(`item/${phase}`, { threadId, turnId, item: spawn });
  notify("turn/started", { threadId: child, turn: { id: inner, rootTurnId: turnId } });
  const item = { type: "fileChange", id: `f-${unique()}`, changes: [{ path, kind: { type: "add" }, diff: "+x" }] };
  notify("item/started", { threadId: child, turnId: inner, item: { ...item, status: "inProgress" } });
  const params = { threadId: child, turnId: inner, itemId: item.id, reason: null };
  request("item/fileChange/requestApproval", params, ({ result }) => {
    const status = result?.decision === "accept" ? "completed" : "declined";
    notify("item/completed", { threadId: child, turnId: inner, item: { ...item, status } });
    end(child, inner);
    answerAndEnd(threadId, turnId, `decision ${JSON.stringify(result?.decision)}`);
  });
}

const ACTS = {
  ask,
  edit,
  kid,
  odd: (threadId, turnId) =>
    request("item/odd/request", { threadId, turnId }, (answer) => answerAndEnd(threadId, turnId, `error ${answer.error?.code}`)),
  time: (threadId, turnId) =>
    request("currentTime/read", { threadId }, ({ result }) =>
      answerAndEnd(threadId, turnId, `time ${typeof result?.currentTimeAt}`),
    ),
  roots: (threadId, turnId) => answerAndEnd(threadId, turnId, JSON.stringify(skillRoots)),
  slow: () => {},
  // Comes to its end at the moment of an interrupt.
  nearly: (threadId) => over.add(threadId),
  flood: (threadId, turnId, text) => {
    const item = { type: "agentMessage", id: `m-${unique()}`, text: "" };
    const count = Number(text.trim().split(/\s+/)[1]);
    notify("item/started", { threadId, turnId, item });
    for (let index = 0; index < count; index++)
      notify("item/agentMessage/delta", { threadId, turnId, itemId: item.id, delta: `${index} ` });
    const whole = Array.from({ length: count }, (_, index) => `${index} `).join("");
    notify("item/completed", { threadId, turnId, item: { ...item, text: whole } });
    end(threadId, turnId);
  },
  die: () => process.kill(process.pid, "SIGKILL"),
  garbage: (threadId, turnId) => {
    process.stdout.write("this is no JSON\n");
    answerAndEnd(threadId, turnId, "after garbage");
  },
};

function turn(threadId, params) {
  const turnId = `t-${unique()}`;
  threads[threadId] = (threads[threadId] ?? 0) + 1;
  save();
  running.set(threadId, turnId);
  notify("turn/started", { threadId, turn: { id: turnId, rootTurnId: turnId } });
  const content = params.input;
  notify("item/started", { threadId, turnId, item: { type: "userMessage", id: `u-${turnId}`, content } });
  notify("item/completed", { threadId, turnId, item: { type: "userMessage", id: `u-${turnId}`, content } });
  const word = content[0]?.text.trim().split(/\s/)[0];
  const act = ACTS[word];
  if (act) act(threadId, turnId, content[0].text);
  else answerAndEnd(threadId, turnId, `turn ${threads[threadId]} pid ${process.pid} policy ${params.approvalPolicy}`);
  return { turn: { id: turnId, rootTurnId: turnId } };
}

const opened = (id, params) => ({
  thread: { id, cwd: params.cwd },
  model: params.model ?? "fake-1",
  cwd: params.cwd,
  approvalPolicy: params.approvalPolicy,
  sandbox: { type: "workspaceWrite" },
});

const METHODS = {
  initialize: () => ({ userAgent: "fake" }),
  "thread/start": (params) => {
    const id = `th-${unique()}`;
    threads[id] = 0;
    return opened(id, params);
  },
  "thread/resume": (params) => {
    if (!(params.threadId in threads)) throw new Error(`no rollout found for thread id ${params.threadId}`);
    return opened(params.threadId, params);
  },
  "thread/fork": (params) => {
    const id = `th-${unique()}`;
    threads[id] = threads[params.threadId] ?? 0;
    return opened(id, params);
  },
  "turn/start": (params) => {
    if (params.input[0]?.text === "refuse") throw new Error("not in the mood");
    return turn(params.threadId, params);
  },
  // The answer and the start of an inner turn come at once; the review ends under the name in the answer.
  "review/start": ({ threadId }, id) => {
    const [turnId, inner] = [`t-${unique()}`, `t-${unique()}`];
    const answer = { id, result: { turn: { id: turnId, rootTurnId: null }, reviewThreadId: threadId } };
    const started = { method: "turn/started", params: { threadId, turn: { id: inner, rootTurnId: turnId } } };
    process.stdout.write(`${JSON.stringify(answer)}\n${JSON.stringify(started)}\n`);
    setTimeout(() => answerAndEnd(threadId, turnId, "reviewed"), 50);
    return ANSWERED;
  },
  "turn/steer": (params) => {
    if (params.input[0]?.text === "late") end(params.threadId, params.expectedTurnId);
    if (running.get(params.threadId) !== params.expectedTurnId) throw new Error("no active turn to steer");
    setImmediate(() => answerAndEnd(params.threadId, params.expectedTurnId, `steered by ${params.input[0].text}`));
    return { turnId: params.expectedTurnId };
  },
  "turn/interrupt": (params) => {
    const turnId = running.get(params.threadId);
    if (over.has(params.threadId)) end(params.threadId, turnId);
    if (params.turnId && params.turnId !== running.get(params.threadId)) throw new Error(`no active turn ${params.turnId}`);
    if (turnId) setImmediate(() => end(params.threadId, turnId, "interrupted"));
    return {};
  },
  "thread/settings/update": (params) => {
    const { threadId, ...threadSettings } = params;
    if (params.collaborationMode?.mode === "nonsense") throw new Error("unknown variant `nonsense`");
    notify("thread/settings/updated", { threadId, threadSettings: { model: "fake-1", ...threadSettings } });
    return {};
  },
  "skills/extraRoots/set": ({ extraRoots }) => {
    skillRoots = extraRoots;
    return {};
  },
  "model/list": (params) =>
    params.cursor
      ? { data: [{ id: "fake-2", model: "fake-2" }] }
      : { data: [{ id: "fake-1", isDefault: true, supportedReasoningEfforts: [{ reasoningEffort: "high" }] }], nextCursor: "2" },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) return waiting.get(message.id)?.(message);
  if (message.id === undefined) return;
  try {
    const result = METHODS[message.method]?.(message.params, message.id) ?? {};
    if (result !== ANSWERED) write({ id: message.id, result });
  } catch (error) {
    write({ id: message.id, error: { code: -32600, message: error.message } });
  }
});
