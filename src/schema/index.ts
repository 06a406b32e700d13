// The universal schema: types, JSON Schema, validators, the grammar and the fold. Runs anywhere; needs nothing of the daemon.
export * from "./actor.ts";
export * from "./audit.ts";
export * from "./checkpoint.ts";
export * from "./content.ts";
export type * from "./draft.ts";
export * from "./event.ts";
export * from "./event-data.ts";
export * from "./grammar.ts";
export * from "./item.ts";
export * from "./mode-width.ts";
export * from "./problem-codes.ts";
export * from "./projection/index.ts";
export * from "./prune.ts";
export * from "./session.ts";
export * from "./skill.ts";
export * from "./snapshot.ts";
export * from "./trust-tool.ts";
export * from "./validate.ts";
