/** What can go wrong with files of a workspace, as codes that every door shows unchanged. */

export type FilesErrorCode =
  /** Not a path: empty, with a zero byte, too long. */
  | "invalid_path"
  /** Leads out of the workspace: by `..`, an absolute path or a symbolic link. */
  | "path_outside"
  | "not_found"
  /** The workspace itself is gone. */
  | "directory_missing"
  | "is_a_directory"
  | "not_a_directory"
  /** A device, socket or pipe. */
  | "not_a_file"
  | "already_exists"
  | "not_empty"
  | "too_large"
  | "invalid_range"
  /** The file is not the one the caller knows (`if_match`). */
  | "etag_mismatch"
  /** A name on the way meant something else a moment later. */
  | "changed_meanwhile"
  | "permission_denied"
  | "disk_full"
  /** The directory lies in no git repository. */
  | "not_a_repository"
  | "git_failed"
  | "invalid_pattern";

export class FilesError extends Error {
  readonly code: FilesErrorCode;
  readonly path: string;
  constructor(code: FilesErrorCode, path: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "FilesError";
    this.code = code;
    this.path = path;
  }
}

const KNOWN: Record<string, [FilesErrorCode, string]> = {
  ENOENT: ["not_found", "does not exist"],
  ENOTDIR: ["not_a_directory", "is not a directory, or lies below a file"],
  EISDIR: ["is_a_directory", "is a directory"],
  EEXIST: ["already_exists", "exists already"],
  ENOTEMPTY: ["not_empty", "is not empty"],
  EACCES: ["permission_denied", "may not be used"],
  EPERM: ["permission_denied", "may not be used"],
  EROFS: ["permission_denied", "lies on a read-only file system"],
  ENOSPC: ["disk_full", "does not fit on the disk"],
  EDQUOT: ["disk_full", "does not fit into the quota"],
  ELOOP: ["changed_meanwhile", "changed while it was opened, or is a link that leads to itself"],
  ENAMETOOLONG: ["invalid_path", "is too long"],
  ENXIO: ["not_a_file", "is not a regular file"],
};

export const errnoOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : undefined;

/** The file system's complaint as ours. */
export function filesError(error: unknown, path: string): unknown {
  if (error instanceof FilesError) return error;
  const known = KNOWN[errnoOf(error) ?? ""];
  return known ? new FilesError(known[0], path, `${path} ${known[1]}.`, { cause: error }) : error;
}
