// The events of sessions driven by the newer routes (`/api`): `session.next.*`. The classic routes never send them, and these sessions never send
// `message.*` or a status: a turn ends with the last step.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { int, type JsonRecord, rec, records, str } from "../../json.ts";
import { errorData, faultOf, ofProvider, providerBody } from "../../kit/error-table.ts";
import { retrying } from "../../translation.ts";
import { type NamedError, readError } from "./errors.ts";
import { filePart } from "./file-changes.ts";
import { appendText, contentPart, refresh, startMessage } from "./messages.ts";
import { nextShell, nextTool } from "./next-tools.ts";
import { revertMark } from "./removal.ts";
import { modelName } from "./session-info.ts";
import { contentOf, type Message, newMessage, type Session } from "./state.ts";
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
      return nextStep(session, what, data);
    case "text":
    case "reasoning":
      return text(session, subject, what, data);
    case "tool":
      return nextTool(messageOf(session, data), session, what, data);
    case "shell":
      return nextShell(session, what, data);
    case "compaction":
      return compaction(session, what, data);
    case "revert":
      if (what === "committed") return [];
      return what === "staged" || what === "cleared" ? revertMark(session, what === "staged" ? data.revert : undefined) : null;
    default:
      return null;
  }
}

function nextStep(session: Session, what: string, data: JsonRecord): Draft[] | null {
  switch (what) {
    case "started":
      return stepStarted(session, data);
    case "ended":
      return stepEnded(session, data);
    case "failed":
      return stepFailed(session, data);
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
  if (session.turn) session.turn.retrying = true;
  return [retrying(str(rec(data.error).message), int(data.attempt))];
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
  message.announced = true;
  drafts.push(...startMessage(session, message));
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
  message.failed = true;
  // One that failed before it said anything is its error and nothing else.
  const drafts: Draft[] = message.done
    ? []
    : [...endStep(message, interrupted ? "interrupted" : "error", null), isEmpty(message) ? unsaid(message) : completed(message)];
  message.done = true;
  const named = interrupted ? ABORTED : stepError(text);
  return [...drafts, ...endTurn(session, { stop: interrupted ? "interrupted" : "error", error: named })];
}

const ABORTED: NamedError = readError({ name: "MessageAbortedError" });

const isEmpty = ({ slots, parts }: Message): boolean =>
  slots.length === 0 && ![...parts.values()].some(({ kind }) => kind === "tool");

const unsaid = ({ key }: Message): Draft => ({ do: "item.remove", key, reason: "nothing was written" });

/** 1.18: `Provider request failed with HTTP 400: {…}`, the provider's answer behind the number. */
function stepError(text: string): NamedError {
  const [, number, rest = ""] = /HTTP (\d{3})(?::\s*([\s\S]*))?/.exec(text) ?? [];
  const status = number === undefined ? undefined : Number(number);
  const body = providerBody(rest);
  const fault = faultOf({ names: body?.names ?? [], status, text }) ?? ofProvider("unknown");
  return { name: "SessionErrorUnknown", error: errorData(body?.message ?? text, fault, status ?? "SessionErrorUnknown") };
}

function text(session: Session, type: "text" | "reasoning", what: string, data: JsonRecord): Draft[] | null {
  const message = messageOf(session, data);
  const id = `${type}:${str(data.textID) ?? str(data.reasoningID) ?? ""}`;
  if (message.done) return [];
  const part = contentPart(message, id, type);
  switch (what) {
    case "started":
      return startMessage(session, message);
    case "delta": {
      const delta = str(data.delta) ?? "";
      return part.closed || delta === "" ? [] : [...startMessage(session, message), ...appendText(message, part, delta)];
    }
    case "ended": {
      const whole = str(data.text) ?? "";
      const start = startMessage(session, message);
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
