// Content parts: what an item is made of. Bytes never travel in a part; media carries the path of an artifact or of a file.
import Type from "typebox";

/** Where the whole of something lies that was too large for an event. */
export const ArtifactRef = Type.Object(
  {
    artifact_id: Type.String({ description: "Names the stored bytes: `art_` and their sha256." }),
    path: Type.String({ description: "/v1/artifacts/{artifact_id}" }),
    bytes: Type.Integer({ description: "Size of the whole." }),
    mime: Type.Optional(Type.String({ description: "Media type, such as `image/png`." })),
  },
  { description: "Where the whole lies, when it was too large for an event.", title: "ArtifactRef" },
);
export type ArtifactRef = Type.Static<typeof ArtifactRef>;

/** Text the model wrote, or a person sent. With `artifact`, `text` is its beginning and its end only. */
export const TextPart = Type.Object(
  {
    type: Type.Literal("text"),
    text: Type.String({ description: "The text, Markdown as a rule." }),
    artifact: Type.Optional(ArtifactRef),
  },
  { title: "TextPart" },
);

export const JsonPart = Type.Object(
  { type: Type.Literal("json"), json: Type.Unknown({ description: "Any JSON value." }) },
  { title: "JsonPart" },
);

export const ToolKind = Type.Enum(
  [
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
  ],
  { description: "What kind of thing the tool does: the same words for every agent." },
);
export type ToolKind = Type.Static<typeof ToolKind>;

/** `name` and `arguments` are the agent's own; `tool_kind`, `title` and `paths` are the same words for every agent. */
export const ToolCallPart = Type.Object(
  {
    type: Type.Literal("tool_call"),
    name: Type.String({ description: "The agent's own name of the tool." }),
    arguments: Type.String({ description: "JSON text" }),
    call_id: Type.String({ description: "The agent's id of the tool call. The call and its result have the same one." }),
    tool_kind: Type.Optional(ToolKind),
    title: Type.Optional(Type.String({ description: "What the call does, in a few words for people." })),
    paths: Type.Optional(Type.Array(Type.String(), { description: "Files it is about, where they are known." })),
  },
  { title: "ToolCallPart" },
);

export const ToolResultPart = Type.Object(
  {
    type: Type.Literal("tool_result"),
    call_id: Type.String({ description: "The agent's id of the tool call. The call and its result have the same one." }),
    output: Type.String({ description: "What the tool gave back, as text." }),
    is_error: Type.Optional(Type.Boolean({ description: "The tool failed." })),
    exit_code: Type.Optional(
      Type.Union([Type.Integer(), Type.Null()], { description: "Of a command; null when a signal ended it." }),
    ),
    duration_ms: Type.Optional(Type.Number({ description: "How long the tool ran, in milliseconds." })),
    artifact: Type.Optional(ArtifactRef),
  },
  { title: "ToolResultPart" },
);

export const FileRefPart = Type.Object(
  {
    type: Type.Literal("file_ref"),
    path: Type.String({ description: "The file, relative to the session's directory where it lies inside." }),
    action: Type.Enum(["read", "write", "patch"], { description: "What was done with the file." }),
    diff: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: "The change as a unified diff; null where the agent does not report it.",
      }),
    ),
  },
  { title: "FileRefPart" },
);

export const ReasoningPart = Type.Object(
  {
    type: Type.Literal("reasoning"),
    text: Type.String({ description: "What the model thought." }),
    visibility: Type.Enum(["public", "private"], { description: "private: the provider does not want it shown as it is." }),
  },
  { title: "ReasoningPart" },
);

export const ImagePart = Type.Object(
  {
    type: Type.Literal("image"),
    path: Type.String({ description: "Where the bytes are: the path of an artifact or of a file." }),
    mime: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: "Media type, such as `image/png`." })),
  },
  { title: "ImagePart" },
);

export const AudioPart = Type.Object(
  {
    type: Type.Literal("audio"),
    path: Type.String({ description: "Where the bytes are: the path of an artifact or of a file." }),
    mime: Type.String({ description: "Media type, such as `image/png`." }),
  },
  { title: "AudioPart" },
);

export const StatusPart = Type.Object(
  {
    type: Type.Literal("status"),
    label: Type.String({ description: "What happened, in a word or two." }),
    detail: Type.Optional(Type.Union([Type.String(), Type.Null()], { description: "More about it." })),
  },
  { title: "StatusPart" },
);

export const CodePart = Type.Object(
  {
    type: Type.Literal("code"),
    language: Type.Optional(Type.String({ description: "Programming language, where it is known." })),
    code: Type.String({ description: "The source text." }),
  },
  { title: "CodePart" },
);

export const RefusalPart = Type.Object(
  { type: Type.Literal("refusal"), text: Type.String({ description: "How the model declined." }) },
  { title: "RefusalPart" },
);

export const PlanEntry = Type.Object(
  {
    text: Type.String({ description: "What is to be done." }),
    status: Type.Enum(["pending", "in_progress", "completed", "cancelled"], { description: "How far it is." }),
    priority: Type.Optional(Type.Enum(["high", "medium", "low"], { description: "How important the agent thinks it is." })),
  },
  { title: "PlanEntry" },
);
export type PlanEntry = Type.Static<typeof PlanEntry>;

export const PlanPart = Type.Object(
  {
    type: Type.Literal("plan"),
    entries: Type.Array(PlanEntry, { description: "The whole plan, in order. A later version replaces it." }),
  },
  { title: "PlanPart" },
);

export const ResourcePart = Type.Object(
  {
    type: Type.Literal("resource"),
    uri: Type.String({ description: "Where the resource is." }),
    name: Type.Optional(Type.String({ description: "What it is called, for people." })),
    bytes: Type.Optional(Type.Integer({ description: "Its size, where it is known.", minimum: 0 })),
    mime: Type.Optional(Type.String({ description: "Media type, such as `image/png`." })),
    text: Type.Optional(Type.String({ description: "Its text, where it came along." })),
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
