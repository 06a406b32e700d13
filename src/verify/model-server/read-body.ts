// Reads a request's body whole and unpacks it.

import type { IncomingMessage } from "node:http";
import * as zlib from "node:zlib";

const MAX_BYTES = 64 * 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`The request is larger than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return unpack(Buffer.concat(chunks), request.headers["content-encoding"] ?? "identity").toString("utf8");
}

function unpack(body: Buffer, encoding: string): Buffer {
  switch (encoding) {
    case "identity":
    case "":
      return body;
    case "gzip":
      return zlib.gunzipSync(body);
    case "deflate":
      return zlib.inflateSync(body);
    case "br":
      return zlib.brotliDecompressSync(body);
    default:
      // codex can send zstd, which Node 20 cannot read: turn its feature `enable_request_compression` off.
      throw new Error(`The content encoding "${encoding}" is not supported: turn request compression off in the client.`);
  }
}
