/**
 * The queue of the version before: one document a message. Taken over into events when a session is first loaded; documents that are no messages are kept
 * aside. Not here: the queue itself, which is part of the session's story.
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { StreamDocuments } from "../log/contract.ts";
import { Actor } from "../schema/actor.ts";
import { type MessageQueued, StoredAttachment } from "../schema/event-data.ts";

export const QUEUED = "queued_message";
/** Documents of the queue that are no messages. Kept, never tried. */
export const UNREADABLE = "unreadable_message";

const StoredMessage = Type.Object({
  turn_id: Type.String({ minLength: 1 }),
  message_id: Type.String({ minLength: 1 }),
  text: Type.String(),
  command: Type.Optional(Type.Boolean()),
  attachments: Type.Array(StoredAttachment),
  actor: Type.Optional(Actor),
  tries: Type.Optional(Type.Integer({ minimum: 0 })),
});

const validator = Compile(StoredMessage);

/** Hands over each message in order and deletes its document, in the same tick. Returns how many documents were no messages. */
export function takeOverQueue(documents: StreamDocuments, take: (message: MessageQueued) => void): number {
  let unreadable = 0;
  for (const { id, body } of documents.list(QUEUED)) {
    const message = readMessage(body);
    if (message && id === message.turn_id) take(message);
    else {
      documents.put(UNREADABLE, id, body, { sync: true });
      unreadable++;
    }
    documents.delete(QUEUED, id);
  }
  return unreadable;
}

function readMessage(body: string): MessageQueued | null {
  try {
    const value: unknown = JSON.parse(body);
    if (!validator.Check(value)) return null;
    const { attachments, tries, command, ...message } = value;
    return {
      ...message,
      ...(command ? { command } : {}),
      ...(attachments.length > 0 ? { attachments } : {}),
      ...(tries ? { attempts: tries } : {}),
    };
  } catch {
    return null;
  }
}
