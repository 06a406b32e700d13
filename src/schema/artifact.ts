/** Artifacts as clients see them: what they are, who has them, and a short look at them. The bytes themselves are served as they are. */
import Type from "typebox";

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const ArtifactReference = Type.Object(
  { stream_kind: Type.Enum(["session", "task"]), id: Type.String({ description: "the session's or the task's id" }) },
  { title: "ArtifactReference" },
);
export type ArtifactReference = Type.Static<typeof ArtifactReference>;

export const Artifact = Type.Object(
  {
    artifact_id: Type.String(),
    path: Type.String({ description: "where its bytes are served" }),
    kind: Type.String({ description: "image, audio, tool_output, json, text or file" }),
    mime: Type.String(),
    name: nullable(Type.String()),
    bytes: Type.Integer(),
    digest: Type.String({ description: "sha256:<hex>" }),
    created_at: Type.String(),
    references: Type.Array(ArtifactReference, { description: "who has it: it goes with the last of them" }),
  },
  { title: "Artifact" },
);
export type Artifact = Type.Static<typeof Artifact>;

export const ArtifactList = Type.Object({
  artifacts: Type.Array(Artifact),
  next: nullable(Type.String({ description: "the `before` of the following page" })),
});
export type ArtifactList = Type.Static<typeof ArtifactList>;

export const ArtifactQuery = Type.Object({
  kind: Type.Optional(Type.Enum(["image", "audio", "tool_output", "json", "text", "file"])),
  min_bytes: Type.Optional(Type.Integer({ minimum: 0, description: "only those that are at least this large" })),
  order: Type.Optional(Type.Enum(["newest", "largest"], { default: "newest" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 100 })),
  before: Type.Optional(Type.String({ pattern: "^[0-9]{1,16}\\.art_[0-9a-f]{64}$", description: "`next` of the page before" })),
});
export type ArtifactQuery = Type.Static<typeof ArtifactQuery>;

/** By what the bytes are, not by what somebody called them. */
export const ArtifactPreview = Type.Object(
  {
    artifact_id: Type.String(),
    format: Type.Enum(["text", "json", "diff", "image", "binary"]),
    bytes: Type.Integer(),
    head: Type.Optional(Type.String({ description: "how it begins; JSON is laid out" })),
    tail: Type.Optional(Type.String({ description: "how it ends; absent when the head is all of it" })),
    left_out: Type.Optional(Type.Integer({ description: "bytes between head and tail" })),
    width: Type.Optional(Type.Integer()),
    height: Type.Optional(Type.Integer()),
    files: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), added: Type.Integer(), removed: Type.Integer() }), {
        description: "of a diff: the files it changes, and how many lines",
      }),
    ),
  },
  { title: "ArtifactPreview" },
);
export type ArtifactPreview = Type.Static<typeof ArtifactPreview>;
