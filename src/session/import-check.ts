/**
 * Checks the lines of an import one by one, as they come, and remembers no more than the grammar needs. The first line decides the row; the others must be
 * events that obey the grammar, the native messages they name, and artifacts with the bytes they are named after.
 */
import { createHash } from "node:crypto";
import type { UniversalEvent } from "../schema/event.ts";
import { Grammar } from "../schema/grammar.ts";
import { eventFault } from "../schema/validate.ts";
import type { SessionRow } from "./session-row.ts";
import { type ArtifactLine, bytesOf, type EventLine, LineError, readBodyLine } from "./transfer-lines.ts";

const EVENT_ID = /^evt_[\w-]{1,100}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

export class ImportCheck {
  readonly #sessionId: string;
  readonly #grammar = new Grammar();
  #natives = 0;
  #events = 0;
  #ended: SessionRow["ended"] = null;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** How the events say that the session ended. */
  get ended(): SessionRow["ended"] {
    return this.#ended;
  }

  /** True: it was exported in the middle of something. */
  get open(): boolean {
    return this.#ended === null && this.#grammar.open().length > 0;
  }

  /** Whether messages wait in the file: see `SessionRow.imported_queue`. */
  get queued(): boolean {
    return this.#grammar.session.queue.length > 0;
  }

  /** A line after the first. Throws LineError. */
  take(text: string): void {
    const line = readBodyLine(text);
    switch (line.kind) {
      case "native":
        bytesOf(line.base64);
        this.#natives++;
        return;
      case "artifact":
        return this.#artifact(line);
      case "event":
        return this.#event(line);
      default:
        line satisfies never;
    }
  }

  /** After the last line. Throws LineError. */
  finish(): void {
    if (this.#events === 0) throw new LineError("is the last one, and no line was an event");
  }

  #artifact({ artifact_id, base64 }: ArtifactLine): void {
    const id = `art_${createHash("sha256").update(bytesOf(base64)).digest("hex")}`;
    if (id !== artifact_id) throw new LineError(`names the artifact ${artifact_id}, but its bytes are those of ${id}`);
  }

  #event(line: EventLine): void {
    const candidate = eventIn(line, this.#sessionId);
    const fault = eventFault(candidate);
    if (fault) throw new LineError(`has an event that does not fit the schema: ${fault}`);
    const event = candidate as unknown as UniversalEvent;
    if (!EVENT_ID.test(event.event_id)) throw new LineError("has a wrong event_id");
    if (!TIME.test(event.time)) throw new LineError("has a wrong time: it must be RFC 3339 in UTC with milliseconds");
    const { native } = line;
    if (native !== null && native > this.#natives)
      throw new LineError(`names the native message ${native}, but there are only ${this.#natives} before it`);
    const [broken] = this.#grammar.check(event);
    if (broken) throw new LineError(`has event ${event.sequence}, which breaks rule ${broken.rule}: ${broken.message}`);
    if (event.type === "session.ended") this.#ended = event.data;
    this.#events++;
  }
}

/** The event as it is stored: of the session it is imported as, without its native message, which is stored beside it. */
export const eventIn = ({ event }: EventLine, session_id: string): Record<string, unknown> => ({
  ...event,
  session_id,
  raw: null,
});
