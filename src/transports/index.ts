/** The public face of this room: bytes to native messages, and child processes. It knows nothing of schema, sessions or agents. */
export * from "./agent-process.ts";
export * from "./child-process.ts";
export * from "./http-json.ts";
export * from "./json-line.ts";
export * from "./json-rpc.ts";
export * from "./json-rpc-error.ts";
export * from "./line-framer.ts";
export * from "./ndjson-stdio.ts";
export * from "./peer-process.ts";
export * from "./process-mark.ts";
export * from "./process-owners.ts";
export { readStartTime } from "./process-table.ts";
export * from "./reaper.ts";
export * from "./run-program.ts";
export * from "./spawn-error.ts";
export * from "./sse-client.ts";
export type { SseEvent } from "./sse-decoder.ts";
export * from "./stderr-tail.ts";
