/** Chunks on their way from node to node: each frame is its length, the length of its head, the head as JSON, and the packed events as they lie in the log. */
import type { LiveChunk } from "../log/postgres/live.ts";

/** `gone`: this stream is not written here any more. */
export type LiveFrame = { chunk: LiveChunk } | { gone: number };

const LENGTHS = 8;
/** No chunk is larger. */
const MAX_FRAME = 64 * 1024 * 1024;

export function frameOf(frame: LiveFrame): Buffer {
  const { body, ...rest } = "chunk" in frame ? frame.chunk : { body: Buffer.alloc(0), gone: frame.gone };
  const head = Buffer.from(JSON.stringify(rest));
  const lengths = Buffer.alloc(LENGTHS);
  lengths.writeUInt32BE(head.length + body.length, 0);
  lengths.writeUInt32BE(head.length, 4);
  return Buffer.concat([lengths, head, body]);
}

/** Cuts frames out of bytes as they come. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Throws when these are no frames. */
  read(bytes: Buffer): LiveFrame[] {
    const frames: LiveFrame[] = [];
    let all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (all.length >= LENGTHS) {
      const [length, head] = [all.readUInt32BE(0), all.readUInt32BE(4)];
      if (length > MAX_FRAME || head > length) throw new Error("a frame of another node cannot be read");
      if (all.length < LENGTHS + length) break;
      const said = JSON.parse(all.toString("utf8", LENGTHS, LENGTHS + head)) as { gone?: number };
      const body = Buffer.from(all.subarray(LENGTHS + head, LENGTHS + length));
      frames.push(said.gone === undefined ? { chunk: { ...(said as LiveChunk), body } } : { gone: said.gone });
      all = all.subarray(LENGTHS + length);
    }
    this.#rest = all;
    return frames;
  }
}
