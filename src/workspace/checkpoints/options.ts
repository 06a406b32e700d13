/** How checkpoints of a workspace are taken and kept. */

import type { Way } from "./live-tree.ts";
import type { CheckpointKind, CheckpointRecord } from "./record.ts";
import type { Limits } from "./scan-context.ts";

export type CheckpointOptions = {
  /** Watch the directories between checkpoints. false: every checkpoint scans. Default true. */
  watch?: boolean;
  /**
   * Wait until the disk has a checkpoint. Default false: it survives the end of the process at once, and the loss of power a few milliseconds later. Rewinds
   * always wait.
   */
  durable?: boolean;
  /** Bytes on disk for this workspace; the oldest checkpoints go first. Default 2 GiB. */
  quota_bytes?: number;
  /** Without a checkpoint for so long, the watches end and the tree is forgotten until the next one. Default 10 minutes. */
  idle_ms?: number;
  /** Absolute paths inside the workspace that are never looked at, such as the daemon's data. The store itself always is one. */
  hidden?: readonly string[];
  limits?: Partial<Limits>;
  /** The home directory, which is refused. Default: the user's. */
  home?: string;
};

export const DEFAULT_LIMITS: Limits = {
  files: 200_000,
  copied_bytes: 1024 ** 3,
  untracked_bytes: 10 * 1024 ** 2,
  ignored_bytes: 1024 ** 2,
  file_bytes: 64 * 1024 ** 2,
};
export const QUOTA_BYTES = 2 * 1024 ** 3;
export const IDLE_MS = 10 * 60_000;
/** What an event lists; counts are always whole. */
export const LISTED_FILES = 1_000;

export type TakeReason = {
  /** `turn_start` and `turn_end` also distinguish changes of people (between turns) from those of agents (within one). */
  kind: Exclude<CheckpointKind, "before_rewind" | "rewind">;
  label?: string;
  session_id?: string;
  tool_name?: string;
  /** Default: true, but for `manual`. */
  auto?: boolean;
  /** Paths that an edit is about to touch: stored even where git ignores them. Relative to the workspace or absolute. */
  paths?: readonly string[];
  /** Look at everything, whatever the watches say. */
  full?: boolean;
};

export type Taken = {
  id: string;
  /** false: the tree is the same as at the last checkpoint, which is this one. */
  created: boolean;
  /** Digest of the manifest. */
  digest: string;
  counts: CheckpointRecord["counts"];
  /** Changed since the checkpoint before; at most 1,000, the counts are whole. */
  files: string[];
  created_at: string;
  label: string;
  auto: boolean;
  tool_name: string | null;
  timings: { way: Way; look_ms: number; store_ms: number; total_ms: number };
};
