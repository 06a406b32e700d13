/** For tests: a package with the SDK's interface that runs the program of the tests of Claude Code, as the real one runs the real CLI. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeProgram } from "../../claude/connect/test-program.ts";
import { SDK_PACKAGE } from "./sdk-module.ts";

const MODULE = `
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
const PROGRAM = fileURLToPath(new URL("./claude.cjs", import.meta.url));
export function query({ prompt, options }) {
  const resume = options.resume ? ["--resume=" + options.resume] : [];
  const child = options.spawnClaudeCodeProcess({ command: process.execPath, args: [PROGRAM, ...resume], cwd: options.cwd, env: options.env });
  const queue = [];
  const waiting = new Map();
  let wake, failure, over = false, next = 0;
  const tell = () => wake?.();
  const send = (frame) => child.stdin.write(JSON.stringify(frame) + "\\n");
  const control = (subtype) => new Promise((resolve) => {
    const request_id = "c" + next++;
    waiting.set(request_id, resolve);
    send({ type: "control_request", request_id, request: { subtype } });
  });
  const ask = async ({ request_id, request: { tool_name, input, tool_use_id } }) => {
    const about = { signal: new AbortController().signal, toolUseID: tool_use_id, requestId: request_id, suggestions: [] };
    const response = await options.canUseTool(tool_name, input, about);
    send({ type: "control_response", response: { subtype: "success", request_id, response } });
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const frame = JSON.parse(line);
    if (frame.type === "control_response") return waiting.get(frame.response.request_id)?.(frame.response.response);
    if (frame.type === "control_request") return void ask(frame);
    queue.push(frame);
    tell();
  });
  child.on("error", (error) => { failure = error; tell(); });
  child.on("exit", (code) => {
    if (code === 0) over = true;
    else failure = new Error("Claude Code process exited with code " + code);
    tell();
  });
  (async () => { for await (const message of prompt) send(message); })();
  return {
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (queue.length > 0) yield queue.shift();
        if (failure) throw failure;
        if (over) return;
        await new Promise((resolve) => { wake = resolve; });
      }
    },
    interrupt: () => control("interrupt"),
    setModel: () => control("set_model"),
    setPermissionMode: () => control("set_permission_mode"),
    initializationResult: () => control("initialize"),
    close: () => { over = true; tell(); },
  };
}
`;

/** Where it is. */
export function sdkPackage(directory: string): { command: string } {
  const command = join(directory, "sdk");
  mkdirSync(command, { recursive: true });
  const manifest = { name: SDK_PACKAGE, version: "0.3.1", type: "module", main: "sdk.mjs" };
  writeFileSync(join(command, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(command, "sdk.mjs"), MODULE);
  writeFileSync(join(command, "claude.cjs"), claudeProgram);
  return { command };
}
