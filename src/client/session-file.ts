/** An exported session as something that can be sent: text, a Blob, a stream, or in Node the path of a file. It is never read into memory as a whole. */
import { DragomanError } from "./error.ts";

/** `{ path }`: a file on this machine; Node, Bun and Deno only. A string is the exported text itself. */
export type SessionFile = string | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | { path: string };

export async function payloadOf(file: SessionFile): Promise<string | Blob | ReadableStream<Uint8Array>> {
  if (typeof file === "string" || file instanceof Blob || file instanceof ReadableStream) return file;
  return "path" in file && typeof file.path === "string" ? blobOf(file.path) : streamOf(file as AsyncIterable<Uint8Array>);
}

async function blobOf(path: string): Promise<Blob> {
  if (typeof process === "undefined" || typeof process.getBuiltinModule !== "function")
    throw new DragomanError(
      "unsupported",
      "Only Node, Bun and Deno can read a path. In a page, give importSession the File itself.",
    );
  return process.getBuiltinModule("node:fs").openAsBlob(path);
}

function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
