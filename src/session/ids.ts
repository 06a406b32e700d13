// Ids and time: everything a session needs that is not a function of its input. Replay and tests bring their own.
import { randomBytes } from "node:crypto";

export type IdKind = "evt" | "itm" | "turn" | "stp" | "prm" | "qst" | "sess" | "msg";

export interface IdSource {
  next(kind: IdKind): string;
  /** The next `evt` id in two parts, of which the first is the same string for many in a row. Read it at once: the object is used again for the next. */
  nextEvent(): { readonly head: string; readonly counter: string };
}

const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

const base32 = (value: number, width: number): string => {
  let text = "";
  let rest = value;
  for (let i = 0; i < width; i++) {
    text = DIGITS.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};

/** The last two digits of a counter, made once: an id is needed for every event. */
const PAIRS = Array.from({ length: 1024 }, (_, value) => base32(value, 2));

/**
 * Time-ordered ids: milliseconds, a random part per process, a counter. Ids made by one process sort in the order they were made, also when the
 * clock steps back.
 */
export function timeOrderedIds(now: () => number = Date.now): IdSource {
  const process = base32(randomBytes(4).readUInt32BE() % 32 ** 5, 5);
  let stamp = 0;
  let head = "";
  let eventHead = "";
  let counter = 0;
  const event = { head: "", counter: "" };
  const count = (): string => {
    const time = now();
    if (time > stamp) {
      stamp = time;
      counter = 0;
    } else counter++;
    if ((counter & 1023) === 0) {
      head = base32(stamp, 10) + process + base32(counter >>> 10, 3);
      eventHead = `evt_${head}`;
    }
    return PAIRS[counter & 1023] ?? "";
  };
  return {
    next(kind) {
      const pair = count();
      return `${kind}_${head}${pair}`;
    },
    nextEvent() {
      event.counter = count();
      event.head = eventHead;
      return event;
    },
  };
}

/** 1, 2, 3 … per kind, for replays whose output is compared. */
export function countingIds(prefix = ""): IdSource {
  const counters = new Map<IdKind, number>();
  const count = (kind: IdKind): string => {
    const value = (counters.get(kind) ?? 0) + 1;
    counters.set(kind, value);
    return `${value}`;
  };
  return {
    next: (kind) => `${kind}_${prefix}${count(kind)}`,
    nextEvent: () => ({ head: `evt_${prefix}`, counter: count("evt") }),
  };
}

/** Current time as RFC 3339 with milliseconds; the text of one millisecond is made once. */
export function isoClock(now: () => number = Date.now): () => string {
  let last = -1;
  let text = "";
  return () => {
    const time = now();
    if (time !== last) {
      last = time;
      text = new Date(time).toISOString();
    }
    return text;
  };
}
