/** What a session needs of the checkpoints of its directory. The daemon provides it; a session without it takes none. */
import type { ChangedPath, CheckpointKind, RewindResult } from "../schema/checkpoint.ts";

export type CheckpointReason = {
  kind: Exclude<CheckpointKind, "before_rewind" | "rewind">;
  session_id: string;
  label?: string;
  tool_name?: string;
  /** Paths that an edit is about to touch: stored even where the tree is not. */
  paths?: readonly string[];
};

export type TakenCheckpoint = {
  id: string;
  label: string;
  created_at: string;
  /** False: the tree is the one of an earlier checkpoint, which is this one. */
  created: boolean;
  /** It is the first of its directory: there was nothing to compare it with. */
  first: boolean;
  files: string[];
  changed: number;
};

export type FilesRewind = { dry_run?: boolean; force?: boolean; paths?: readonly string[] };

export interface WorkspaceCheckpoints {
  /** How long a prompt and an answer wait for a checkpoint. */
  readonly wait_ms: number;
  /** Gets ready for the next `take`, in the background. */
  warm(directory: string): void;
  /** A turn is about to begin: waits for a rewind that is under way, and keeps others from beginning. */
  enter(directory: string, sessionId: string): Promise<void>;
  /** A turn has begun, whoever began it. */
  begun(directory: string, sessionId: string): void;
  /** No turn of the session runs. */
  leave(directory: string, sessionId: string): void;
  /** Rejects with a sentence for a person. */
  take(directory: string, reason: CheckpointReason): Promise<TakenCheckpoint>;
  diff(
    directory: string,
    from: string,
    to: string,
    options: { text: boolean; paths?: readonly string[] },
  ): Promise<ChangedPath[]>;
  /** Throws `session_busy` while a turn runs in the directory. */
  rewind(directory: string, id: string, options: FilesRewind): Promise<RewindResult>;
  /** Those of these that are still stored. */
  stored(directory: string, ids: readonly string[]): Promise<Set<string>>;
  /** Why only touched files are stored in this directory; null: all are. */
  refusal(directory: string): Promise<string | null>;
  /** A session is gone: what only it needed is removed. */
  removed(directory: string): void;
}
