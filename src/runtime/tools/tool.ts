/** The contract of a tool, and what it may use. A tool decides nothing about permissions and writes no journal. */
import type Type from "typebox";
import type { JsonObject } from "../../openresponses/json.ts";
import type { PermissionSubject } from "../permission-subject.ts";
import type { BlobStore, TaskStarter } from "../ports.ts";
import type { Effect, FileChange, RecordOf, TokenCount } from "../records.ts";

/** The outcome of a call. */
export interface ToolResult {
  /** Text, or parts with images. */
  readonly output: string | readonly JsonObject[];
  readonly isError?: boolean;
  readonly exitCode?: number;
  /** Digests of blobs with the whole output. */
  readonly artifacts?: readonly string[];
  /** Files for the person; the model is informed of them in the output. */
  readonly files?: readonly ResultFile[];
}

/** A file that a tool gave back. */
export interface ResultFile {
  readonly name: string;
  readonly mime: string;
  readonly base64: string;
}

/** A skill as it was read. */
export type UsedSkill = Omit<RecordOf<"skill.used">, "type" | "time">;

/** What a tool may use. */
export interface ToolContext {
  /** The key of the call, the same after a crash. */
  readonly call: string;
  /** The directory of the session, absolute and without links. */
  readonly directory: string;
  /** The real path of a path the model named. Throws when it leads elsewhere than when the call was allowed: somebody changed a link since. */
  readonly at: (path: string) => string;
  readonly signal: AbortSignal;
  readonly blobs: BlobStore;
  readonly tasks: TaskStarter;
  readonly now: () => number;
  /** Output while it runs. */
  readonly onOutput: (stream: "stdout" | "stderr", chunk: string) => void;
  /** The plan is part of the state. */
  readonly updatePlan: (entries: readonly JsonObject[]) => void;
  /** So are the skills in use. */
  readonly takeSkill: (skill: UsedSkill) => void;
  /** A sub-agent has ended; null: its agent counted nothing. */
  readonly addChild: (session_id: string, usage: TokenCount | null) => void;
}

/** Changes of files that are worked out and not yet made. The contents are in the blob store. */
export interface PreparedChanges {
  readonly changes: readonly FileChange[];
  /** Given to the model when they are made. */
  readonly result: string;
}

interface ToolBase<A> {
  readonly name: string;
  /** For the model. */
  readonly description: string;
  readonly parameters: Type.TSchema;
  /** What the model is informed of the arguments, when that is more than is checked here. */
  readonly schema?: JsonObject;
  /** Where a free-text form exists (`custom`), its grammar. */
  readonly grammar?: string;
  /** Fixes arguments that models get wrong in a known way. */
  repair?(args: unknown): unknown;
  subject(args: A, context: Pick<ToolContext, "directory">): PermissionSubject;
  /** How long it may run; null without a limit. */
  timeoutMs?(args: A): number | null;
}

/** A tool that changes nothing: it may run twice. */
export interface ReadTool<A> extends ToolBase<A> {
  readonly effect: "none";
  run(args: A, context: ToolContext): Promise<ToolResult>;
}

/** A tool that changes files in a way that can be worked out before. */
export interface FileTool<A> extends ToolBase<A> {
  readonly effect: "file";
  /** Throws `ToolError` when it cannot be done; nothing is changed. */
  prepare(args: A, context: ToolContext): Promise<PreparedChanges>;
}

/** A tool that may do anything: it never runs twice. */
export interface EffectTool<A> extends ToolBase<A> {
  readonly effect: "unknown";
  run(args: A, context: ToolContext): Promise<ToolResult>;
  /** After a crash in the middle of a call: what became of it, without doing anything twice. Null: nobody knows. */
  recover?(args: A, context: ToolContext): Promise<ToolResult | null>;
}

export type Tool<A> = ReadTool<A> | FileTool<A> | EffectTool<A>;

/** A tool whose arguments nobody needs to know: they were checked against its schema. */
export type AnyTool = Tool<never>;

/** Ties the arguments' type to the schema. */
export const defineTool = <S extends Type.TSchema>(tool: { readonly parameters: S } & Tool<Type.Static<S>>): AnyTool => tool;

/** A sentence for the model: what went wrong, and what to do instead. */
export class ToolError extends Error {}

export type { Effect, FileChange };
