/**
 * Places in the stream of all streams: chunk and event as one number, and as the cursor that clients have.
 */
import { type EventBatch, GlobalEventBatch } from "../packing/batch.ts";

/** A global cursor as one number, so that it can be compared: chunks hold at most 1000 events. */
export const POSITION_STEP = 1024;

/** A batch in the stream of all streams. */
export class PlacedBatch extends GlobalEventBatch {
  readonly #position: number;
  /** Index in the chunk of the first event here. */
  readonly #offset: number;
  /** In which cursors are given out. */
  readonly #epoch: string;

  constructor(batch: EventBatch, position: number, epoch: string, offset = 0) {
    super(batch);
    this.#position = position;
    this.#epoch = epoch;
    this.#offset = offset;
  }

  /** Numbers of the first and the last event, for the tail. */
  get from(): number {
    return this.#position * POSITION_STEP + this.#offset + 1;
  }
  get to(): number {
    return this.from + this.last - this.first;
  }

  cursorOf(index: number): string {
    return `${this.#position}.${this.#offset + index + 1}@${this.#epoch}`;
  }
}

const CURSOR = /^([0-9]{1,12})\.([0-9]{1,4})(?:@([0-9a-f]{1,32}))?$/;

/** `12.3@4f6a…` means: behind the third event of chunk 12, as it was in that epoch. Undefined: this is no cursor. */
export function parseCursor(cursor: string): { at: number; epoch: string | null } | undefined {
  const match = CURSOR.exec(cursor);
  if (match === null) return undefined;
  return { at: Number(match[1]) * POSITION_STEP + Math.min(Number(match[2]), POSITION_STEP - 1), epoch: match[3] ?? null };
}

export function splitCursor(cursor: number): { position: number; index: number } {
  const position = Math.floor(cursor / POSITION_STEP);
  return { position, index: cursor - position * POSITION_STEP };
}
