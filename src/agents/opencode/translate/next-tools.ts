// Tools of sessions driven by the newer routes (`/api`): their arguments stream, and their outcome comes as content.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { int, type JsonRecord, rec, records, str, toJson } from "../../json.ts";
import { filePart, fileRefs } from "./file-changes.ts";
import { startMessage } from "./messages.ts";
import { contentOf, type Message, newMessage, type Session } from "./state.ts";
import { toolKind, toolPaths, toolTitle } from "./tool-kinds.ts";
import { newToolPart, type ToolPart } from "./tool-part.ts";
import { contentText, exitFailed } from "./tools.ts";

function toolOf(message: Message, callId: string): { part: ToolPart; fresh: boolean } {
  const known = message.parts.get(callId);
  if (known?.kind === "tool") return { part: known, fresh: false };
  const part = newToolPart(callId, `${message.id}:${callId}`, { call_id: callId, name: "unknown" });
  message.parts.set(callId, part);
  return { part, fresh: true };
}

const TOLD = new Set(["input.started", "input.delta", "input.ended", "called", "progress", "success", "failed"]);

/** null: an event this version did not know. */
export function nextTool(message: Message, session: Session, what: string, data: JsonRecord): Draft[] | null {
  const callId = str(data.callID);
  if (callId === undefined || !TOLD.has(what)) return null;
  const { part, fresh } = toolOf(message, callId);
  const start = startMessage(session, message);
  if (!part.open) return [];
  switch (what) {
    case "input.started":
      part.name = str(data.name) ?? part.name;
      return [...start, ...callItem(message, part, fresh, "")];
    case "input.delta": {
      const delta = str(data.delta) ?? "";
      if (part.last === "whole") return [];
      part.last += delta;
      return [
        ...start,
        ...(fresh ? callItem(message, part, true, "") : []),
        { do: "item.delta", key: part.callKey, part_type: "tool_arguments", part_index: 0, delta },
      ];
    }
    case "input.ended":
      part.last = "whole";
      return [...start, ...callItem(message, part, fresh, str(data.text) ?? "{}")];
    case "called":
      part.last = "whole";
      part.name = str(data.tool) ?? part.name;
      part.input = data.input ?? {};
      return [...start, ...callItem(message, part, fresh, toJson(part.input))];
    case "progress":
      return [
        ...start,
        ...(fresh ? callItem(message, part, true, "{}") : []),
        ...progress(message, part, contentText(data.content)),
      ];
    case "success":
    case "failed":
      return [
        ...start,
        ...(fresh ? callItem(message, part, true, "{}") : []),
        ...outcome(message, part, data, what === "failed"),
      ];
    default:
      return null;
  }
}

function callItem(message: Message, part: ToolPart, fresh: boolean, args: string): Draft[] {
  const paths = toolPaths(part.name, part.input, {});
  part.call = [
    {
      type: "tool_call",
      name: part.name,
      arguments: args,
      call_id: part.call_id,
      tool_kind: toolKind(part.name),
      title: toolTitle(part.name, part.input, undefined),
      ...(paths.length > 0 ? { paths } : {}),
    },
  ];
  if (!fresh) return [{ do: "item.update", key: part.callKey, content: part.call }];
  const item = { key: part.callKey, native_item_id: part.id, parent: message.key, content: part.call };
  return [{ do: "item.start", item: { ...item, kind: "tool_call", role: "assistant" } }];
}

function resultItem(message: Message, part: ToolPart): Draft[] {
  if (part.resultStarted) return [];
  part.resultStarted = true;
  const content: DraftPart[] = [{ type: "tool_result", call_id: part.call_id, output: "" }];
  const item = { key: part.resultKey, native_item_id: part.id, parent: message.key, content };
  return [{ do: "item.start", item: { ...item, kind: "tool_result", role: "tool" } }];
}

function progress(message: Message, part: ToolPart, output: string): Draft[] {
  if (output === "" || output === part.output) return [];
  const start = resultItem(message, part);
  const grown = output.startsWith(part.output);
  const delta = output.slice(part.output.length);
  part.output = output;
  if (grown) return [...start, { do: "item.delta", key: part.resultKey, part_type: "tool_output", part_index: 0, delta }];
  return [
    ...start,
    { do: "item.update", key: part.resultKey, content: [{ type: "tool_result", call_id: part.call_id, output }] },
  ];
}

function outcome(message: Message, part: ToolPart, data: JsonRecord, failed: boolean): Draft[] {
  const structured = rec(data.structured);
  const exit = "exit" in structured ? (int(structured.exit) ?? null) : undefined;
  const output = failed ? (str(rec(data.error).message) ?? "") : contentText(data.content);
  part.failed = failed || exitFailed(exit);
  part.open = false;
  part.result = [
    {
      type: "tool_result",
      call_id: part.call_id,
      output,
      ...(part.failed ? { is_error: true } : {}),
      ...(exit === undefined ? {} : { exit_code: exit }),
    },
    ...(failed ? [] : fileRefs(part.name, part.input, structured, undefined)),
    ...records(data.content)
      .filter((piece) => piece.type === "file")
      .map(filePart),
  ];
  return [
    { do: "item.complete", key: part.callKey, content: part.call, status: failed ? "failed" : "completed" },
    ...resultItem(message, part),
    { do: "item.complete", key: part.resultKey, content: part.result, status: part.failed ? "failed" : "completed" },
  ];
}

/** A command the user ran: a message of its own that holds one call. */
export function nextShell(session: Session, what: string, data: JsonRecord): Draft[] | null {
  const callId = str(data.callID) ?? "";
  const message = session.messages.get(`shell:${callId}`) ?? newMessage(session, `shell:${callId}`, "assistant");
  const { part, fresh } = toolOf(message, callId);
  if (!part.open) return [];
  part.name = "bash";
  if (what === "started") {
    part.input = { command: str(data.command) ?? "" };
    message.announced = true;
    return [...startMessage(session, message), ...callItem(message, part, fresh, toJson(part.input))];
  }
  if (what !== "ended") return null;
  message.done = true;
  return [
    ...startMessage(session, message),
    ...(fresh ? callItem(message, part, true, "{}") : []),
    ...outcome(message, part, { content: [{ type: "text", text: str(data.output) ?? "" }] }, false),
    { do: "item.complete", key: message.key, content: contentOf(message) },
  ];
}
