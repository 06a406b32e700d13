/**
 * Events as server-sent frames, `id: <sequence>\ndata: <json>\n\n`: what subscribers get, made once for all of them. Here is what can be done with them
 * without looking into the events.
 */
import { TextBuffer } from "./text-buffer.ts";

/** The JSON of each event. */
export function eventsOf(frames: Buffer): string[] {
  return dataLines(frames.toString("utf8"));
}

/** The same frames under other ids. */
export function withIds(frames: Buffer, idOf: (index: number) => string): Buffer {
  const out = new TextBuffer("latin1");
  dataLines(frames.toString("latin1")).forEach((json, index) => {
    out.add(`id: ${idOf(index)}\ndata: ${json}\n\n`);
  });
  return out.bytes();
}

/** Where the frame of this sequence begins. JSON has no line ends, so nothing inside an event looks like one. */
export function offsetOf(frames: Buffer, sequence: number): number {
  const found = frames.indexOf(`\n\nid: ${sequence}\n`);
  return found < 0 ? frames.length : found + 2;
}

const DATA = "data: ".length;

function dataLines(text: string): string[] {
  const events: string[] = [];
  for (let from = text.indexOf("\n") + 1; from > 0; ) {
    const end = text.indexOf("\n", from);
    events.push(text.slice(from + DATA, end));
    // Over the blank line and the id of the next frame.
    from = end + 2 < text.length ? text.indexOf("\n", end + 2) + 1 : 0;
  }
  return events;
}
