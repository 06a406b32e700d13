/** What a path is, in words of the API. */
import type { BigIntStats } from "node:fs";
import type { FileEntry } from "../../schema/files.ts";

export function entryOf(path: string, info: BigIntStats, target?: string): FileEntry {
  const type = info.isFile() ? "file" : info.isDirectory() ? "directory" : info.isSymbolicLink() ? "link" : "other";
  return {
    path,
    name: path.slice(path.lastIndexOf("/") + 1),
    type,
    size: type === "file" ? Number(info.size) : 0,
    mode: (Number(info.mode) & 0o7777).toString(8).padStart(4, "0"),
    modified_at: timeOf(info.mtimeMs),
    etag: etagOf(info),
    ...(target === undefined ? {} : { target }),
  };
}

/** Years that a time of the API can name. Any program may give a file another one, and one such file must not hide those beside it. */
const [FIRST_MS, LAST_MS] = [Date.parse("0000-01-01T00:00:00.000Z"), Date.parse("9999-12-31T23:59:59.999Z")];

const timeOf = (ms: bigint): string => new Date(Math.min(Math.max(Number(ms), FIRST_MS), LAST_MS)).toISOString();

/** The change time is the kernel's own: no program can set it back. */
export const etagOf = (info: BigIntStats): string =>
  `"${info.ino.toString(36)}-${info.size.toString(36)}-${info.ctimeNs.toString(36)}"`;
