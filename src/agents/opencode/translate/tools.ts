// Tool parts: pending → running → completed or error, as a `tool_call` item that is updated and a `tool_result` item.
import type { Draft, DraftPart, ItemKey } from "../../../schema/draft.ts";
import { arr, int, isRecord, type JsonRecord, num, rec, records, str, toJson } from "../../json.ts";
import { filePart, fileRefs } from "./file-changes.ts";
import type { Message, Session, World } from "./state.ts";
import { isKnownTool, toolKind, toolPaths, toolTitle } from "./tool-kinds.ts";
import { newToolPart, type ToolPart } from "./tool-part.ts";

export function toolPart(world: World, session: Session, message: Message, native: JsonRecord): Draft[] {
  const state = rec(native.state);
  const { status } = state;
  if (!isToolStatus(status)) return [];
  const id = str(native.id) ?? "";
  const known = message.parts.get(id);
  const part = known?.kind === "tool" ? known : addToolPart(world, session, message, native, id);
  const fresh = known === undefined;
  if (!fresh && !part.open) return [];
  const drafts = linkChild(world, session, part, state);
  const last = toJson(state);
  if (!fresh && last === part.last) return drafts;
  part.last = last;
  part.pending = status === "pending";
  if (!part.pending) part.input = input(part, native, state);
  const call = callPart(part, state);
  const ends = status === "completed" || status === "error";
  const changed = toJson(call) !== toJson(part.call[0]);
  part.call = [call];
  // The end of a call carries its last form: no update just before it.
  if (fresh || (changed && !ends)) {
    drafts.unshift(
      fresh
        ? {
            do: "item.start",
            item: {
              key: part.callKey,
              native_item_id: id,
              parent: message.key,
              kind: "tool_call",
              role: "assistant",
              content: part.call,
            },
          }
        : { do: "item.update", key: part.callKey, content: part.call },
    );
  }
  switch (status) {
    case "pending":
      return drafts;
    case "running":
      return [...drafts, ...streamOutput(message.key, part, str(rec(state.metadata).output) ?? "")];
    case "completed":
    case "error":
      return [...drafts, ...finish(world, message.key, part, state, status)];
    default:
      return status satisfies never;
  }
}

type Status = "pending" | "running" | "completed" | "error";
export const isToolStatus = (status: unknown): status is Status =>
  status === "pending" || status === "running" || status === "completed" || status === "error";

function addToolPart(world: World, session: Session, message: Message, native: JsonRecord, id: string): ToolPart {
  const suffix = message.generation === 0 ? "" : `#${message.generation}`;
  const call = { call_id: str(native.callID) ?? id, name: str(native.tool) ?? "unknown" };
  const part = newToolPart(id, `${id}${suffix}`, call);
  // Some providers count the calls of each conversation from 1, and sub-agents work at the same time.
  const { calls } = world.root(session);
  if (calls.get(part.native)?.open) part.call_id = part.id;
  else calls.set(part.native, part);
  message.parts.set(id, part);
  return part;
}

/** A call the agent cannot make is renamed to `invalid`; its own name and text are in the input. */
function input(part: ToolPart, native: JsonRecord, state: JsonRecord): unknown {
  if (native.tool === "invalid" && isRecord(state.input)) {
    part.name = str(state.input.tool) ?? part.name;
    return part.input;
  }
  return state.input ?? part.input;
}

function callPart(part: ToolPart, state: JsonRecord): DraftPart {
  const paths = toolPaths(part.name, part.input, rec(state.metadata));
  return {
    type: "tool_call",
    name: part.name,
    arguments: toJson(part.input),
    call_id: part.call_id,
    tool_kind: doesNotExist(state) ? "other" : toolKind(part.name),
    title: toolTitle(part.name, part.input, str(state.title)),
    ...(paths.length > 0 ? { paths } : {}),
  };
}

/** bash repeats its whole output so far; once it is long, only the end of it. */
function streamOutput(parent: ItemKey, part: ToolPart, output: string): Draft[] {
  if (output === "" || output === part.output) return [];
  const drafts: Draft[] = part.resultStarted ? [] : startResult(parent, part);
  const grown = output.startsWith(part.output);
  const tail = grown ? output.slice(part.output.length) : "";
  part.output = output;
  if (grown) return [...drafts, { do: "item.delta", key: part.resultKey, part_type: "tool_output", part_index: 0, delta: tail }];
  return [
    ...drafts,
    { do: "item.update", key: part.resultKey, content: [{ type: "tool_result", call_id: part.call_id, output }] },
  ];
}

function startResult(parent: ItemKey, part: ToolPart): Draft[] {
  part.resultStarted = true;
  const content: DraftPart[] = [{ type: "tool_result", call_id: part.call_id, output: "" }];
  return [
    {
      do: "item.start",
      item: { key: part.resultKey, native_item_id: part.id, parent, kind: "tool_result", role: "tool", content },
    },
  ];
}

function finish(world: World, parent: ItemKey, part: ToolPart, state: JsonRecord, status: "completed" | "error"): Draft[] {
  const metadata = rec(state.metadata);
  const exit = "exit" in metadata ? (int(metadata.exit) ?? null) : undefined;
  const wrong = status === "error" || isInvalid(part, state);
  part.failed = wrong || exitFailed(exit);
  part.result = [resultPart(part, state, exit), ...extras(world, part, state, wrong)];
  part.open = false;
  const drafts: Draft[] = part.resultStarted ? [] : startResult(parent, part);
  return [
    { do: "item.complete", key: part.callKey, content: part.call, status: wrong ? "failed" : "completed" },
    ...drafts,
    { do: "item.complete", key: part.resultKey, content: part.result, status: part.failed ? "failed" : "completed" },
  ];
}

/** null: a command without an exit code was ended by a signal, as after its timeout or an abort. */
export const exitFailed = (exit: number | null | undefined): boolean => exit === null || (exit !== undefined && exit !== 0);

/** `invalid` ends as completed, but the call it stands for was not made. */
const isInvalid = (part: ToolPart, state: JsonRecord): boolean =>
  str(state.title) === "Invalid Tool" || (part.name === "invalid" && str(rec(state.input).error) !== undefined);

/** A tool nobody has is of no kind, whatever its name looks like. */
const doesNotExist = (state: JsonRecord): boolean => /\bunavailable tool\b/.test(str(rec(state.input).error) ?? "");

function resultPart(part: ToolPart, state: JsonRecord, exit: number | null | undefined): DraftPart {
  const time = rec(state.time);
  const start = num(time.start);
  const end = num(time.end);
  return {
    type: "tool_result",
    call_id: part.call_id,
    output: str(state.output) ?? errorText(state.error) ?? "",
    ...(part.failed ? { is_error: true } : {}),
    ...(exit === undefined ? {} : { exit_code: exit }),
    ...(start === undefined || end === undefined ? {} : { duration_ms: Math.max(0, end - start) }),
  };
}

const errorText = (error: unknown): string | undefined => str(error) ?? (error === undefined ? undefined : toJson(error));

function extras(world: World, part: ToolPart, state: JsonRecord, wrong: boolean): DraftPart[] {
  const attachments = records(state.attachments).map(filePart);
  if (wrong) return attachments;
  const asked = world.diffs.get(part.native);
  world.diffs.delete(part.native);
  return [...fileRefs(part.name, part.input, rec(state.metadata), asked), ...attachments];
}

/** The task tool names the session it runs in: from now on its items hang under this call. */
function linkChild(world: World, session: Session, part: ToolPart, state: JsonRecord): Draft[] {
  const id = str(rec(state.metadata).sessionId);
  if (id === undefined || id === part.child || id === session.id || toolKind(part.name) !== "subagent") return [];
  part.child = id;
  const child = world.session(id);
  if (!isAncestor(child, session)) child.parent = session;
  child.parentCall = part.callKey;
  return [...child.messages.values()]
    .filter((message) => message.started && !message.done)
    .map((message) => ({ do: "item.update", key: message.key, parent: part.callKey }));
}

const isAncestor = (candidate: Session, session: Session): boolean => {
  for (let s: Session | null = session; s; s = s.parent) if (s === candidate) return true;
  return false;
};

/** For a child that speaks before its call names it: the first task call of the parent that has no child yet. */
export function waitingTask(parent: Session): ToolPart | null {
  for (const message of parent.messages.values())
    for (const part of message.parts.values())
      if (part.kind === "tool" && part.open && part.child === null && toolKind(part.name) === "subagent") return part;
  return null;
}

export const toolLabel = (native: JsonRecord): string => {
  const name = str(native.tool) ?? "unknown";
  return isKnownTool(name) ? name : "mcp";
};

export const toolStateOf = (native: JsonRecord): string => str(rec(native.state).status) ?? "unknown";

/** Text of v2 tool content. */
export const contentText = (content: unknown): string =>
  arr(content)
    .map((piece) => str(rec(piece).text) ?? "")
    .filter(Boolean)
    .join("\n");
