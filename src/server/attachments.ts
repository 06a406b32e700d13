// Attachments of a message: bytes go to the artifact store; a path must lead, links resolved, to a file inside the session's directory.
import { constants } from "node:fs";
import { basename, extname, join } from "node:path";
import type { ArtifactWriter } from "../log/contract.ts";
import type { StoredAttachment } from "../schema/event-data.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { AttachmentInput } from "../schema/session.ts";
import { FilesError, Inside } from "../workspace/files/index.ts";

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
  const { real: path, bytes } = await readInside(directory, input.path, maxBytes);
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

/** The file and its real path; whatever links and `..` say, and whoever changes the directory meanwhile, it lies inside. Throws `attachment_not_found`. */
async function readInside(directory: string, path: string, maxBytes: number): Promise<{ real: string; bytes: Buffer }> {
  try {
    const inside = await Inside.open(directory);
    const place = await inside.resolve(path);
    const handle = await inside.openFile(place, constants.O_RDONLY);
    try {
      const { size } = await handle.stat();
      if (size > maxBytes)
        throw new ProblemError("body_too_large", `${path} has ${size} bytes; attachments may have ${maxBytes}.`);
      return { real: join(inside.root, place.path), bytes: await handle.readFile() };
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof FilesError) throw new ProblemError("attachment_not_found", refusalOf(error, path), { cause: error });
    throw error;
  }
}

function refusalOf({ code }: FilesError, path: string): string {
  if (code === "path_outside" || code === "changed_meanwhile")
    return `${path} lies outside the session's directory. Send the bytes as data instead.`;
  if (code === "is_a_directory" || code === "not_a_file") return `${path} is not a file.`;
  if (code === "permission_denied") return `${path} cannot be read. Check its permissions.`;
  return `There is no file ${JSON.stringify(path)} in the session's directory.`;
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
