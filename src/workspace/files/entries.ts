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
    modified_at: new Date(Number(info.mtimeMs)).toISOString(),
    etag: etagOf(info),
    ...(target === undefined ? {} : { target }),
  };
}

/** The change time is the kernel's own: no program can set it back. */
export const etagOf = (info: BigIntStats): string =>
  `"${info.ino.toString(36)}-${info.size.toString(36)}-${info.ctimeNs.toString(36)}"`;
