// Content parts: what an item is made of. Bytes never travel in a part; media carries the path of an artifact or of a file.
import Type from "typebox";

/** Where the whole of something lies that was too large for an event. */
export const ArtifactRef = Type.Object(
  {
    artifact_id: Type.String(),
    path: Type.String({ description: "/v1/artifacts/{artifact_id}" }),
    bytes: Type.Integer(),
    mime: Type.Optional(Type.String()),
  },
  { title: "ArtifactRef" },
);
export type ArtifactRef = Type.Static<typeof ArtifactRef>;

/** Text the model wrote, or a person sent. With `artifact`, `text` is its beginning and its end only. */
export const TextPart = Type.Object(
  {
    type: Type.Literal("text"),
    text: Type.String(),
    artifact: Type.Optional(ArtifactRef),
  },
  { title: "TextPart" },
);

export const JsonPart = Type.Object({ type: Type.Literal("json"), json: Type.Unknown() }, { title: "JsonPart" });

export const ToolKind = Type.Enum([
  "shell",
  "read",
  "write",
  "edit",
  "delete",
  "move",
  "search",
  "fetch",
  "web_search",
  "mcp",
  "subagent",
  "plan",
  "question",
  "skill",
  "think",
  "other",
]);
export type ToolKind = Type.Static<typeof ToolKind>;

/** `name` and `arguments` are the agent's own; `tool_kind`, `title` and `paths` are the same words for every agent. */
export const ToolCallPart = Type.Object(
  {
    type: Type.Literal("tool_call"),
    name: Type.String(),
    arguments: Type.String({ description: "JSON text" }),
    call_id: Type.String(),
    tool_kind: Type.Optional(ToolKind),
    title: Type.Optional(Type.String()),
    paths: Type.Optional(Type.Array(Type.String())),
  },
  { title: "ToolCallPart" },
);

export const ToolResultPart = Type.Object(
  {
    type: Type.Literal("tool_result"),
    call_id: Type.String(),
    output: Type.String(),
    is_error: Type.Optional(Type.Boolean()),
    exit_code: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    duration_ms: Type.Optional(Type.Number()),
    artifact: Type.Optional(ArtifactRef),
  },
  { title: "ToolResultPart" },
);

export const FileRefPart = Type.Object(
  {
    type: Type.Literal("file_ref"),
    path: Type.String(),
    action: Type.Enum(["read", "write", "patch"]),
    diff: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { title: "FileRefPart" },
);

export const ReasoningPart = Type.Object(
  {
    type: Type.Literal("reasoning"),
    text: Type.String(),
    visibility: Type.Enum(["public", "private"]),
  },
  { title: "ReasoningPart" },
);

export const ImagePart = Type.Object(
  {
    type: Type.Literal("image"),
    path: Type.String(),
    mime: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { title: "ImagePart" },
);

export const AudioPart = Type.Object(
  { type: Type.Literal("audio"), path: Type.String(), mime: Type.String() },
  { title: "AudioPart" },
);

export const StatusPart = Type.Object(
  {
    type: Type.Literal("status"),
    label: Type.String(),
    detail: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  },
  { title: "StatusPart" },
);

export const CodePart = Type.Object(
  { type: Type.Literal("code"), language: Type.Optional(Type.String()), code: Type.String() },
  { title: "CodePart" },
);

export const RefusalPart = Type.Object({ type: Type.Literal("refusal"), text: Type.String() }, { title: "RefusalPart" });

export const PlanEntry = Type.Object(
  {
    text: Type.String(),
    status: Type.Enum(["pending", "in_progress", "completed", "cancelled"]),
    priority: Type.Optional(Type.Enum(["high", "medium", "low"])),
  },
  { title: "PlanEntry" },
);
export type PlanEntry = Type.Static<typeof PlanEntry>;

export const PlanPart = Type.Object({ type: Type.Literal("plan"), entries: Type.Array(PlanEntry) }, { title: "PlanPart" });

export const ResourcePart = Type.Object(
  {
    type: Type.Literal("resource"),
    uri: Type.String(),
    mime: Type.Optional(Type.String()),
    text: Type.Optional(Type.String()),
  },
  { title: "ResourcePart" },
);

export const ContentPart = Type.Union(
  [
    TextPart,
    JsonPart,
    ToolCallPart,
    ToolResultPart,
    FileRefPart,
    ReasoningPart,
    ImagePart,
    AudioPart,
    StatusPart,
    CodePart,
    RefusalPart,
    PlanPart,
    ResourcePart,
  ],
  { title: "ContentPart" },
);
export type ContentPart = Type.Static<typeof ContentPart>;
export type ContentPartType = ContentPart["type"];
