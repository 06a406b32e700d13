/** Checkpoints as every door shows them: what is stored of a directory at one moment, what changed between two, and what a rewind did. */
import { type Static, Type } from "typebox";
import { nullable } from "./nullable.ts";

const Text = Type.String();

export const Head = Type.Union(
  [
    Type.Object({
      ref: Type.Union([Text, Type.Null()], { description: "Full name of the branch, null when HEAD is detached." }),
      oid: Type.Union([Text, Type.Null()], { description: "The commit, null on a branch without one." }),
    }),
    Type.Null(),
  ],
  { description: "Git's HEAD; null: no repository." },
);

export const Counts = Type.Object(
  {
    entries: Type.Integer({ description: "Paths in the tree." }),
    added: Type.Integer({ description: "Paths that are new." }),
    modified: Type.Integer({ description: "Other content, type or mode than in the checkpoint before." }),
    deleted: Type.Integer({ description: "Paths that are gone." }),
    not_stored: Type.Integer({
      description: "Changed paths whose content is too large, unreadable or special, and so not stored.",
    }),
  },
  { description: "How it differs from the checkpoint before it." },
);

export const CheckpointKind = Type.Enum(
  ["turn_start", "before_tool", "before_permission", "after_tool", "turn_end", "manual", "before_rewind", "rewind"],
  { description: "When it was taken." },
);
export type CheckpointKind = Static<typeof CheckpointKind>;

/** As the journal keeps it. */
export const CheckpointRecord = Type.Object({
  id: Type.String({ description: "A UUID that sorts by time." }),
  created_at: Type.String({ description: "RFC 3339, milliseconds." }),
  kind: CheckpointKind,
  label: Type.String({ description: "Name for people." }),
  session_id: nullable(Type.String({ description: "The session it was taken for; null: for none." })),
  tool_name: nullable(Type.String({ description: "The tool it was taken for; null: for none." })),
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
  path: Type.String({ description: "Relative to the session's directory." }),
  change: Type.Enum(["added", "modified", "deleted", "type", "mode"], {
    description: "What happened to it. `type`: a file became a link or the like. `mode`: only its permission bits.",
  }),
  before: Type.Union(
    [
      Type.Object({
        type: Type.String({ description: "file, link or another kind of entry." }),
        mode: Type.Optional(Type.String({ description: "Permission bits in octal." })),
        size: Type.Optional(Type.Integer({ description: "Bytes." })),
      }),
      Type.Null(),
    ],
    { description: "What it was; null: it did not exist." },
  ),
  after: Type.Union(
    [
      Type.Object({
        type: Type.String({ description: "file, link or another kind of entry." }),
        mode: Type.Optional(Type.String({ description: "Permission bits in octal." })),
        size: Type.Optional(Type.Integer({ description: "Bytes." })),
      }),
      Type.Null(),
    ],
    { description: "What it is now; null: it is gone." },
  ),
  binary: Type.Optional(Type.Boolean({ description: "Only with text: the content is not text." })),
  patch: Type.Optional(Type.String({ description: "Only with text: a unified diff." })),
  note: Type.Optional(Type.String({ description: "Why there is no patch." })),
});
export type ChangedPath = Static<typeof ChangedPath>;

export const KeptPath = Type.Object({
  path: Type.String({ description: "Relative to the session's directory." }),
  reason: Type.Enum(["user_edit", "not_stored", "content_unavailable", "changed_meanwhile", "blocked", "failed"], {
    description:
      "`user_edit`: a person changed it between turns (force overrides). `not_stored`: what is there now is not stored, so it stays. `content_unavailable`: what it should be is not stored. `changed_meanwhile`: changed during the rewind. `blocked`: a kept path above or below it.",
  }),
  detail: Type.Optional(Type.String({ description: "More about the reason." })),
});
export type KeptPath = Static<typeof KeptPath>;

export const RewindResult = Type.Object({
  checkpoint_id: Type.String({ description: "Id of the checkpoint." }),
  dry_run: Type.Boolean({ description: "Nothing was changed: this is what would happen." }),
  undo_id: Type.String({ description: "Rewind to this one to undo the rewind." }),
  after_id: Type.Union([Text, Type.Null()], { description: "The checkpoint of the tree after the rewind, null for a dry run." }),
  files: Type.Array(Text, { description: "Paths that were (or would be) changed." }),
  changes: Type.Array(ChangedPath, { description: "What was (or would be) done, path by path." }),
  kept: Type.Array(KeptPath, { description: "Paths that were left as they are, and why." }),
  head: Type.Object({ at_checkpoint: Head, now: Head }, { description: "Git's HEAD; never touched." }),
});
export type RewindResult = Static<typeof RewindResult>;

/** A checkpoint as one session knows it. Sessions that work in the same directory can share one: the same tree is stored once. */
export const Checkpoint = Type.Object({
  checkpoint_id: Type.String({ description: "Id of the checkpoint." }),
  kind: CheckpointKind,
  label: Type.String({ description: "Name for people." }),
  created_at: Type.String({
    description: "When the tree was stored: RFC 3339, UTC. Another session may have done it, long before.",
  }),
  reached_at: Type.Optional(
    Type.String({ description: "When this session reached it: RFC 3339, UTC. Missing in sessions of older versions." }),
  ),
  auto: Type.Boolean({ description: "Taken by dragoman, not by a person." }),
  tool_name: nullable(Type.String({ description: "The tool it was taken for; null: for none." })),
  turn_id: nullable(Type.String({ description: "The turn it was taken in; null: between turns." })),
  sequence: Type.Integer({ description: "The session's last event when it was taken." }),
  files: Type.Integer({ description: "Paths that differ from the checkpoint before it." }),
});
export type Checkpoint = Static<typeof Checkpoint>;

export const CheckpointList = Type.Object({
  checkpoints: Type.Array(Checkpoint, { description: "The oldest first." }),
  state: Type.Enum(["on", "off", "touched"], {
    description:
      "`off`: switched off in the configuration. `touched`: only files that known edits touch are stored; `reason` says why.",
  }),
  reason: nullable(Type.String({ description: "Why the state is not `on`; null when it is." })),
});
export type CheckpointList = Static<typeof CheckpointList>;

export const TakeCheckpoint = Type.Object(
  { label: Type.Optional(Type.String({ description: "Name for people.", minLength: 1, maxLength: 200 })) },
  { additionalProperties: false },
);
export type TakeCheckpoint = Static<typeof TakeCheckpoint>;

export const RewindMode = Type.Enum(["files", "conversation", "both"], { description: "What was brought back." });
export type RewindMode = Static<typeof RewindMode>;

export const RewindCheckpoint = Type.Object(
  {
    dry_run: Type.Optional(Type.Boolean({ description: "Only say what would change." })),
    force: Type.Optional(Type.Boolean({ description: "Also take back what a person changed between turns." })),
    paths: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
        minItems: 1,
        maxItems: 1_000,
        description: "Only these and what is below them, relative to the session's directory.",
      }),
    ),
    turn: Type.Optional(
      Type.String({
        maxLength: 128,
        description:
          "With the conversation: back to before this turn. Several turns that changed no file begin at the same checkpoint. Default: where the checkpoint was taken.",
      }),
    ),
    mode: Type.Optional(
      Type.Enum(["files", "conversation", "both"], {
        description:
          "files (default): the directory. conversation: a new session that knows what was said up to the checkpoint. both: both.",
      }),
    ),
  },
  { additionalProperties: false },
);
export type RewindCheckpoint = Static<typeof RewindCheckpoint>;

export const Rewound = Type.Object({
  checkpoint_id: Type.String({ description: "Id of the checkpoint." }),
  mode: RewindMode,
  dry_run: Type.Boolean({ description: "Nothing was changed: this is what would happen." }),
  files: Type.Union([RewindResult, Type.Null()], { description: "null: the files were not asked for." }),
  session_id: nullable(Type.String({ description: "The session to go on with, when the conversation was asked for." })),
});
export type Rewound = Static<typeof Rewound>;

/** What changed between two moments of a directory. */
export const Changes = Type.Object({
  from: nullable(Type.String({ description: "A checkpoint; null: there is none yet, so nothing is known." })),
  to: nullable(Type.String({ description: "A checkpoint, or `now`." })),
  turn_id: nullable(Type.String({ description: "The turn that was asked about; null: another range." })),
  changes: Type.Array(ChangedPath, { description: "What changed, path by path." }),
  added: Type.Integer({ description: "Lines, of all patches." }),
  removed: Type.Integer({ description: "Lines, of all patches." }),
  left_off: Type.Integer({ description: "Changed paths that are not listed, because there are too many." }),
});
export type Changes = Static<typeof Changes>;
