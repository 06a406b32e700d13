/** Tasks: commands that run on pipes or in a terminal, beside the turns of a session. The public face of this folder. */
export { AcpTerminals } from "./acp-terminals.ts";
export type { AgentCommand } from "./agent-process.ts";
export * from "./limits.ts";
export type { OutputRange } from "./output-store.ts";
export type { Screen } from "./screen.ts";
export type { TaskPlace } from "./start-request.ts";
export * from "./task-error.ts";
export * from "./task-events.ts";
export type { OutputView, StoreOutput } from "./task-output.ts";
export type { OutputStream, TaskExit } from "./task-process.ts";
export * from "./task-service.ts";
export * from "./task-streams.ts";
export * from "./tasks.ts";
export * from "./whole-characters.ts";
