/**
 * A short look at an artifact: how a text begins and ends, JSON laid out, the size of an image, the files of a diff. What it is, its bytes decide. Little of
 * it is read, however large it is.
 */
import type { ArtifactPreview } from "../../schema/artifact.ts";
import { isBinary, isContinued, wholeEnd } from "../binary.ts";
import { diffstat, looksLikeDiff } from "./diffstat.ts";
import { IMAGE_HEAD_BYTES, imageSize } from "./image-size.ts";

const SHOWN_BYTES = 2 * 1024;
/** Longer than any secret: one that begins or ends outside of what is shown is recognised. */
const AROUND_BYTES = 32 * 1024;
/** JSON and diffs up to this size are read whole. */
const WHOLE_BYTES = 4 * 1024 * 1024;

export type ArtifactBytes = {
  artifact_id: string;
  bytes: number;
  mime: string;
  /** `end` is inclusive. */
  read(start: number, end: number): Promise<Buffer>;
  /** What of a text may be shown. */
  clean?(text: string): string;
};

export async function previewOf(artifact: ArtifactBytes): Promise<ArtifactPreview> {
  const { artifact_id, bytes } = artifact;
  const base = { artifact_id, bytes };
  const start = bytes === 0 ? Buffer.alloc(0) : await artifact.read(0, Math.min(bytes, IMAGE_HEAD_BYTES) - 1);
  const size = imageSize(start);
  if (size) return { ...base, format: "image", ...size };
  if (artifact.mime.startsWith("image/") && !artifact.mime.includes("svg")) return { ...base, format: "image" };
  if (isBinary(wholeEnd(start))) return { ...base, format: "binary" };
  const head = start.toString("utf8");
  const whole = bytes <= start.length ? head : bytes <= WHOLE_BYTES ? null : undefined;
  const read = async (): Promise<string | undefined> =>
    whole === null ? (await artifact.read(0, bytes - 1)).toString("utf8") : whole;
  if (looksLikeDiff(head)) {
    const text = await read();
    return { ...base, format: "diff", files: diffstat(text ?? head), ...(await ends(artifact, start)) };
  }
  if (/^\s*[[{"]/.test(head)) {
    const laidOut = pretty(await read());
    if (laidOut !== null) return { ...base, format: "json", ...cutText(artifact.clean?.(laidOut) ?? laidOut) };
  }
  return { ...base, format: "text", ...(await ends(artifact, start)) };
}

type Ends = { head: string; tail?: string; left_out?: number };

async function ends({ bytes, read, clean = (text) => text }: ArtifactBytes, start: Buffer): Promise<Ends> {
  if (bytes <= 2 * SHOWN_BYTES) return { head: clean(start.subarray(0, bytes).toString("utf8")) };
  const begin = clean(wholeEnd(start.subarray(0, SHOWN_BYTES + AROUND_BYTES)).toString("utf8"));
  const end = clean(wholeStart(await read(Math.max(0, bytes - SHOWN_BYTES - AROUND_BYTES), bytes - 1)).toString("utf8"));
  const head = wholeEnd(Buffer.from(begin).subarray(0, SHOWN_BYTES));
  const tail = wholeStart(Buffer.from(end).subarray(-SHOWN_BYTES));
  return { head: head.toString("utf8"), tail: tail.toString("utf8"), left_out: bytes - head.length - tail.length };
}

function cutText(text: string): Ends {
  const all = Buffer.from(text);
  if (all.length <= 2 * SHOWN_BYTES) return { head: text };
  const head = wholeEnd(all.subarray(0, 2 * SHOWN_BYTES));
  return { head: head.toString("utf8"), left_out: all.length - head.length };
}

function pretty(text: string | undefined): string | null {
  if (text === undefined) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

/** Without the rest of a character that began before. */
function wholeStart(bytes: Buffer): Buffer {
  let at = 0;
  while (at < 3 && isContinued(bytes[at])) at += 1;
  return bytes.subarray(at);
}
