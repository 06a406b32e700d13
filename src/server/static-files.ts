/**
 * Files of a built folder: the inspector, the documentation. Compressed copies that the build put beside a file (`.br`, `.gz`) go to whoever takes them. Not
 * for files of users: it follows links and knows no rights.
 */
import { open } from "node:fs/promises";
import { extname, join } from "node:path";
import type { FastifyReply, FastifyRequest } from "fastify";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".wasm": "application/wasm",
  ".txt": "text/plain; charset=utf-8",
  ".md": "text/markdown; charset=utf-8",
};

/** Named after its content by the build: it never changes. */
const HASHED = /(^|\/)assets\/[^/]+-[\w-]{8}\.[a-z0-9]+$/i;

const COPIES = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** Answers with the file, or as for any unknown path. What is not named after its content is never stored by a client. */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, root: string, name: string): Promise<FastifyReply> {
  const type = TYPES[extname(name).toLowerCase()];
  if (type === undefined || !isInside(name)) return notFound(reply);
  const found = (await compressedCopy(request, root, name)) ?? (await openFile(join(root, name)));
  if (!found) return notFound(reply);
  if (HASHED.test(name)) reply.header("cache-control", "public, max-age=31536000, immutable");
  if (found.encoding) reply.header("content-encoding", found.encoding);
  reply.type(type).header("vary", "accept-encoding").header("content-length", found.size);
  return reply.send(found.file.createReadStream());
}

/** The policy of a page does not belong to the answer that there is none. */
function notFound(reply: FastifyReply): FastifyReply {
  reply.removeHeader("content-security-policy").callNotFound();
  return reply;
}

/** Every segment is a plain name, and not a hidden one. */
const isInside = (name: string): boolean =>
  !/[\\\0]/.test(name) && name.split("/").every((segment) => segment !== "" && !segment.startsWith("."));

type Found = { file: Awaited<ReturnType<typeof open>>; size: number; encoding: string | null };

async function compressedCopy({ headers }: FastifyRequest, root: string, name: string): Promise<Found | undefined> {
  const taken = String(headers["accept-encoding"] ?? "")
    .split(",")
    .filter((each) => !/;\s*q=0(\.0*)?\s*$/.test(each))
    .map((each) => each.split(";", 1)[0]?.trim().toLowerCase());
  for (const [encoding, suffix] of COPIES) {
    const found = taken.includes(encoding) ? await openFile(join(root, `${name}${suffix}`)) : undefined;
    if (found) return { ...found, encoding };
  }
  return undefined;
}

async function openFile(path: string): Promise<Found | undefined> {
  const file = await open(path).catch(() => undefined);
  const stat = await file?.stat();
  if (file && stat?.isFile()) return { file, size: stat.size, encoding: null };
  await file?.close();
  return undefined;
}
