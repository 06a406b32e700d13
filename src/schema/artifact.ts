/** Artifacts as clients see them: what they are, who has them, and a short look at them. The bytes themselves are served as they are. */
import Type from "typebox";
import { nullable } from "./nullable.ts";

export const ArtifactReference = Type.Object(
  {
    stream_kind: Type.Enum(["session", "task"], { description: "What refers to it: a session or a task." }),
    id: Type.String({ description: "the session's or the task's id" }),
  },
  { title: "ArtifactReference" },
);
export type ArtifactReference = Type.Static<typeof ArtifactReference>;

export const Artifact = Type.Object(
  {
    artifact_id: Type.String({ description: "Names the stored bytes: `art_` and their sha256." }),
    path: Type.String({ description: "where its bytes are served" }),
    kind: Type.String({ description: "image, audio, tool_output, json, text or file" }),
    mime: Type.String({ description: "Media type, such as `image/png`." }),
    name: nullable(Type.String({ description: "File name it came with; null: it had none." })),
    bytes: Type.Integer({ description: "Size." }),
    digest: Type.String({ description: "sha256:<hex>" }),
    created_at: Type.String({ description: "When it was made: RFC 3339, UTC." }),
    references: Type.Array(ArtifactReference, { description: "who has it: it goes with the last of them" }),
  },
  { title: "Artifact" },
);
export type Artifact = Type.Static<typeof Artifact>;

export const ArtifactList = Type.Object({
  artifacts: Type.Array(Artifact, { description: "One page, in the order that was asked for." }),
  next: nullable(Type.String({ description: "the `before` of the following page" })),
});
export type ArtifactList = Type.Static<typeof ArtifactList>;

export const ArtifactQuery = Type.Object({
  kind: Type.Optional(
    Type.Enum(["image", "audio", "tool_output", "json", "text", "file"], { description: "Only artifacts of this kind." }),
  ),
  min_bytes: Type.Optional(Type.Integer({ minimum: 0, description: "only those that are at least this large" })),
  order: Type.Optional(Type.Enum(["newest", "largest"], { description: "By age or by size.", default: "newest" })),
  limit: Type.Optional(
    Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 500, default: 100 }),
  ),
  before: Type.Optional(Type.String({ pattern: "^[0-9]{1,16}\\.art_[0-9a-f]{64}$", description: "`next` of the page before" })),
});
export type ArtifactQuery = Type.Static<typeof ArtifactQuery>;

/** By what the bytes are, not by what somebody called them. */
export const ArtifactPreview = Type.Object(
  {
    artifact_id: Type.String({ description: "Names the stored bytes: `art_` and their sha256." }),
    format: Type.Enum(["text", "json", "diff", "image", "binary"], {
      description: "What the bytes are: it decides how they can be shown.",
    }),
    bytes: Type.Integer({ description: "Size of the whole artifact." }),
    head: Type.Optional(Type.String({ description: "how it begins; JSON is laid out" })),
    tail: Type.Optional(Type.String({ description: "how it ends; absent when the head is all of it" })),
    left_out: Type.Optional(Type.Integer({ description: "bytes between head and tail" })),
    width: Type.Optional(Type.Integer({ description: "Of an image, in pixels." })),
    height: Type.Optional(Type.Integer({ description: "Of an image, in pixels." })),
    files: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: "Path as the diff names it." }),
          added: Type.Integer({ description: "Lines that were added." }),
          removed: Type.Integer({ description: "Lines that were removed." }),
        }),
        {
          description: "of a diff: the files it changes, and how many lines",
        },
      ),
    ),
  },
  { title: "ArtifactPreview" },
);
export type ArtifactPreview = Type.Static<typeof ArtifactPreview>;
