// Messages a session has accepted and not yet given to its agent. Durable: an accepted message outlives the daemon. Its documents commit in the same
// transaction as the events of their tick, so a message is either still queued or its turn has started, never both, never neither.
import type { Documents } from "../log/contract.ts";

export type StoredAttachment = { name: string; mime: string; artifact_id: string; path: string | null };

export type QueuedMessage = { turn_id: string; message_id: string; text: string; attachments: StoredAttachment[] };

const KIND = "queued_message";

export class MessageQueue {
  readonly #documents: Documents;
  readonly #sessionId: string;
  #messages: { id: string; message: QueuedMessage }[];

  constructor(documents: Documents, sessionId: string) {
    this.#documents = documents;
    this.#sessionId = sessionId;
    this.#messages = documents
      .list(KIND, { prefix: `${sessionId}/` })
      .map(({ id, body }) => ({ id, message: JSON.parse(body) as QueuedMessage }));
  }

  get size(): number {
    return this.#messages.length;
  }

  peek(): QueuedMessage | undefined {
    return this.#messages[0]?.message;
  }

  push(message: QueuedMessage): void {
    // Turn ids are time-ordered, so the order of ids is the order of arrival.
    const id = `${this.#sessionId}/${message.turn_id}`;
    this.#messages.push({ id, message });
    this.#documents.put(KIND, id, JSON.stringify(message), { sync: true });
  }

  remove(turnId: string): boolean {
    const entry = this.#messages.find(({ message }) => message.turn_id === turnId);
    if (!entry) return false;
    this.#messages = this.#messages.filter((other) => other !== entry);
    this.#documents.delete(KIND, entry.id);
    return true;
  }

  clear(): void {
    for (const { message } of [...this.#messages]) this.remove(message.turn_id);
  }
}
