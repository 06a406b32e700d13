/** What can go wrong with checkpoints, as codes that every door shows unchanged. */

export type CheckpointErrorCode =
  /** The workspace is not there (any more), or is not a directory. */
  | "directory_missing"
  /** `/` is never copied. Touched files only. */
  | "root_directory"
  /** The home directory, or one above it, is never copied. Touched files only. */
  | "home_directory"
  /** More files than the limit. Touched files only. */
  | "too_many_files"
  /** More bytes to copy than the limit. Touched files only. */
  | "too_many_bytes"
  /** One checkpoint alone would need more than the quota. */
  | "quota_exceeded"
  | "disk_full"
  | "unknown_checkpoint"
  /** Another process has this store open. */
  | "store_locked"
  /** The content of a file is stored nowhere any more, or is damaged. */
  | "content_unavailable"
  | "path_outside"
  /** Closed, while or before it was asked. */
  | "closed";

export class CheckpointError extends Error {
  readonly code: CheckpointErrorCode;
  constructor(code: CheckpointErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CheckpointError";
    this.code = code;
  }
}

export const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : undefined;

/** The file system's complaint in our words, where we have some. */
export function asCheckpointError(error: unknown): unknown {
  if (codeOf(error) === "ENOSPC" || codeOf(error) === "EDQUOT")
    return new CheckpointError("disk_full", "The disk is full: nothing was stored. Free some space, or lower the quota.", {
      cause: error,
    });
  return error;
}
