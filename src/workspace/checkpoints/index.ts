/** Checkpoints of a directory, for any agent. */
export { Checkpoints, type DiffOptions } from "./checkpoints.ts";
export { CheckpointError, type CheckpointErrorCode } from "./errors.ts";
export { closeCheckpoints, openCheckpoints, pruneStores, removeStore, storesBytes } from "./open.ts";
export { type CheckpointOptions, DEFAULT_LIMITS, type Taken, type TakeReason } from "./options.ts";
export { ChangedPath, CheckpointKind, CheckpointRecord, KeptPath, RewindResult } from "./record.ts";
export type { RewindOptions } from "./rewind.ts";
