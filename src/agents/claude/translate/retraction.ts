// What the CLI takes back: answers that were refused, or cut and asked for again. Their calls go with them, with all that came of these.
import type { Draft } from "../../../schema/draft.ts";
import { arr, asText } from "../../json.ts";
import { closeMessage } from "./messages.ts";
import { settleCall } from "./permissions.ts";
import { type ClaudeState, type MessageState, resultKey, type ToldMessage, toolKey } from "./state.ts";

const REASON = "retracted by the agent";

/** `uuids`: of `assistant` frames. A frame is a block of a message; the other blocks stay. */
export function retract(state: ClaudeState, uuids: unknown, drafts: Draft[]): void {
  const gone = new Set(arr(uuids).map(asText));
  if (gone.size === 0) return;
  for (const message of [...state.messages.values()]) retractOpen(state, message, gone, drafts);
  for (const message of new Set(state.recent.values())) retractTold(state, message, gone, drafts);
}

function retractOpen(state: ClaudeState, message: MessageState, gone: ReadonlySet<string>, drafts: Draft[]): void {
  const made = takeFrames(message, gone);
  if (made === null) return;
  if (message.frames.size === 0) message.retracted = true;
  else message.parts = message.parts.filter((_, index) => !made.includes(index));
  for (const call of callsOf(message, made)) retractCall(state, call, drafts);
  closeMessage(state, message, drafts);
}

/** What is completed cannot lose a part: it goes as a whole. */
function retractTold(state: ClaudeState, message: ToldMessage, gone: ReadonlySet<string>, drafts: Draft[]): void {
  const made = takeFrames(message, gone);
  if (made === null) return;
  for (const uuid of gone) state.recent.delete(uuid);
  for (const call of callsOf(message, made)) retractCall(state, call, drafts);
  if (message.frames.size === 0 || made.some((one) => typeof one === "number"))
    drafts.push({ do: "item.remove", key: message.key, reason: REASON });
}

/** What the frames that are gone made of the message. Null: none was of this message. */
function takeFrames({ frames }: ToldMessage, gone: ReadonlySet<string>): (number | string)[] | null {
  const lost = [...frames].filter(([uuid]) => gone.has(uuid));
  for (const [uuid] of lost) frames.delete(uuid);
  return lost.length === 0 ? null : lost.flatMap(([, made]) => made);
}

/** Without a frame left, also those whose own frame never came. */
const callsOf = ({ frames, tools }: ToldMessage, made: readonly (number | string)[]): string[] =>
  frames.size === 0 ? [...tools] : made.filter((one) => typeof one === "string");

/** With its result, and with what its sub-agent said, did and asked. */
function retractCall(state: ClaudeState, id: string, drafts: Draft[]): void {
  forget(state, id, drafts);
  drafts.push({ do: "item.remove", key: resultKey(state, id), reason: REASON, below: true });
  drafts.push({ do: "item.remove", key: toolKey(state, id), reason: REASON, below: true });
}

function forget(state: ClaudeState, id: string, drafts: Draft[]): void {
  settleCall(state, id, true, drafts);
  state.retractedCalls.add(id);
  state.tools.delete(id);
  state.messages.delete(id);
  for (const [task, { tool, command }] of state.tasks) if (tool === id && command === null) state.tasks.delete(task);
  for (const { id: inner, scope } of [...state.tools.values()]) if (scope === id) forget(state, inner, drafts);
}
