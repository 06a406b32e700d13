/** What callers see of checkpoints, as schemas: routes, events and clients use these words. */
import { type Static, Type } from "typebox";

const Text = Type.String();
const nullable = <T extends ReturnType<typeof Type.String>>(type: T) => Type.Union([type, Type.Null()]);

export const Head = Type.Union([
  Type.Object({
    ref: Type.Union([Text, Type.Null()], { description: "Full name of the branch, null when HEAD is detached." }),
    oid: Type.Union([Text, Type.Null()], { description: "The commit, null on a branch without one." }),
  }),
  Type.Null(),
]);

export const Counts = Type.Object({
  entries: Type.Integer({ description: "Paths in the tree." }),
  added: Type.Integer(),
  modified: Type.Integer({ description: "Other content, type or mode than in the checkpoint before." }),
  deleted: Type.Integer(),
  not_stored: Type.Integer({
    description: "Changed paths whose content is too large, unreadable or special, and so not stored.",
  }),
});

export const CheckpointKind = Type.Enum([
  "turn_start",
  "before_tool",
  "before_permission",
  "after_tool",
  "turn_end",
  "manual",
  "before_rewind",
  "rewind",
]);
export type CheckpointKind = Static<typeof CheckpointKind>;

/** As the journal keeps it. */
export const CheckpointRecord = Type.Object({
  id: Type.String({ description: "Unique, `cp_` first." }),
  created_at: Type.String({ description: "RFC 3339, milliseconds." }),
  kind: CheckpointKind,
  label: Text,
  session_id: nullable(Text),
  tool_name: nullable(Text),
  auto: Type.Boolean({ description: "Taken by dragoman, not by a person." }),
  digest: Type.String({ description: "sha256:<hex> of the manifest: equal trees have equal digests." }),
  counts: Counts,
  head: Head,
  scope: Type.Enum(["tree", "touched"], {
    description: "`touched`: only files that known edits touched, because the tree was refused.",
  }),
  lost: Type.Array(Text, { description: "Content ids that could not be had any more when the change was seen." }),
});
export type CheckpointRecord = Static<typeof CheckpointRecord>;

export const ChangedPath = Type.Object({
  path: Text,
  change: Type.Enum(["added", "modified", "deleted", "type", "mode"]),
  before: Type.Union([Type.Object({ type: Text, mode: Type.Optional(Text), size: Type.Optional(Type.Integer()) }), Type.Null()]),
  after: Type.Union([Type.Object({ type: Text, mode: Type.Optional(Text), size: Type.Optional(Type.Integer()) }), Type.Null()]),
  binary: Type.Optional(Type.Boolean({ description: "Only with text: the content is not text." })),
  patch: Type.Optional(Type.String({ description: "Only with text: a unified diff." })),
  note: Type.Optional(Type.String({ description: "Why there is no patch." })),
});
export type ChangedPath = Static<typeof ChangedPath>;

export const KeptPath = Type.Object({
  path: Text,
  reason: Type.Enum(["user_edit", "not_stored", "content_unavailable", "changed_meanwhile", "blocked", "failed"], {
    description:
      "`user_edit`: a person changed it between turns (force overrides). `not_stored`: what is there now is not stored, so it stays. `content_unavailable`: what it should be is not stored. `changed_meanwhile`: changed during the rewind. `blocked`: a kept path above or below it.",
  }),
  detail: Type.Optional(Text),
});
export type KeptPath = Static<typeof KeptPath>;

export const RewindResult = Type.Object({
  checkpoint_id: Text,
  dry_run: Type.Boolean(),
  undo_id: Type.String({ description: "Rewind to this one to undo the rewind." }),
  after_id: Type.Union([Text, Type.Null()], { description: "The checkpoint of the tree after the rewind, null for a dry run." }),
  files: Type.Array(Text, { description: "Paths that were (or would be) changed." }),
  changes: Type.Array(ChangedPath),
  kept: Type.Array(KeptPath),
  head: Type.Object({ at_checkpoint: Head, now: Head }, { description: "Git's HEAD; never touched." }),
});
export type RewindResult = Static<typeof RewindResult>;
