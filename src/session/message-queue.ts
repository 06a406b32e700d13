/**
 * Messages a session has accepted and not yet given to its agent. Durable: an accepted message outlives the daemon. Its documents commit in the same
 * transaction as the events of their tick, so a message is either still queued or its turn has started, never both, never neither. It counts how often a
 * delivery was begun and never came to an end; what to do about that is decided in session.ts.
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { ChosenCommand, Prompt } from "../agents/contract.ts";
import type { Artifacts, StreamDocuments } from "../log/contract.ts";
import { Actor } from "../schema/actor.ts";

const StoredAttachment = Type.Object({
  name: Type.String(),
  mime: Type.String(),
  artifact_id: Type.String({ pattern: "^art_[0-9a-f]{64}$" }),
  path: Type.Union([Type.String(), Type.Null()]),
});
export type StoredAttachment = Type.Static<typeof StoredAttachment>;

const QueuedMessage = Type.Object({
  turn_id: Type.String({ minLength: 1 }),
  message_id: Type.String({ minLength: 1 }),
  text: Type.String(),
  /** The text is a command of the agent that the person chose. */
  command: Type.Optional(Type.Boolean()),
  attachments: Type.Array(StoredAttachment),
  /** Who sent it. Absent in messages that an older daemon queued. */
  actor: Type.Optional(Actor),
  /** How many deliveries were begun. Absent: none. */
  tries: Type.Optional(Type.Integer({ minimum: 0 })),
});
export type QueuedMessage = Type.Static<typeof QueuedMessage>;

export const QUEUED = "queued_message";
/** Documents of the queue that are no messages. Kept, never tried. */
export const UNREADABLE = "unreadable_message";

const validator = Compile(QueuedMessage);

/** `trying`: its last try was begun by this daemon and is counted already. */
type Entry = { id: string; message: QueuedMessage; trying: boolean };

export class MessageQueue {
  readonly #documents: StreamDocuments;
  #entries: Entry[] = [];
  #unreadable: string[] = [];
  #version = 0;

  constructor(documents: StreamDocuments) {
    this.#documents = documents;
    for (const { id, body } of documents.list(QUEUED)) {
      const message = readMessage(body);
      if (message && id === message.turn_id) this.#entries.push({ id, message, trying: false });
      else this.#setAside(id, body);
    }
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Grows with every change of the queue. */
  get version(): number {
    return this.#version;
  }

  peek(): QueuedMessage | undefined {
    return this.#entries[0]?.message;
  }

  /** `atOnce`: it will be delivered right away, so its first try is counted with it. */
  push(message: QueuedMessage, { atOnce }: { atOnce: boolean }): void {
    // Turn ids are time-ordered, so the order of ids is the order of arrival.
    const entry: Entry = { id: message.turn_id, message: { ...message, tries: 0 }, trying: atOnce };
    this.#put(entry, atOnce ? 1 : 0, true);
    this.#entries.push(entry);
  }

  /** Counts a try before it begins. Returns how many were begun before it and came to no end. */
  beginTry(turnId: string): number {
    const entry = this.#find(turnId);
    if (!entry) return 0;
    const begun = entry.message.tries ?? 0;
    if (entry.trying) return begun - 1;
    this.#put(entry, begun + 1, false);
    entry.trying = true;
    return begun;
  }

  /** The try ended without fault and without delivery: it does not count. */
  undoTry(turnId: string): void {
    const entry = this.#find(turnId);
    if (!entry?.trying) return;
    this.#put(entry, (entry.message.tries ?? 1) - 1, false);
    entry.trying = false;
  }

  remove(turnId: string): boolean {
    const entry = this.#find(turnId);
    if (!entry) return false;
    this.#documents.delete(QUEUED, entry.id);
    this.#entries = this.#entries.filter((other) => other !== entry);
    this.#version++;
    return true;
  }

  clear(): void {
    for (const { message } of [...this.#entries]) this.remove(message.turn_id);
  }

  /** How many documents were set aside since this was last asked. */
  takeUnreadable(): number {
    return this.#unreadable.splice(0).length;
  }

  #find(turnId: string): Entry | undefined {
    return this.#entries.find(({ message }) => message.turn_id === turnId);
  }

  /** Written first: a log that takes nothing leaves the queue as it was. */
  #put(entry: Entry, tries: number, sync: boolean): void {
    this.#documents.put(QUEUED, entry.id, JSON.stringify({ ...entry.message, tries }), { sync });
    entry.message.tries = tries;
    this.#version++;
  }

  #setAside(id: string, body: string): void {
    this.#documents.put(UNREADABLE, id, body, { sync: true });
    this.#documents.delete(QUEUED, id);
    this.#unreadable.push(id);
  }
}

function readMessage(body: string): QueuedMessage | null {
  try {
    const value: unknown = JSON.parse(body);
    return validator.Check(value) ? value : null;
  } catch {
    return null;
  }
}

/** The message as an agent takes it, with the bytes of what is attached. */
export async function promptOf(message: QueuedMessage, artifacts: Artifacts): Promise<Prompt> {
  const { message_id, text, command, attachments } = message;
  const read = attachments.map(async ({ name, mime, artifact_id, path }) => {
    const chunks: Buffer[] = [];
    for await (const chunk of (await artifacts.openRead(artifact_id)) ?? []) chunks.push(chunk as Buffer);
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
