/** Tasks: commands that run on pipes or in a terminal, beside the turns of a session. The public face of this folder. */
export * from "./limits.ts";
export type { OutputRange } from "./output-store.ts";
export type { Screen } from "./screen.ts";
export { MAX_COLS, MAX_ROWS, StartTask, type TaskPlace, TerminalSizeSchema } from "./start-request.ts";
export * from "./task-error.ts";
export * from "./task-events.ts";
export type { OutputView, StoreOutput } from "./task-output.ts";
export type { OutputStream, TaskExit, TerminalSize } from "./task-process.ts";
export * from "./task-state.ts";
export * from "./tasks.ts";
