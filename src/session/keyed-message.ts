/**
 * Messages that a client may send again under one key: the key decides the id of the message, so the session's own story says whether an earlier attempt was accepted, also when the
 * daemon that accepted it died before it answered, or was another node. An attempt that the log refused does not count: the next one has the next id.
 */
import { createHash } from "node:crypto";
import type { Stream } from "../log/contract.ts";
import type { EventDataOf } from "../schema/event-data.ts";
import type { MessageAccepted } from "../schema/session.ts";

/** `again`: an attempt was begun before, and what became of it is not known. */
export type MessageKey = { id: string; again: boolean };

type Queued = { type: "message.queued"; data: EventDataOf["message.queued"] };
type Removed = { type: "message.removed"; data: EventDataOf["message.removed"] };
type Told = Queued | Removed;

const isQueued = (told: Told): told is Queued => told.type === "message.queued";
const isRemoval = (told: Told): told is Removed => told.type === "message.removed";

/** In the shape of a UUID. */
function idOf(key: string, attempt: number): string {
  const hex = createHash("sha256").update(`${key}\0${attempt}`).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join("-");
}

/** The id for this attempt, or what an earlier one was answered with. */
export async function keyedMessage(
  stream: Pick<Stream, "read">,
  { id, again }: MessageKey,
): Promise<{ messageId: string } | { accepted: MessageAccepted }> {
  if (!again) return { messageId: idOf(id, 0) };
  const told = await messagesOf(stream);
  for (let attempt = 0; ; attempt++) {
    const messageId = idOf(id, attempt);
    const mine = told.filter(({ data }) => data.message_id === messageId);
    const queued = mine.find(isQueued);
    if (queued === undefined) return { messageId };
    const removed = mine.find(isRemoval)?.data;
    if (removed?.reason === "refused") continue;
    if (removed?.reason === "steered" && removed.turn_id !== undefined)
      return { accepted: { turn_id: removed.turn_id, message_id: messageId, queued: false } };
    const { turn_id, attempts = 0 } = queued.data;
    return { accepted: { turn_id, message_id: messageId, queued: attempts === 0 } };
  }
}

async function messagesOf(stream: Pick<Stream, "read">): Promise<Told[]> {
  const told: Told[] = [];
  for (let after = 0; ; ) {
    const page = await stream.read({ after, types: ["message.queued", "message.removed"] });
    told.push(...page.events.map((text) => JSON.parse(text) as Told));
    if (!page.has_more) return told;
    after = page.next;
  }
}
