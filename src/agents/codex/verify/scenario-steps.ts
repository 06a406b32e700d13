// Short words for Codex scenarios.
import type { ModelStep, Scenario, SessionSettings } from "../../scenario.ts";

type Block = ModelStep["blocks"][number];

export const free: SessionSettings = { permission_mode: "bypass" };
export const ask: SessionSettings = { permission_mode: "default" };

export const step = (...blocks: Block[]): ModelStep => ({ blocks });
export const say = (text: string): ModelStep => step({ type: "text", text });
export const shell = (command: string): Block => ({ type: "tool", name: "shell", input: { command } });
export const call = (native_name: string, input: Record<string, unknown>, namespace?: string): Block => ({
  type: "tool",
  native_name,
  input,
  ...(namespace === undefined ? {} : { namespace }),
});
/** A custom tool: its argument is free text. */
export const custom = (native_name: string, raw_arguments: string): Block => ({
  type: "tool",
  native_name,
  raw_arguments,
  custom: true,
});
export const patch = (...lines: string[]): Block =>
  custom("apply_patch", `*** Begin Patch\n${lines.join("\n")}\n*** End Patch\n`);

/** One turn with these answers. */
export const play = (
  name: string,
  title: string,
  steps: ModelStep[],
  more: Omit<Scenario, "name" | "title" | "turns"> & { prompt?: string } = {},
): Scenario => {
  const { prompt = "Go on.", ...rest } = more;
  return { name: `codex-${name}`, title, session: free, turns: [{ prompt, steps }], ...rest };
};
