/** What a path is, in words of the API. */
import type { BigIntStats } from "node:fs";
import { type Static, Type } from "typebox";

export const FileEntry = Type.Object({
  path: Type.String({ description: "Relative to the workspace, with `/`; empty for the workspace itself." }),
  name: Type.String(),
  type: Type.Enum(["file", "directory", "link", "other"]),
  size: Type.Integer({ description: "Bytes; 0 for a directory." }),
  mode: Type.String({ description: "Permission bits in octal, such as 0644." }),
  modified_at: Type.String({ description: "RFC 3339." }),
  etag: Type.String({ description: "Changes with every change of the file." }),
  target: Type.Optional(Type.String({ description: "Where a link points, as it is written." })),
});
export type FileEntry = Static<typeof FileEntry>;

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
