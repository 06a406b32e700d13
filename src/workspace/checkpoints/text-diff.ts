/** A unified diff of one changed path, made on demand. Binary and very large contents are only named. */
import { createTwoFilesPatch } from "diff";
import { isBinary } from "../binary.ts";
import { textOf } from "../raw-path.ts";
import { parseState, type State } from "./entry.ts";
import { CheckpointError } from "./errors.ts";
import type { ChangedPath } from "./record.ts";

const TEXT_BYTES = 1024 * 1024;
/** Two large texts without a common line would be compared for minutes. */
const TIMEOUT_MS = 1_000;

export type ReadContent = (id: string, path: string) => Promise<Buffer>;

export async function addPatch(
  shown: ChangedPath,
  path: string,
  before: State | null,
  after: State | null,
  read: ReadContent,
): Promise<ChangedPath> {
  try {
    const [old, fresh] = [await bytesOf(before, path, read), await bytesOf(after, path, read)];
    if (old === "none" && fresh === "none") return shown;
    if (typeof old === "string" && old !== "none") return { ...shown, note: old };
    if (typeof fresh === "string" && fresh !== "none") return { ...shown, note: fresh };
    const [left, right] = [old === "none" ? null : old, fresh === "none" ? null : fresh];
    if ([left, right].some((content) => content !== null && isBinary(content))) return { ...shown, binary: true };
    const patch = unified(textOf(path), left?.toString("utf8") ?? null, right?.toString("utf8") ?? null);
    return patch === null
      ? { ...shown, binary: false, note: "The texts differ too much to compare them." }
      : { ...shown, binary: false, patch };
  } catch (error) {
    if (error instanceof CheckpointError) return { ...shown, note: error.message };
    throw error;
  }
}

/** "none": a directory or nothing; another string: why there are no bytes. */
async function bytesOf(state: State | null, path: string, read: ReadContent): Promise<Buffer | string> {
  const parsed = state === null ? null : parseState(state);
  switch (parsed?.kind) {
    case "f":
      return parsed.size > TEXT_BYTES ? "The file is too large to show its differences." : read(parsed.id, path);
    case "l":
      return Buffer.from(parsed.target, "latin1");
    case "s":
      return `The content is not stored (${parsed.reason}).`;
    default:
      return "none";
  }
}

/** null: it takes too long. */
export function unified(path: string, before: string | null, after: string | null): string | null {
  const names = [before === null ? "/dev/null" : `a/${path}`, after === null ? "/dev/null" : `b/${path}`] as const;
  const patch = createTwoFilesPatch(names[0], names[1], before ?? "", after ?? "", undefined, undefined, {
    context: 3,
    timeout: TIMEOUT_MS,
  });
  if (patch === undefined) return null;
  return patch.slice(Math.max(0, patch.indexOf("--- ")));
}
