// The events of sessions driven by the newer routes (`/api`): `session.next.*`. The classic routes never send them, and these sessions never send
// `message.*` or a status: a turn ends with the last step.
import type { Draft, DraftPart } from "../../schema/draft.ts";
import type { ErrorCode, ErrorData } from "../../schema/event-data.ts";
import { type JsonRecord, num, rec, records, str, toJson } from "../json.ts";
import { filePart, fileRefs } from "./file-changes.ts";
import { appendText, contentPart, refresh, startMessage } from "./messages.ts";
import { revertMark } from "./removal.ts";
import { modelName } from "./session-info.ts";
import { contentOf, type Message, newMessage, type Session, type ToolPart } from "./state.ts";
import { toolKind, toolPaths, toolTitle } from "./tool-kinds.ts";
import { contentText } from "./tools.ts";
import { agentTurn, endStep, endTurn, promptSent, readUsage } from "./turns.ts";

/** null: an event this version did not know. `type` is without `session.next.`. */
export function nextEvent(session: Session, type: string, data: JsonRecord): Draft[] | null {
  session.next = true;
  switch (type) {
    case "prompt.admitted":
      return session.turn ? [] : promptSent(session, null);
    case "prompted":
      return prompted(session, data);
    case "synthetic":
      return systemText(session, `sys:${str(data.messageID)}`, str(data.text) ?? "");
    case "context.updated":
      return [
        {
          do: "event",
          type: "agent.notice",
          data: { name: "session.next.context.updated", detail: { text: str(data.text) ?? "" } },
        },
      ];
    case "agent.switched":
      session.agent = str(data.agent) ?? session.agent;
      return [{ do: "event", type: "config.changed", data: { agent_mode: session.agent } }];
    case "model.switched": {
      const variant = str(rec(data.model).variant);
      session.model = modelName(data.model);
      return [
        { do: "event", type: "config.changed", data: { model: session.model, ...(variant === undefined ? {} : { variant }) } },
      ];
    }
    case "moved":
      session.directory = str(rec(data.location).directory) ?? session.directory;
      return [{ do: "event", type: "session.updated", data: { metadata: { directory: session.directory } } }];
    case "retried":
      return retried(session, data);
    default:
      return step(session, type, data);
  }
}

function step(session: Session, type: string, data: JsonRecord): Draft[] | null {
  const [subject, ...rest] = type.split(".");
  const what = rest.join(".");
  switch (subject) {
    case "step":
      return what === "started"
        ? stepStarted(session, data)
        : what === "ended"
          ? stepEnded(session, data)
          : stepFailed(session, data);
    case "text":
    case "reasoning":
      return text(session, subject, what, data);
    case "tool":
      return tool(session, what, data);
    case "shell":
      return shell(session, what, data);
    case "compaction":
      return compaction(session, what, data);
    case "revert":
      return what === "committed" ? [] : revertMark(session, what === "staged" ? data.revert : undefined);
    default:
      return null;
  }
}

function prompted(session: Session, data: JsonRecord): Draft[] {
  const id = str(data.messageID) ?? "";
  if (session.messages.has(id)) return [];
  const drafts = promptSent(session, null);
  const message = newMessage(session, id, "user");
  const prompt = rec(data.prompt);
  const content: DraftPart[] = [{ type: "text", text: str(prompt.text) ?? "" }, ...records(prompt.files).map(filePart)];
  contentPart(message, "text", "text").content = content;
  message.slots = [contentPart(message, "text", "text")];
  message.started = message.done = true;
  return [
    ...drafts,
    {
      do: "item.add",
      item: { key: message.key, native_item_id: id, parent: session.parentCall, kind: "message", role: "user", content },
    },
  ];
}

const systemText = (session: Session, key: string, text: string): Draft[] => [
  {
    do: "item.add",
    item: { key, parent: session.parentCall, kind: "system", role: "system", content: [{ type: "text", text }] },
  },
];

function retried(session: Session, data: JsonRecord): Draft[] {
  const attempt = num(data.attempt);
  const detail = str(rec(data.error).message);
  if (session.turn) session.turn.retrying = true;
  return [
    {
      do: "status",
      status: { status: "retrying", ...(detail === undefined ? {} : { detail }), ...(attempt === undefined ? {} : { attempt }) },
    },
  ];
}

function messageOf(session: Session, data: JsonRecord): Message {
  const id = str(data.assistantMessageID) ?? str(data.messageID) ?? "";
  return session.messages.get(id) ?? newMessage(session, id, "assistant");
}

function stepStarted(session: Session, data: JsonRecord): Draft[] {
  const message = messageOf(session, data);
  if (message.done) return [];
  const drafts: Draft[] = session.turn ? [] : agentTurn(session);
  if (session.turn) session.turn.retrying = false;
  drafts.push(...startMessage(session, message, false));
  message.steps += 1;
  message.stepOpen = `step:${message.id}:${message.steps}`;
  return [...drafts, { do: "step.start", key: message.stepOpen }];
}

function stepEnded(session: Session, data: JsonRecord): Draft[] {
  const message = messageOf(session, data);
  if (message.done) return [];
  const finish = str(data.finish) ?? null;
  const usage = readUsage(data.tokens, data.cost);
  message.finish = finish;
  message.usage = usage;
  message.done = true;
  if (session.turn) session.turn.last = message;
  const drafts = [...endStep(message, finish ?? undefined, usage), completed(message)];
  return finish === "tool-calls" ? drafts : [...drafts, ...endTurn(session)];
}

const completed = (message: Message): Draft => ({
  do: "item.complete",
  key: message.key,
  content: contentOf(message),
  status: message.failed ? "failed" : "completed",
});

/** An interrupt ends the step as a failure too. */
function stepFailed(session: Session, data: JsonRecord): Draft[] {
  const message = messageOf(session, data);
  const text = str(rec(data.error).message) ?? "The step failed.";
  const interrupted = session.turn?.aborting === true || /interrupted/i.test(text);
  const status = /HTTP (\d{3})/.exec(text)?.[1];
  message.failed = true;
  const drafts: Draft[] = message.done
    ? []
    : [...endStep(message, interrupted ? "interrupted" : "error", null), completed(message)];
  message.done = true;
  const name = interrupted ? "MessageAbortedError" : "SessionErrorUnknown";
  const error: ErrorData = {
    message: text,
    code: interrupted ? "aborted" : status === undefined ? "unknown" : byStatus(Number(status)),
    details: {
      error_source: interrupted ? "agent" : "provider",
      native_code: status ? Number(status) : name,
    },
  };
  return [...drafts, ...endTurn(session, { stop: interrupted ? "interrupted" : "error", error: { name, error } })];
}

const byStatus = (status: number): ErrorCode =>
  status === 401 || status === 403 ? "provider_auth" : status === 429 ? "rate_limit" : "api_error";

function text(session: Session, type: "text" | "reasoning", what: string, data: JsonRecord): Draft[] | null {
  const message = messageOf(session, data);
  const id = `${type}:${str(data.textID) ?? str(data.reasoningID) ?? ""}`;
  if (message.done) return [];
  const part = contentPart(message, id, type);
  switch (what) {
    case "started":
      return startMessage(session, message, true);
    case "delta": {
      const delta = str(data.delta) ?? "";
      return part.closed || delta === "" ? [] : [...startMessage(session, message, true), ...appendText(message, part, delta)];
    }
    case "ended": {
      const whole = str(data.text) ?? "";
      const start = startMessage(session, message, true);
      if (part.closed) return [];
      part.closed = true;
      if (whole === part.text) return start;
      if (whole.startsWith(part.text)) return [...start, ...appendText(message, part, whole.slice(part.text.length))];
      part.text = whole;
      const content: DraftPart = type === "text" ? { type, text: whole } : { type, text: whole, visibility: "public" };
      return [...start, ...refresh(session, message, part, [content])];
    }
    default:
      return null;
  }
}

function toolOf(message: Message, callId: string): { part: ToolPart; fresh: boolean } {
  const known = message.parts.get(callId);
  if (known?.kind === "tool") return { part: known, fresh: false };
  const part: ToolPart = {
    kind: "tool",
    id: callId,
    call_id: callId,
    name: "unknown",
    callKey: `call:${message.id}:${callId}`,
    resultKey: `result:${message.id}:${callId}`,
    last: "",
    input: {},
    output: "",
    resultStarted: false,
    open: true,
    failed: false,
    hidden: false,
    call: [],
    result: null,
    child: null,
  };
  message.parts.set(callId, part);
  return { part, fresh: true };
}

function tool(session: Session, what: string, data: JsonRecord): Draft[] | null {
  const message = messageOf(session, data);
  const { part, fresh } = toolOf(message, str(data.callID) ?? "");
  const start = startMessage(session, message, true);
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
  const title = toolTitle(part.name, part.input, undefined);
  const paths = toolPaths(part.name, part.input, {});
  part.call = [
    {
      type: "tool_call",
      name: part.name,
      arguments: args,
      call_id: part.call_id,
      tool_kind: toolKind(part.name),
      ...(title ? { title } : {}),
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
  const exit = "exit" in structured ? (num(structured.exit) ?? null) : undefined;
  const output = failed ? (str(rec(data.error).message) ?? "") : contentText(data.content);
  part.failed = failed || (typeof exit === "number" && exit !== 0);
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
function shell(session: Session, what: string, data: JsonRecord): Draft[] | null {
  const callId = str(data.callID) ?? "";
  const message = session.messages.get(`shell:${callId}`) ?? newMessage(session, `shell:${callId}`, "assistant");
  const { part, fresh } = toolOf(message, callId);
  if (!part.open) return [];
  part.name = "bash";
  if (what === "started") {
    part.input = { command: str(data.command) ?? "" };
    return [...startMessage(session, message, false), ...callItem(message, part, fresh, toJson(part.input))];
  }
  if (what !== "ended") return null;
  message.done = true;
  return [
    ...startMessage(session, message, true),
    ...(fresh ? callItem(message, part, true, "{}") : []),
    ...outcome(message, part, { content: [{ type: "text", text: str(data.output) ?? "" }] }, false),
    completed(message),
  ];
}

function compaction(session: Session, what: string, data: JsonRecord): Draft[] | null {
  const trigger = data.reason === "auto" ? "auto" : "manual";
  switch (what) {
    case "started":
      return [{ do: "status", status: { status: "compacting" } }];
    case "delta":
      session.summary = (session.summary ?? "") + (str(data.text) ?? "");
      return [];
    case "ended": {
      const summary = str(data.text) ?? session.summary;
      session.summary = null;
      return [
        { do: "event", type: "session.compacted", data: { trigger, ...(summary ? { summary } : {}) } },
        { do: "status", status: { status: "running" } },
      ];
    }
    default:
      return null;
  }
}
