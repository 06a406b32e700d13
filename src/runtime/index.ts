/** Our own agent: what other folders may use of it. */
export * from "./agent-loop.ts";
export * from "./agent-loop-options.ts";
export * from "./assemble.ts";
export * from "./fork.ts";
export * from "./frames.ts";
export * from "./ports.ts";
export * from "./records.ts";
export * from "./replay.ts";
export * from "./settings.ts";
