// What a tool of the MCP server is, and what it may reach.
import type Type from "typebox";
import type { Dragoman } from "../client/dragoman.ts";
import type { PermissionMode } from "../schema/event-data.ts";
import type { Ownership } from "./ownership.ts";

export type ToolContext = {
  daemon: Dragoman;
  ownership: Ownership;
  /** The mode new sessions work in; a person chose it, the agent cannot. */
  permissionMode: PermissionMode;
  /** Aborted when the client takes the call back. */
  signal: AbortSignal;
};

export type Tool = {
  name: string;
  /** For the model: when to use it, what comes back, what to do next. */
  description: string;
  input: Type.TObject;
  /** Changes nothing. */
  readOnly: boolean;
  run(args: unknown, context: ToolContext): Promise<Record<string, unknown>>;
};

/** Keeps a tool's handler typed by its own schema; the server has checked the arguments before it is called. */
export const tool = <S extends Type.TObject>(
  spec: Omit<Tool, "input" | "run"> & {
    input: S;
    run(args: Type.Static<S>, context: ToolContext): Promise<Record<string, unknown>>;
  },
): Tool => ({ ...spec, run: (args, context) => spec.run(args as Type.Static<S>, context) });
