// The words that scenarios for ACP agents are written with.
import type { Block, ModelStep, SessionSettings } from "../../scenario.ts";

export const say = (text: string): ModelStep => ({ blocks: [{ type: "text", text }] });
export const use = (...blocks: Block[]): ModelStep => ({ blocks });
export const shell = (command: string): Block => ({ type: "tool", name: "shell", input: { command } });
/** One that changes files: codex-acp asks about it only when the model asks to leave the sandbox. */
export const change = (command: string): Block => ({ type: "tool", name: "shell", input: { command, escalate: true } });
export const write = (path: string, content: string): Block => ({
  type: "tool",
  name: "write",
  input: { path: `{{cwd}}/${path}`, content },
});
export const edit = (path: string, before: string, after: string): Block => ({
  type: "tool",
  name: "edit",
  input: { path: `{{cwd}}/${path}`, old: before, new: after },
});
export const read = (path: string): Block => ({ type: "tool", name: "read", input: { path: `{{cwd}}/${path}` } });

export const asking: SessionSettings = { permission_mode: "default" };
export const free: SessionSettings = { permission_mode: "bypass" };
export const hello = { "hello.txt": "hello world\nsecond line\nthird line\n" };
export const everyone = ["gemini", "claude-agent-acp", "codex-acp", "opencode-acp", "qwen", "copilot"];
