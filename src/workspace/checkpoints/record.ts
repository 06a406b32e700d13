/** The words for checkpoints are part of the schema: routes, events and clients use the same. */
export {
  ChangedPath,
  CheckpointKind,
  CheckpointRecord,
  KeptPath,
  RewindResult,
} from "../../schema/checkpoint.ts";
