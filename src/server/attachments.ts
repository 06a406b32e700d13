// Attachments of a message: bytes go to the artifact store; a path must lead, links resolved, to a file inside the session's directory.
import { constants, open, realpath } from "node:fs/promises";
import { basename, extname, isAbsolute, resolve, sep } from "node:path";
import type { ArtifactWriter } from "../log/contract.ts";
import type { StoredAttachment } from "../schema/event-data.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { AttachmentInput } from "../schema/session.ts";

export type AttachmentContext = { artifacts: ArtifactWriter; directory: string; maxBytes: number };

export const storeAttachments = (inputs: readonly AttachmentInput[], context: AttachmentContext): Promise<StoredAttachment[]> =>
  Promise.all(inputs.map((input, index) => ("data" in input ? storeBytes(input, index, context) : storeFile(input, context))));

async function storeBytes(
  input: Extract<AttachmentInput, { data: string }>,
  index: number,
  { artifacts }: AttachmentContext,
): Promise<StoredAttachment> {
  if (!isBase64(input.data))
    throw new ProblemError("invalid_request", "An attachment's data must be base64.", {
      errors: [{ path: `/attachments/${index}/data`, message: "must be base64" }],
    });
  const mime = mimeOrOctets(input.mime);
  return put(artifacts, Buffer.from(input.data, "base64"), {
    name: basename(input.name ?? `attachment-${index + 1}`),
    mime,
    path: null,
  });
}

async function storeFile(
  input: Extract<AttachmentInput, { path: string }>,
  { artifacts, directory, maxBytes }: AttachmentContext,
): Promise<StoredAttachment> {
  const path = await insidePath(directory, input.path);
  const bytes = await readFileBounded(path, input.path, maxBytes);
  const mime = mimeOrOctets(input.mime ?? mimeByName(path));
  return put(artifacts, bytes, { name: basename(input.name ?? path), mime, path });
}

function put(
  artifacts: ArtifactWriter,
  bytes: Buffer,
  about: { name: string; mime: string; path: string | null },
): StoredAttachment {
  const { name, mime, path } = about;
  const { artifact_id } = artifacts.put(bytes, { kind: kindOf(mime), mime, name });
  return { name, mime, artifact_id, path };
}

/** The real path of a file that lies inside the directory, whatever links and `..` say. Throws `attachment_not_found`. */
async function insidePath(directory: string, path: string): Promise<string> {
  if (path.includes("\0")) throw new ProblemError("attachment_not_found");
  const root = await realpath(directory);
  const real = await realpath(isAbsolute(path) ? path : resolve(root, path)).catch(() => undefined);
  if (real === undefined) throw new ProblemError("attachment_not_found", `There is no file ${path} in the session's directory.`);
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep))
    throw new ProblemError(
      "attachment_not_found",
      `${path} lies outside the session's directory. Send the bytes as data instead.`,
    );
  return real;
}

/** Opened without following a link put there meanwhile, without waiting on a pipe, and measured through the handle that is read. */
async function readFileBounded(real: string, shown: string, maxBytes: number): Promise<Buffer> {
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: unknown) => {
    throw new ProblemError("attachment_not_found", `${shown} cannot be read. Check its permissions.`, { cause: error });
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new ProblemError("attachment_not_found", `${shown} is not a file.`);
    if (stat.size > maxBytes)
      throw new ProblemError("body_too_large", `${shown} has ${stat.size} bytes; attachments may have ${maxBytes}.`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

const isBase64 = (text: string): boolean => text.length % 4 !== 1 && /^[A-Za-z0-9+/_-]*={0,2}$/.test(text);

const mimeOrOctets = (mime: string): string =>
  /^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w."-]+)*$/.test(mime) ? mime : "application/octet-stream";

const kindOf = (mime: string): string => {
  const [top] = mime.split("/");
  return top === "image" || top === "audio" || top === "text" ? top : "file";
};

const MIMES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".svg": "image/svg+xml",
  ".pdf": "application/pdf",
  ".json": "application/json",
  ".html": "text/html",
  ".wav": "audio/wav",
  ".mp3": "audio/mpeg",
};
const mimeByName = (path: string): string =>
  MIMES[extname(path).toLowerCase()] ?? (extname(path) ? "text/plain" : "application/octet-stream");
