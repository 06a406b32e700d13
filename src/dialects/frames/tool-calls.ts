/**
 * Tool calls of one stream, from announcement to end: which event starts the tool, which ends it, and what was known by then. Agents say this in different
 * orders: arguments with the call, after it, or with the request for permission; a result before or after its call is complete; an end long after the result,
 * when the tool went on in the background.
 */
import type { ContentPart, ToolKind } from "../../schema/content.ts";
import type { EventOf } from "../../schema/event.ts";
import type { Item } from "../../schema/item.ts";
import { parsed } from "../unified-content.ts";
import type { FramePayload, ToolArtifacts } from "./frame.ts";
import { uuidOf } from "./uuid.ts";

type PartOf<T extends ContentPart["type"]> = Extract<ContentPart, { type: T }>;
type ItemEvent = EventOf<"item.started"> | EventOf<"item.updated"> | EventOf<"item.completed">;

/** Checkpoints are made between the call and its run, so that these tools start late: when the agent says that the call is complete. */
const CHANGES_FILES: ReadonlySet<ToolKind> = new Set<ToolKind>(["write", "edit", "delete", "move"]);
/** Calls without an end that are kept; the oldest is given up for a new one. */
const MAX_CALLS = 2_000;
export const CUT_OFF = "The tool was cut off.";
/** What an exit code is when the agent did not say: no command can have it. */
const UNKNOWN_EXIT = -1;

type Call = {
  item_id: string;
  call_id: string;
  name: string;
  kind: ToolKind | undefined;
  args: object | null;
  /** The arguments as far as they were streamed; null once the agent reported them whole. */
  streamed: string | null;
  /** When the arguments were known, or permission was given: from then on it may run. */
  since: number;
  started: boolean;
  ended: boolean;
  /** Reported by the agent after the result, when the tool goes on in the background. */
  background: Set<string>;
  result: { item: Item; part: PartOf<"tool_result"> } | null;
  /** The last words about what went on in the background. */
  outcome: string;
  /** The item of its result. */
  output: string | null;
};

export class ToolCalls {
  /** By the id of the call's item. */
  readonly #calls = new Map<string, Call>();
  /** The newest call of each call id; after a redo an agent uses one again. */
  readonly #byCallId = new Map<string, Call>();
  readonly #byResult = new Map<string, Call>();

  /** What an item event means for its tool; undefined when it is no tool's, or says nothing new. */
  take(event: ItemEvent): FramePayload | undefined {
    const { item } = event.data;
    const call = partOf(item, "tool_call");
    if (item.kind === "tool_call" && call) return this.#takeCall(event, item, call);
    const result = partOf(item, "tool_result");
    if (item.kind === "tool_result" && result) return this.#takeResult(event, item, result);
    if (item.kind === "status" && item.parent_id !== null) this.#takeBackground(event, item, item.parent_id);
    return undefined;
  }

  /** The arguments stand in the request where the agent leaves them out of the call; the time somebody needed to answer is not the tool's. */
  permission({ data, time }: EventOf<"permission.requested"> | EventOf<"permission.resolved">): void {
    const { item_id, call_id, input, updated_input } = data.metadata;
    const call = this.#calls.get(item_id ?? "") ?? this.#byCallId.get(call_id ?? "");
    if (!call) return;
    const known = objectOf(updated_input ?? input);
    if (known && (call.args === null || Object.keys(call.args).length === 0)) call.args = known;
    if (!call.ended) call.since = Date.parse(time);
  }

  /** Output of a running tool, or a piece of its arguments, which says nothing yet. */
  output({ data }: EventOf<"item.delta">): FramePayload | undefined {
    if (data.part_type === "tool_arguments") {
      const call = this.#calls.get(data.item_id);
      if (call && call.streamed !== null) call.streamed += data.delta;
    }
    if (data.part_type !== "tool_output") return undefined;
    const call = this.#byResult.get(data.item_id);
    const type = data.stream === "stderr" ? "tool_stderr" : "tool_stdout";
    return { type, tool_id: uuidOf(call?.item_id ?? data.item_id), chunk: data.delta };
  }

  #takeCall(event: ItemEvent, item: Item, part: PartOf<"tool_call">): FramePayload | undefined {
    const call = this.#callOf(item, part, event.time);
    const args = completeArgs(part.arguments);
    if (args && (Object.keys(args).length > 0 || call.args === null)) {
      if (call.args === null || Object.keys(call.args).length === 0) call.since = Math.max(call.since, Date.parse(event.time));
      call.args = args;
      call.streamed = null;
    }
    call.kind = part.tool_kind ?? call.kind;
    call.name = part.name === "" ? call.name : part.name;
    if (event.type === "item.completed") call.args ??= part.arguments === "" ? {} : { value: part.arguments };
    else {
      const known = call.args !== null && Object.keys(call.args).length > 0;
      return known && !CHANGES_FILES.has(call.kind ?? "other") ? start(call) : undefined;
    }
    return this.#callCompleted(event, item, call);
  }

  /** A complete call is not a tool at its end: its result says that. Without one, only the daemon's own hand says that none will come. */
  #callCompleted(event: ItemEvent, item: Item, call: Call): FramePayload | undefined {
    const frame = start(call);
    if (frame) return frame;
    if (call.ended || !call.started) return undefined;
    if (call.result) return this.#end(call, item, call.result.item, call.result.part);
    if (event.source !== "daemon") return undefined;
    this.#finish(call);
    const error = item.status === "failed" ? CUT_OFF : "The agent did not report how the tool ended.";
    return { type: "tool_failed", tool_id: uuidOf(call.item_id), error };
  }

  #takeResult(event: ItemEvent, item: Item, part: PartOf<"tool_result">): FramePayload | undefined {
    const call = this.#byCallId.get(part.call_id);
    if (!call) return event.type === "item.completed" ? ended(item, part, null) : undefined;
    this.#byResult.set(item.item_id, call);
    call.output = item.item_id;
    if (event.type !== "item.completed") return start(call);
    if (call.ended) return undefined;
    if (call.background.size > 0) {
      call.result = { item, part };
      return undefined;
    }
    return this.#end(call, null, item, part);
  }

  #takeBackground(event: ItemEvent, item: Item, parent: string): void {
    const call = this.#calls.get(parent);
    if (!call || call.ended) return;
    call.outcome = item.content.flatMap((part) => (part.type === "status" ? [part.label] : [])).join(" ");
    if (event.type === "item.completed") call.background.delete(item.item_id);
    else call.background.add(item.item_id);
  }

  #end(call: Call, own: Item | null, item: Item, part: PartOf<"tool_result">): FramePayload {
    this.#finish(call);
    const duration = Date.parse((own ?? item).completed_at ?? item.started_at) - call.since;
    if (own === null) return ended(item, part, { call, duration });
    // The result of a call that went on in the background says that it began, not how it ended.
    const { exit_code: _, duration_ms: __, ...begun } = part;
    return ended({ ...item, status: own.status }, { ...begun, output: call.outcome }, { call, duration });
  }

  #callOf(item: Item, part: PartOf<"tool_call">, time: string): Call {
    const known = this.#calls.get(item.item_id);
    if (known) return known;
    const call: Call = {
      item_id: item.item_id,
      call_id: part.call_id,
      name: part.name,
      kind: part.tool_kind,
      args: null,
      streamed: "",
      since: Date.parse(time),
      started: false,
      ended: false,
      background: new Set(),
      result: null,
      outcome: "",
      output: null,
    };
    this.#calls.set(item.item_id, call);
    this.#byCallId.set(part.call_id, call);
    if (this.#calls.size > MAX_CALLS) for (const oldest of this.#calls.values()) return this.#givenUp(oldest, call);
    return call;
  }

  #givenUp(oldest: Call, call: Call): Call {
    this.#finish(oldest);
    this.#forget(oldest);
    return call;
  }

  /** A finished call stays known: repeats of its end are none. */
  #finish(call: Call): void {
    call.ended = true;
    call.result = null;
    call.args = {};
  }

  #forget(call: Call): void {
    this.#calls.delete(call.item_id);
    if (this.#byCallId.get(call.call_id) === call) this.#byCallId.delete(call.call_id);
    if (call.output !== null) this.#byResult.delete(call.output);
  }
}

function start(call: Call): FramePayload | undefined {
  if (call.started || call.ended) return undefined;
  call.started = true;
  // The tool runs, so its arguments are complete: also those that only came in pieces.
  if (call.args === null || Object.keys(call.args).length === 0) call.args = completeArgs(call.streamed ?? "") ?? call.args;
  call.streamed = null;
  return { type: "tool_started", tool_id: uuidOf(call.item_id), name: call.name, args: call.args ?? {}, timeout_ms: null };
}

type Ran = { call: Call; duration: number };

/** A tool that ran to an end has ended, whatever its exit code; one that could not is failed. */
function ended(item: Item, part: PartOf<"tool_result">, ran: Ran | null): FramePayload {
  const tool_id = uuidOf(ran?.call.item_id ?? item.item_id);
  const exit = part.exit_code ?? null;
  const failed = item.status === "failed" || (part.is_error ?? false);
  if (failed && (exit === null || exit === 0))
    return {
      type: "tool_failed",
      tool_id,
      error: part.output.trim() === "" ? "The tool failed; the agent gave no reason." : part.output,
    };
  return {
    type: "tool_ended",
    tool_id,
    exit_code: exit ?? (ran?.call.kind === "shell" || ran === null ? UNKNOWN_EXIT : 0),
    duration_ms: Math.max(0, Math.round(part.duration_ms ?? ran?.duration ?? 0)),
    artifacts: artifactsOf(item, part),
  };
}

function artifactsOf(item: Item, result: PartOf<"tool_result">): ToolArtifacts {
  const parts = item.content.filter((part) => part.type !== "tool_result");
  return { artifact_refs: result.artifact ? [result.artifact] : [], parts, output: result.output };
}

function partOf<T extends "tool_call" | "tool_result">(item: Item, type: T): PartOf<T> | undefined {
  return item.content.find((part): part is PartOf<T> => part.type === type);
}

/** Null while the text is not the whole arguments yet. Arguments that are no object are the tool's one input. */
function completeArgs(text: string): object | null {
  if (text === "") return null;
  const value = parsed(text);
  if (typeof value === "string" && value === text) return null;
  return objectOf(value) ?? { value };
}

const objectOf = (value: unknown): object | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
