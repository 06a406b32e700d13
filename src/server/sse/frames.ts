/** Events as server-sent frames: `id: <cursor>\ndata: <json>\n\n`. Made once for all clients who get the batch. */
import type { Batch, GlobalBatch } from "../../log/contract.ts";

const shared = new WeakMap<Batch, Buffer>();

/** Ids are sequences. Never write into what is returned. */
export const framesOf = (batch: Batch): Buffer => sharedFrames(batch, (index) => String(batch.first + index));

/** Ids are cursors of the stream of all streams. */
export const globalFramesOf = (batch: GlobalBatch): Buffer => sharedFrames(batch, (index) => batch.cursorOf(index));

function sharedFrames(batch: Batch, idOf: (index: number) => string): Buffer {
  const known = shared.get(batch);
  if (known) return known;
  const frames = batch.framed((index) => `id: ${idOf(index)}\ndata: `, "\n\n");
  shared.set(batch, frames);
  return frames;
}

/** Only the last line of an event moves the client on: one that is cut off between two lines gets all of them again. */
export const linesFrame = (lines: readonly string[], id: string): string =>
  lines.map((line, index) => `${index === lines.length - 1 ? `id: ${id}\n` : ""}data: ${line}\n\n`).join("");
