// Messages a session has accepted and not yet given to its agent. Durable: an accepted message outlives the daemon. Its documents commit in the same
// transaction as the events of their tick, so a message is either still queued or its turn has started, never both, never neither.
import type { ChosenCommand, Prompt } from "../agents/contract.ts";
import type { Artifacts, Documents } from "../log/contract.ts";

export type StoredAttachment = { name: string; mime: string; artifact_id: string; path: string | null };

export type QueuedMessage = {
  turn_id: string;
  message_id: string;
  text: string;
  /** The text is a command of the agent that the person chose. */
  command?: boolean;
  attachments: StoredAttachment[];
};

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

/** The message as an agent takes it, with the bytes of what is attached. */
export async function promptOf(message: QueuedMessage, artifacts: Artifacts): Promise<Prompt> {
  const { message_id, text, command, attachments } = message;
  const read = attachments.map(async ({ name, mime, artifact_id, path }) => {
    const chunks: Buffer[] = [];
    for await (const chunk of artifacts.openRead(artifact_id) ?? []) chunks.push(chunk as Buffer);
    return { name, mime, path, bytes: Buffer.concat(chunks) };
  });
  const chosen = command ? readCommand(text) : null;
  return { message_id, text, ...(chosen ? { command: chosen } : {}), attachments: await Promise.all(read) };
}

/** `/name arguments`; null when the text is no command. Skills are chosen as `$name`. */
export function readCommand(text: string): ChosenCommand | null {
  const found = /^(?:\/|(?=\$))([^\s/]\S*)(?:\s+([\s\S]*))?$/.exec(text.trim());
  return found?.[1] === undefined ? null : { name: found[1], arguments: found[2] ?? "" };
}
