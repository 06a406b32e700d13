// Messages and their parts: `message.updated`, `message.part.updated`, `message.part.delta`, and the same facts read again over HTTP.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { isRecord, type JsonRecord, num, rec, records, str, toJson } from "../../json.ts";
import { partContent } from "./parts.ts";
import { replaceMessage } from "./removal.ts";
import { type ContentPart, contentOf, itemOf, type Message, newMessage, placeOf, type Session, type World } from "./state.ts";
import { compactionPart, retryPart, stepStart } from "./steps.ts";
import { isToolStatus, toolPart, waitingTask } from "./tools.ts";
import { completeUserMessages, endStep, messageError, readUsage } from "./turns.ts";

/** null: a message this version did not know. */
export function messageUpdated(world: World, session: Session, info: JsonRecord): Draft[] | null {
  const id = str(info.id);
  if (id === undefined || (info.role !== "user" && info.role !== "assistant")) return null;
  if (toldBefore(session, id, info)) return [];
  const copied = session.messages.has(id) ? [] : finishCopies(session, id);
  return [...copied, ...(info.role === "user" ? userMessage(session, id, info) : assistantMessage(world, session, id, info))];
}

/** A fork's copies of the messages of its origin: they are in the transcript of that session. */
function toldBefore(session: Session, id: string, info: JsonRecord): boolean {
  const created = num(rec(info.time).created) ?? Number.POSITIVE_INFINITY;
  if (!session.fork || session.messages.has(id) || created > session.knownUntil) return false;
  const message = newMessage(session, id, info.role === "user" ? "user" : "assistant");
  Object.assign(message, { started: true, done: true, forgotten: true });
  return true;
}

/**
 * Messages that came finished have all their parts when the next message comes. Not before: a busy server writes the first word of a message only when the
 * message has ended, so that one of a running turn looks like a copy too, until its own end comes.
 */
export function finishCopies(session: Session, but: string | null): Draft[] {
  const drafts: Draft[] = [];
  for (const message of session.messages.values()) {
    if (!message.ending || message.id === but || message.done) continue;
    drafts.push(...finishAssistant(session, message, message.ending));
    message.ending = null;
  }
  return drafts;
}

/** A user's message is reported with its first part: one that only marks a compaction never becomes an item. */
function userMessage(session: Session, id: string, info: JsonRecord): Draft[] {
  const message = session.messages.get(id) ?? newMessage(session, id, "user");
  const files = records(rec(info.summary).diffs);
  const diffs = files.length === 0 ? "" : toJson(files);
  if (diffs === "" || diffs === message.diffs) return [];
  message.diffs = diffs;
  // Comes after idle: the files this message has changed so far.
  return session.parent ? [] : [{ do: "event", type: "session.updated", data: { metadata: { message_id: id, diffs: files } } }];
}

function assistantMessage(world: World, session: Session, id: string, info: JsonRecord): Draft[] {
  const known = session.messages.get(id);
  const message = known ?? newMessage(session, id, "assistant");
  message.announced = true;
  const parentId = str(info.parentID) ?? null;
  message.parentId = parentId;
  const drafts = message.started ? [] : completeUserMessages(session, parentId);
  if (!known) message.system = info.summary === true;
  if (message.done || message.hidden || message.removed) return drafts;
  const turn = world.root(session) === session ? session.turn : null;
  if (turn) turn.last = message;
  message.finish = str(info.finish) ?? null;
  if (num(rec(info.time).completed) === undefined) return drafts;
  if (!known) {
    message.ending = info;
    return drafts;
  }
  message.ending = null;
  return [...drafts, ...finishAssistant(session, message, info)];
}

/** Final only with `time.completed`: it is updated once before with finish and tokens. */
function finishAssistant(session: Session, message: Message, info: JsonRecord): Draft[] {
  const drafts: Draft[] = [];
  const { error } = info;
  if (isRecord(error)) message.failed = true;
  const usage = readUsage(info.tokens, info.cost);
  // A copy was paid for in the session it was copied from.
  const copy = message.ending !== null && session.turn === null;
  if (usage && !copy && usage.input_tokens + usage.output_tokens > 0) message.usage = usage;
  if (info.structured !== undefined && info.structured !== null)
    place(message, "structured", [{ type: "json", json: info.structured }]);
  if (message.system && message.slots.length > 0) session.summary = message.slots.map((part) => part.text).join("\n");
  drafts.push(...endStep(message, message.finish ?? undefined, null));
  // One that failed before it said anything is its error and nothing else; one without a finish was never written (an overflow, an abort between two tries).
  const written = message.slots.length > 0 || (!message.failed && message.finish !== null);
  if (written) drafts.push(...startMessage(session, message));
  message.done = true;
  if (message.started)
    drafts.push({
      do: "item.complete",
      key: message.key,
      content: contentOf(message),
      status: message.failed ? "failed" : "completed",
    });
  if (isRecord(error)) {
    // A sub-agent's failure is the failure of its tool call; reported as an error it would be reported twice.
    if (!session.parent && !copy) drafts.push(...messageError(session, error));
  } else if (message.finish !== null && session.turn) {
    // It went on after an error that was not the end (a missing attachment).
    session.turn.error = null;
    session.turn.errorName = null;
  }
  return drafts;
}

/** Reports the message with its first content. Of one that only a part of was seen, as after a reconnect in mid-stream, the start is made up. */
export function startMessage(session: Session, message: Message): Draft[] {
  if (message.started) return [];
  message.started = true;
  const stub = message.role === "assistant" && !message.announced;
  if (session.parent && session.parentCall === null) linkByGuess(session);
  const content = message.role === "user" ? contentOf(message) : [];
  return [
    {
      do: "item.start",
      item: {
        ...itemOf(session, message),
        ...(content.length > 0 ? { content } : {}),
      },
      ...(stub ? { synthetic: true } : {}),
    },
  ];
}

function linkByGuess(session: Session): void {
  const task = session.parent ? waitingTask(session.parent) : null;
  if (!task) return;
  task.child = session.id;
  session.parentCall = task.callKey;
}

/** null: a part in a state this version did not know, or without what every part has. */
export function partUpdated(world: World, session: Session, native: JsonRecord): Draft[] | null {
  const messageId = str(native.messageID);
  const id = str(native.id);
  if (messageId === undefined || id === undefined || (!isKnownPart(native) && !isStrangePart(native))) return null;
  const message = session.messages.get(messageId) ?? newMessage(session, messageId, "assistant");
  if (message.hidden || message.removed || message.forgotten) return [];
  const start =
    message.role === "assistant" && !WITHOUT_CONTENT.has(str(native.type) ?? "") ? startMessage(session, message) : [];
  return [...start, ...knownPart(world, session, message, id, native)];
}

const PARTS: ReadonlySet<unknown> = new Set([
  "agent",
  "compaction",
  "file",
  "patch",
  "reasoning",
  "retry",
  "snapshot",
  "step-finish",
  "step-start",
  "subtask",
  "text",
]);

const isKnownPart = (native: JsonRecord): boolean =>
  native.type === "tool" ? isToolStatus(rec(native.state).status) : PARTS.has(native.type);

/** Of a type this version did not know: it stands in its message as it came. */
export const isStrangePart = (native: JsonRecord): boolean =>
  typeof native.type === "string" && native.type !== "tool" && !PARTS.has(native.type);

/** Parts that say something about a message and are none of its content. */
const WITHOUT_CONTENT = new Set(["step-start", "step-finish", "retry", "compaction", "snapshot"]);

function knownPart(world: World, session: Session, message: Message, id: string, native: JsonRecord): Draft[] {
  switch (native.type) {
    case "tool":
      return toolPart(world, session, message, native);
    case "text":
    case "reasoning":
      return message.role === "user" && native.synthetic === true
        ? syntheticText(session, message, id, native)
        : textPart(session, message, id, native);
    case "step-start":
      return once(message, id, "step-start") ? stepStart(session, message) : [];
    case "step-finish":
      return once(message, id, "step-finish") ? endStep(message, str(native.reason), readUsage(native.tokens, native.cost)) : [];
    case "retry":
      return once(message, id, "retry") ? retryPart(session, native) : [];
    case "compaction":
      return once(message, id, "compaction") ? compactionPart(world.root(session), message, native) : [];
    default:
      return wholePart(session, message, id, native);
  }
}

export function contentPart(message: Message, id: string, type: string): ContentPart {
  const known = message.parts.get(id);
  if (known?.kind === "content") return known;
  const part: ContentPart = { kind: "content", id, type, text: "", closed: false, content: [] };
  message.parts.set(id, part);
  return part;
}

function once(message: Message, id: string, type: string): boolean {
  const fresh = !message.parts.has(id);
  contentPart(message, id, type);
  return fresh;
}

function textPart(session: Session, message: Message, id: string, native: JsonRecord): Draft[] {
  const part = contentPart(message, id, str(native.type) ?? "text");
  const renamed = part.type !== native.type;
  part.type = str(native.type) ?? "text";
  const text = str(native.text) ?? "";
  const ended = num(rec(native.time).end) !== undefined;
  // A part that still streams is stored empty: what was streamed is more than that.
  if (text === "" && !ended) return [];
  if (text === part.text && !renamed) {
    part.closed ||= ended;
    return [];
  }
  if (message.done) return patched(session, message, part, text);
  const grown = !renamed && text.startsWith(part.text) && message.role === "assistant";
  const tail = text.slice(part.text.length);
  part.closed ||= ended;
  if (grown) return appendText(message, part, tail);
  part.text = text;
  return refresh(session, message, part, [textContent(part)]);
}

export function appendText(message: Message, part: ContentPart, delta: string): Draft[] {
  part.text += delta;
  part.content = [textContent(part)];
  const part_type = part.type === "reasoning" ? "reasoning" : "text";
  return [{ do: "item.delta", key: message.key, part_type, part_index: placeOf(message, part), delta }];
}

const textContent = (part: ContentPart): DraftPart =>
  part.type === "reasoning" ? { type: "reasoning", text: part.text, visibility: "public" } : { type: "text", text: part.text };

/** A finished message whose text was changed (`PATCH …/part`) cannot be updated: it is replaced. */
function patched(session: Session, message: Message, part: ContentPart, text: string): Draft[] {
  // Late repetitions of a turn that was cut must not bring a message back.
  if (message.role === "assistant" && message.failed) return [];
  if (part.text === "" || text === "") return [];
  part.text = text;
  part.content = [textContent(part)];
  placeOf(message, part);
  return replaceMessage(session, message, "edited");
}

/** Text the agent put into the user's message (the content of an attached file, the wrapper of a shell command) is an item of its own. */
function syntheticText(session: Session, message: Message, id: string, native: JsonRecord): Draft[] {
  if (!once(message, id, "synthetic")) return [];
  const text = str(native.text) ?? "";
  const parent = message.started ? message.key : session.parentCall;
  return [
    {
      do: "item.add",
      item: { key: `sys:${id}`, native_item_id: id, parent, kind: "system", role: "system", content: [{ type: "text", text }] },
    },
  ];
}

function wholePart(session: Session, message: Message, id: string, native: JsonRecord): Draft[] {
  const part = contentPart(message, id, str(native.type) ?? "");
  const content = partContent(native, session.directory);
  if (toJson(content) === toJson(part.content)) return [];
  if (message.done) return [];
  return refresh(session, message, part, content);
}

export function refresh(session: Session, message: Message, part: ContentPart, content: DraftPart[]): Draft[] {
  part.content = content;
  placeOf(message, part);
  if (!message.started) return startMessage(session, message);
  return [{ do: "item.update", key: message.key, content: contentOf(message) }];
}

function place(message: Message, id: string, content: DraftPart[]): void {
  const part = contentPart(message, id, id);
  part.content = content;
  placeOf(message, part);
}

/** null: a piece of something else than text. */
export function partDelta(session: Session, native: JsonRecord): Draft[] | null {
  const messageId = str(native.messageID);
  const id = str(native.partID);
  const delta = str(native.delta);
  if (messageId === undefined || id === undefined || delta === undefined || (native.field ?? "text") !== "text") return null;
  const message = session.messages.get(messageId) ?? newMessage(session, messageId, "assistant");
  const known = message.parts.get(id);
  if (known && (known.kind === "tool" || (known.type !== "text" && known.type !== "reasoning"))) return null;
  if (delta === "" || message.done || message.hidden || message.removed) return [];
  const part = contentPart(message, id, "text");
  if (part.closed) return [];
  return [...startMessage(session, message), ...appendText(message, part, delta)];
}
