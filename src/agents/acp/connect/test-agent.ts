// For tests: an ACP agent as a program of its own. What it does is written in the prompt.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const PROGRAM = `
import { exec } from "node:child_process";
import { createInterface } from "node:readline";
const scene = JSON.parse(process.env.SCENE ?? "{}");
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const update = (sessionUpdate, rest) => send({ method: "session/update", params: { sessionId: "s1", update: { sessionUpdate, ...rest } } });
const say = (text) => update("agent_message_chunk", { content: { type: "text", text } });
let next = 0;
const waiting = new Map();
const ask = (method, params) => new Promise((resolve) => { const id = next++; waiting.set(id, resolve); send({ id, method, params: { sessionId: "s1", ...params } }); });
const opened = { sessionId: "s1", ...scene.opened };
const options = [{ optionId: "p1", name: "Yes", kind: "allow_once" }, { optionId: "p2", name: "No", kind: "reject_once" }];
let current = null;
let cancelled = null;
const acts = {
  async ask() {
    const answer = await ask("session/request_permission", { options, toolCall: { toolCallId: "c", title: "touch a", kind: "execute" } });
    say(JSON.stringify(answer.result));
    return answer.result.outcome.outcome === "cancelled" ? "cancelled" : "end_turn";
  },
  async late() {
    say("working");
    await new Promise((resolve) => { cancelled = resolve; });
    const answer = await ask("session/request_permission", { options, toolCall: { toolCallId: "c", title: "touch a", kind: "execute" } });
    const form = await ask("elicitation/create", { mode: "form", message: "?", requestedSchema: { type: "object" } });
    say(JSON.stringify([answer.result, form.result]));
    return "cancelled";
  },
  async asking(command) {
    const answer = ask("session/request_permission", { options, toolCall: { toolCallId: "c", title: "touch a", kind: "execute", rawInput: { command: "touch a" } } });
    const ran = await new Promise((resolve) => exec(command, (error, out, err) => resolve({ code: error ? error.code : 0, out, err })));
    say(JSON.stringify(ran));
    await answer;
  },
  async change(command) {
    update("tool_call", { toolCallId: "c", title: "touch a", kind: "execute", rawInput: { command: "touch a" } });
    const answer = ask("session/request_permission", { options, toolCall: { toolCallId: "c", title: "touch a", kind: "execute", rawInput: { command: "touch a" } } });
    update("tool_call_update", { toolCallId: "c", rawInput: { command } });
    say(JSON.stringify((await answer).result));
  },
  async stray(sessionId) {
    const answer = await ask("session/request_permission", { options, toolCall: { toolCallId: "c", title: "x" }, sessionId: sessionId || undefined });
    const form = await ask("elicitation/create", { mode: "form", message: "?", requestedSchema: { type: "object" }, sessionId: sessionId || 7 });
    say(answer.error.code + " " + form.error.code);
  },
  async vendor() { say(String((await ask("_vendor/x", {})).error.code)); },
  async read(path) { const { result, error } = await ask("fs/read_text_file", { path }); say(error ? String(error.code) : result.content); },
  async run(command) {
    update("tool_call", { toolCallId: "t", title: command, kind: "execute", rawInput: { command } });
    const { result } = await ask("terminal/create", { command });
    update("tool_call_update", { toolCallId: "t", status: "in_progress", content: [{ type: "terminal", terminalId: result.terminalId }] });
    await ask("terminal/wait_for_exit", { terminalId: result.terminalId });
    await ask("terminal/release", { terminalId: result.terminalId });
    update("tool_call_update", { toolCallId: "t", status: "completed" });
  },
  async hold(command) {
    update("tool_call", { toolCallId: "t", title: command, kind: "execute", rawInput: { command } });
    const { result } = await ask("terminal/create", { command });
    update("tool_call_update", { toolCallId: "t", status: "in_progress", content: [{ type: "terminal", terminalId: result.terminalId }] });
    return new Promise(() => {});
  },
  async question() {
    const requestedSchema = { type: "object", properties: { color: { type: "string", enum: ["red", "blue"] } } };
    say(JSON.stringify((await ask("elicitation/create", { mode: "form", message: "Which?", requestedSchema })).result));
  },
  async link() {
    const answer = ask("elicitation/create", { mode: "url", elicitationId: "e1", url: "https://example.com", message: "Sign in" });
    send({ method: "elicitation/complete", params: { elicitationId: "e1" } });
    say(JSON.stringify((await answer).result));
  },
  flood(count) { for (let index = 0; index < Number(count); index++) say(index + " "); },
  garbage() { process.stdout.write("this is no JSON\\n"); say("after garbage"); },
  work() { say("working"); return new Promise(() => {}); },
  die() { process.exit(7); },
  hang: () => new Promise(() => {}),
  async env(name) { say(process.env[name] ?? "unset"); },
};
const answers = {
  initialize: () => ({ protocolVersion: 1, agentInfo: { name: "test-agent", version: "1" }, agentCapabilities: { loadSession: true, ...scene.capabilities }, _meta: scene.meta ?? {}, authMethods: [{ id: "key", name: "Key" }] }),
  authenticate: () => ({}),
  "_session/steering": ({ prompt, _meta }) => {
    if (!current) return { outcome: _meta.steering.idleBehavior };
    say("steered to " + prompt[0].text);
    current({ stopReason: "end_turn" });
    return { outcome: "injected" };
  },
  "session/new": () => { if (scene.signedOut) throw { code: -32000, message: "no key" }; return opened; },
  "session/load": () => { if (scene.lost) throw { code: -32603, message: "No previous sessions found" }; say("replayed"); return scene.opened ?? {}; },
  "session/set_mode": ({ modeId }) => { if (modeId === "broken") throw { code: -32602, message: "no such mode" }; return {}; },
  "session/set_model": ({ modelId }) => { if (!opened.models.availableModels.some((each) => each.modelId === modelId)) throw { code: -32602, message: "no such model" }; return {}; },
  "session/prompt": ({ prompt }) => {
    const [act, rest] = prompt[0].text.split(/ (.*)/s);
    return new Promise((resolve) => {
      current = resolve;
      Promise.resolve(acts[act] ? acts[act](rest) : say(prompt[0].text)).then((stopReason) => resolve({ stopReason: stopReason ?? "end_turn" }));
    });
  },
};
createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  if (message.method === "session/cancel") return cancelled ? cancelled() : current?.({ stopReason: "cancelled" });
  if (message.method === undefined) return waiting.get(message.id)?.(message);
  if (message.id === undefined) return;
  try {
    if (!answers[message.method]) throw { code: -32601, message: "Method not found" };
    send({ id: message.id, result: await answers[message.method](message.params) });
  } catch (error) {
    send({ id: message.id, error });
  }
}).on("close", () => process.exit(0));
`;

/** Writes the program and returns the command that runs it. */
/** `restricted`: it loads nothing of a directory, however it is started. */
export function testAgent(directory: string): { command: string; args: string[]; restricted: object } {
  const file = join(directory, "test-agent.mjs");
  writeFileSync(file, PROGRAM);
  return { command: process.execPath, args: [file], restricted: {} };
}
