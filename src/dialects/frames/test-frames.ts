// Streams of events as frames, for tests.
import type { LedgerRow, NativeMessage } from "../../schema/dialect.ts";
import type { EventOf, UniversalEvent } from "../../schema/event.ts";
import type { EventDataOf, EventType } from "../../schema/event-data.ts";
import { eventOf } from "../test-events.ts";
import { framesDialect } from "./index.ts";

export type AnyFrame = { id: string; seq: number; type: string; [field: string]: unknown };

export type Told = { event: UniversalEvent; native?: NativeMessage; rows?: LedgerRow[]; told?: boolean };

/** Numbers events as a log does, 100 ms apart. */
export class Story {
  readonly told: Told[] = [];

  add<T extends EventType>(type: T, data: EventDataOf[T], more: Partial<EventOf<T>> & Omit<Told, "event"> = {}): this {
    const { native, rows, told, ...fields } = more;
    const sequence = this.told.length + 1;
    const time = new Date(Date.parse("2030-01-01T00:00:00.000Z") + sequence * 100).toISOString();
    const event = { ...eventOf(type, data, sequence), time, ...fields } as UniversalEvent;
    this.told.push({ event, ...(native ? { native } : {}), ...(rows ? { rows } : {}), ...(told ? { told } : {}) });
    return this;
  }

  /** The frames a reader gets that begins after `after` and was shown what is before. */
  frames({ kind = "session", id = "s1", version = 2, after = 0, ledger = false } = {}): AnyFrame[] {
    const reader = framesDialect.open({ kind, id, version, ...(ledger ? { from: 0 } : {}) });
    return this.told.flatMap(({ event, ...more }) => {
      const taken = { json: JSON.stringify(event), ...more };
      if (event.sequence > after) return reader.lines(taken).map(({ json }) => JSON.parse(json) as AnyFrame);
      reader.remember(taken);
      return [];
    });
  }
}
