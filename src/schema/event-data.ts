// The `data` of every event type, one schema a type. The table `eventData` at the end is the list of all event types there are.
import Type from "typebox";
import { Actor } from "./actor.ts";
import { ArtifactRef } from "./content.ts";
import { Item } from "./item.ts";

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const optional = Type.Optional;
const Text = Type.String();
const Metadata = Type.Record(Type.String(), Type.Unknown());

export const StopReason = Type.Enum(["end_turn", "interrupted", "error", "refusal", "output_length", "max_turns", "max_budget"]);
export type StopReason = Type.Static<typeof StopReason>;

/** The canonical error codes: whatever the agent, the same fault has the same code. */
export const ErrorCode = Type.Enum([
  "provider_auth",
  "api_error",
  "context_overflow",
  "output_length",
  "aborted",
  "rate_limit",
  "max_turns",
  "max_budget",
  "execution_error",
  "unknown",
]);
export type ErrorCode = Type.Static<typeof ErrorCode>;

export const Usage = Type.Object({
  input_tokens: Type.Number(),
  output_tokens: Type.Number(),
  reasoning_tokens: optional(Type.Number()),
  cache_read_tokens: optional(Type.Number()),
  cache_write_tokens: optional(Type.Number()),
  cost_usd: optional(Type.Number()),
  context_used: optional(Type.Number()),
  context_window: optional(Type.Number()),
});
export type Usage = Type.Static<typeof Usage>;

export const StderrOutput = Type.Object({
  head: nullable(Text),
  tail: nullable(Text),
  truncated: Type.Boolean(),
  total_lines: optional(Type.Integer()),
});
export type StderrOutput = Type.Static<typeof StderrOutput>;

export const SessionStatusName = Type.Enum(["idle", "running", "waiting", "retrying", "compacting", "stalled", "dormant"]);
export type SessionStatusName = Type.Static<typeof SessionStatusName>;

export const SessionStarted = Type.Object({ metadata: Metadata });

export const SessionEnded = Type.Object({
  reason: Type.Enum(["completed", "error", "terminated"]),
  terminated_by: Type.Enum(["agent", "daemon"]),
  message: optional(Text),
  exit_code: optional(nullable(Type.Integer())),
  signal: optional(nullable(Text)),
  stderr: optional(StderrOutput),
  /** Who ended it, when somebody did. */
  actor: optional(Actor),
});
export type SessionEnded = Type.Static<typeof SessionEnded>;

export const ItemEvent = Type.Object({ item: Item });

export const DeltaPartType = Type.Enum(["text", "reasoning", "refusal", "tool_arguments", "tool_output"]);
export type DeltaPartType = Type.Static<typeof DeltaPartType>;

export const ItemDelta = Type.Object({
  item_id: Text,
  native_item_id: nullable(Text),
  part_index: Type.Integer({ minimum: 0 }),
  part_type: DeltaPartType,
  /** Of a tool's output, where the agent tells the two apart. */
  stream: optional(Type.Enum(["stdout", "stderr"])),
  /** Of reasoning that is not meant to be shown. */
  visibility: optional(Type.Literal("private")),
  delta: Text,
});
export type DeltaNature = Pick<Type.Static<typeof ItemDelta>, "stream" | "visibility">;

export const ItemRemoved = Type.Object({ item_id: Text, native_item_id: nullable(Text), reason: Text });

export const ErrorDetails = Type.Object({
  error_source: Type.Enum(["agent", "provider", "transport", "daemon"]),
  native_code: optional(nullable(Type.Union([Type.String(), Type.Number()]))),
  retryable: optional(Type.Boolean()),
  retry_after_ms: optional(Type.Number()),
  /** Of the agent's process, when its end is the error. */
  exit_code: optional(nullable(Type.Integer())),
  signal: optional(nullable(Text)),
  stderr: optional(StderrOutput),
});
export type ErrorDetails = Type.Static<typeof ErrorDetails>;

export const ErrorData = Type.Object({ message: Text, code: ErrorCode, details: ErrorDetails });
export type ErrorData = Type.Static<typeof ErrorData>;

export const PermissionOption = Type.Object({
  id: Text,
  label: Text,
  kind: Type.Enum(["allow_once", "allow_always", "reject_once", "reject_always"]),
});
export type PermissionOption = Type.Static<typeof PermissionOption>;

export const ResolvedBy = Type.Enum(["client", "policy", "agent", "session_end"]);
export type ResolvedBy = Type.Static<typeof ResolvedBy>;

/** What a reply to a permission comes down to, whichever option was chosen. */
export const PlainReply = Type.Enum(["once", "always", "reject"]);
export type PlainReply = Type.Static<typeof PlainReply>;

export const PermissionMetadata = Type.Object({
  tool_name: Text,
  input: Type.Unknown(),
  call_id: nullable(Text),
  item_id: nullable(Text),
  reason: optional(Text),
  options: Type.Array(PermissionOption),
  diff: optional(Text),
  paths: optional(Type.Array(Text)),
  resolved_by: optional(ResolvedBy),
  reply: optional(PlainReply),
  option_id: optional(Text),
  message: optional(Text),
  updated_input: optional(Type.Unknown()),
  /** sha256 of the exact input, as canonical JSON: what an approval is bound to. */
  input_hash: optional(Text),
  /** Who answered. */
  actor: optional(Actor),
});
export type PermissionMetadata = Type.Static<typeof PermissionMetadata>;

export const PermissionData = Type.Object({
  permission_id: Text,
  action: Text,
  status: Type.Enum(["requested", "approved", "denied"]),
  metadata: PermissionMetadata,
});
export type PermissionData = Type.Static<typeof PermissionData>;

export const QuestionPrompt = Type.Object({
  prompt: Text,
  header: optional(Text),
  options: Type.Array(Type.Object({ label: Text, description: optional(Text) })),
  multi_select: Type.Boolean(),
  free_text: Type.Boolean(),
});
export type QuestionPrompt = Type.Static<typeof QuestionPrompt>;

export const QuestionData = Type.Object({
  question_id: Text,
  prompt: Text,
  options: Type.Array(Text),
  response: nullable(Text),
  status: Type.Enum(["requested", "answered", "rejected"]),
  questions: Type.Array(QuestionPrompt),
  answers: optional(Type.Array(Type.Array(Text))),
  call_id: optional(nullable(Text)),
  item_id: optional(nullable(Text)),
  resolved_by: optional(ResolvedBy),
  /** Who answered. */
  actor: optional(Actor),
  metadata: optional(Metadata),
});
export type QuestionData = Type.Static<typeof QuestionData>;

export const AgentUnparsed = Type.Object({ error: Text, location: Text, raw_hash: optional(Text) });
export const AgentNotice = Type.Object({ name: Text, detail: optional(Type.Unknown()) });

/** A file that came with a message. Its bytes are in the artifact store. */
export const StoredAttachment = Type.Object({
  name: Text,
  mime: Text,
  artifact_id: Type.String({ pattern: "^art_[0-9a-f]{64}$" }),
  path: nullable(Text),
});
export type StoredAttachment = Type.Static<typeof StoredAttachment>;

/** A message was accepted. It waits at the end of the queue until a turn names it, or it is removed. */
export const MessageQueued = Type.Object({
  message_id: Type.String({ minLength: 1 }),
  /** The id that its turn will have. */
  turn_id: Type.String({ minLength: 1 }),
  text: Text,
  /** The text is a command of the agent that the person chose. */
  command: optional(Type.Boolean()),
  attachments: optional(Type.Array(StoredAttachment)),
  /** How many deliveries to the agent were begun. Absent: none. */
  attempts: optional(Type.Integer({ minimum: 0 })),
  /** Who sent it. */
  actor: optional(Actor),
});
export type MessageQueued = Type.Static<typeof MessageQueued>;

/** A queued message was changed: what is left out stays. */
export const MessageUpdated = Type.Object({
  message_id: Type.String({ minLength: 1 }),
  text: optional(Text),
  /** Its new place in the queue; 0 is delivered next. */
  position: optional(Type.Integer({ minimum: 0 })),
  /** How many deliveries to the agent were begun. */
  attempts: optional(Type.Integer({ minimum: 0 })),
  /** Who changed it; absent when the daemon counts a delivery. */
  actor: optional(Actor),
});
export type MessageUpdated = Type.Static<typeof MessageUpdated>;

/** `steered`: it went into the running turn. `refused`: its sender was told that it was not accepted. `imported`: a file brought it in. */
export const MessageRemovedReason = Type.Enum(["client", "steered", "refused", "imported", "session_ended"]);
export type MessageRemovedReason = Type.Static<typeof MessageRemovedReason>;

/** A queued message will have no turn of its own. */
export const MessageRemoved = Type.Object({
  message_id: Type.String({ minLength: 1 }),
  reason: MessageRemovedReason,
  /** The turn it went into, when it was steered. */
  turn_id: optional(Text),
  /** Who removed it, when somebody did. */
  actor: optional(Actor),
});
export type MessageRemoved = Type.Static<typeof MessageRemoved>;

export const TurnStarted = Type.Object({
  turn_id: Text,
  initiator: Type.Enum(["client", "agent"]),
  /** The queued message that this turn takes out of the queue. */
  message_id: optional(Text),
  /** Who sent the message that began it. */
  actor: optional(Actor),
});
export const TurnEnded = Type.Object({
  turn_id: Text,
  stop_reason: StopReason,
  error_code: optional(ErrorCode),
  usage: optional(Usage),
  /** Who interrupted it, when somebody did. */
  actor: optional(Actor),
});
export const StepStarted = Type.Object({ step_id: Text, turn_id: Text });
export const StepEnded = Type.Object({
  step_id: Text,
  turn_id: Text,
  finish_reason: optional(Text),
  usage: optional(Usage),
  cost_usd: optional(Type.Number()),
});

export const SessionStatusData = Type.Object({
  status: SessionStatusName,
  detail: optional(Text),
  attempt: optional(Type.Integer()),
  retry_at: optional(Text),
});
export type SessionStatusData = Type.Static<typeof SessionStatusData>;

export const SessionUpdated = Type.Object({
  title: optional(Text),
  /** How a person files it; absent: not changed. */
  tags: optional(Type.Array(Text)),
  archived: optional(Type.Boolean()),
  pinned: optional(Type.Boolean()),
  metadata: optional(Metadata),
  /** Who asked for the change; absent when the agent made it. */
  actor: optional(Actor),
});
export const SessionCompacted = Type.Object({
  trigger: Type.Enum(["auto", "manual", "unknown"]),
  pre_tokens: optional(Type.Number()),
  post_tokens: optional(Type.Number()),
  summary: optional(Text),
});

export const CommandInfo = Type.Object({ name: Text, description: optional(Text), input_hint: optional(Text) });
export const ModelInfo = Type.Object({
  id: Text,
  name: optional(Text),
  description: optional(Text),
  variants: optional(Type.Array(Text)),
  is_default: optional(Type.Boolean()),
  context_window: optional(Type.Number()),
});
export type ModelInfo = Type.Static<typeof ModelInfo>;
export const ModeInfo = Type.Object({ id: Text, name: optional(Text), description: optional(Text) });
export type ModeInfo = Type.Static<typeof ModeInfo>;
export const McpServerInfo = Type.Object({
  name: Text,
  status: Type.String({ description: "starting, connected, failed, needs_auth, disabled, or a word of the agent's own" }),
  error: optional(Text),
});
export const ConfigOption = Type.Object({
  id: Text,
  name: optional(Text),
  value: Type.Unknown(),
  choices: optional(Type.Array(Type.Object({ value: Type.Unknown(), name: optional(Text), description: optional(Text) }))),
});

export const PermissionMode = Type.Enum(["default", "plan", "accept_edits", "bypass"]);
export type PermissionMode = Type.Static<typeof PermissionMode>;

/** Everything optional: the event says what changed, and only that. Lists replace the older list whole. */
export const ConfigChanged = Type.Object({
  model: optional(nullable(Text)),
  variant: optional(nullable(Text)),
  agent_mode: optional(nullable(Text)),
  permission_mode: optional(Type.Union([PermissionMode, Type.String()])),
  commands: optional(Type.Array(CommandInfo)),
  models: optional(Type.Array(ModelInfo)),
  modes: optional(Type.Array(ModeInfo)),
  mcp_servers: optional(Type.Array(McpServerInfo)),
  tools: optional(Type.Array(Text)),
  options: optional(Type.Array(ConfigOption)),
  /** Who asked for the change; absent when the agent made it. */
  actor: optional(Actor),
});
export type ConfigChanged = Type.Static<typeof ConfigChanged>;

export const UsageUpdated = Type.Intersect([Type.Object({ scope: Type.Enum(["step", "turn", "session"]) }), Usage]);
export const LimitsUpdated = Type.Object({
  windows: Type.Array(
    Type.Object({ name: Text, used_percent: optional(Type.Number()), resets_at: optional(Text), status: optional(Text) }),
  ),
});
export const AuthStatus = Type.Object({
  status: Type.Enum(["ok", "required", "in_progress", "failed"]),
  message: optional(Text),
  url: optional(Text),
});

export const TeamMessage = Type.Object({ from: Text, to: Text, text: Text, metadata: optional(Metadata) });
export const TeamTaskUpdated = Type.Object({
  task_id: Text,
  title: optional(Text),
  status: Text,
  owner: optional(nullable(Text)),
  metadata: optional(Metadata),
});
export const TeamStateChanged = Type.Object({
  members: Type.Array(Type.Object({ name: Text, status: Text, role: optional(Text) })),
  metadata: optional(Metadata),
});

export const CheckpointCreated = Type.Object({
  checkpoint_id: Text,
  label: Text,
  created_at: Text,
  files: Type.Array(Text),
  auto: Type.Boolean(),
  tool_name: nullable(Text),
});
export const CheckpointRewound = Type.Object({ checkpoint_id: Text, label: Text, files: Type.Array(Text) });
export const CheckpointFailed = Type.Object({ action: Type.Enum(["create", "rewind"]), error: Text });

export const ArtifactWritten = Type.Object({
  artifact_id: Text,
  kind: Type.Enum(["image", "audio", "tool_output", "json", "text", "file"]),
  bytes: Type.Integer(),
  digest: Type.String({ description: "sha256:<hex>" }),
  mime: optional(Text),
  preview: optional(Text),
});

export const SkillCatalogUpdated = Type.Object({
  count: Type.Integer(),
  roots: Type.Array(Text),
  collisions: optional(Type.Array(Text)),
});
export const SkillLoaded = Type.Object({
  name: Text,
  path: Text,
  digest: Text,
  frontmatter: Metadata,
  warnings: optional(Type.Array(Text)),
});
export const SkillInvoked = Type.Object({
  name: Text,
  args: optional(Text),
  mode: Type.Enum(["manual", "auto"]),
  effective_allowed_tools: optional(Type.Array(Text)),
});
export const SkillWarning = Type.Object({ name: optional(Text), kind: Text, detail: Text });

/** Who asked for it. */
const TaskActor = { actor: optional(Actor) };
const TaskArtifacts = { artifacts: optional(Type.Array(ArtifactRef)) };
export const TaskOwner = Type.Enum(["daemon", "agent"], {
  description: "Whose process it is. The agent's own: it told of it, and only it can do something with it. Default daemon.",
});
export const TaskControl = Type.Enum(["stdin", "resize", "signal", "cancel"]);
export type TaskControl = Type.Static<typeof TaskControl>;
export const TaskControls = Type.Array(TaskControl, { description: "What a client can do with it while it runs." });
export const TaskSpawned = Type.Object({
  task_id: Text,
  tool_name: Text,
  args: Type.Unknown(),
  cwd: optional(Text),
  title: optional(Text),
  execution_mode: Type.Enum(["pipes", "pty"]),
  origin_session_id: optional(nullable(Text)),
  owner: optional(TaskOwner),
  controls: optional(TaskControls),
  ...TaskActor,
  ...TaskArtifacts,
});
export const TaskStatus = Type.Object({
  task_id: Text,
  status: Type.Enum(["queued", "running", "exited", "cancelled", "failed"]),
  exit_code: optional(nullable(Type.Integer())),
  signal: optional(nullable(Text)),
  started_at: optional(Text),
  ended_at: optional(Text),
  error: optional(Text),
  ...TaskArtifacts,
});
export const TaskOutput = Type.Object({
  task_id: Text,
  stream: Type.Enum(["stdout", "stderr", "pty"]),
  chunk: Text,
  /** Place of the chunk in its stream, and how much of it the chunk stands for, in bytes: invalid UTF-8 is replaced in the text, not in the count. */
  offset: optional(Type.Integer({ minimum: 0 })),
  bytes: optional(Type.Integer({ minimum: 0 })),
  ...TaskArtifacts,
});
export const TaskStdin = Type.Object({ task_id: Text, chunk_b64: Text, ...TaskActor });
export const TaskResized = Type.Object({ task_id: Text, rows: Type.Integer(), cols: Type.Integer(), ...TaskActor });
export const TaskSignalled = Type.Object({ task_id: Text, signal: Text, ...TaskActor });
export const TaskCancelRequested = Type.Object({ task_id: Text, reason: Text, ...TaskActor });
export const TaskCancelled = Type.Object({ task_id: Text, reason: Text, wall_time_ms: optional(Type.Number()) });

/** Every event type and the schema of its data. */
export const eventData = {
  "session.started": SessionStarted,
  "session.ended": SessionEnded,
  "item.started": ItemEvent,
  "item.delta": ItemDelta,
  "item.completed": ItemEvent,
  error: ErrorData,
  "permission.requested": PermissionData,
  "permission.resolved": PermissionData,
  "question.requested": QuestionData,
  "question.resolved": QuestionData,
  "agent.unparsed": AgentUnparsed,
  "message.queued": MessageQueued,
  "message.updated": MessageUpdated,
  "message.removed": MessageRemoved,
  "turn.started": TurnStarted,
  "turn.ended": TurnEnded,
  "step.started": StepStarted,
  "step.ended": StepEnded,
  "item.updated": ItemEvent,
  "item.removed": ItemRemoved,
  "session.status": SessionStatusData,
  "session.updated": SessionUpdated,
  "session.compacted": SessionCompacted,
  "config.changed": ConfigChanged,
  "usage.updated": UsageUpdated,
  "limits.updated": LimitsUpdated,
  "auth.status": AuthStatus,
  "team.message": TeamMessage,
  "team.task_updated": TeamTaskUpdated,
  "team.state_changed": TeamStateChanged,
  "checkpoint.created": CheckpointCreated,
  "checkpoint.rewound": CheckpointRewound,
  "checkpoint.failed": CheckpointFailed,
  "artifact.written": ArtifactWritten,
  "skill.catalog_updated": SkillCatalogUpdated,
  "skill.loaded": SkillLoaded,
  "skill.invoked": SkillInvoked,
  "skill.warning": SkillWarning,
  "task.spawned": TaskSpawned,
  "task.status": TaskStatus,
  "task.output": TaskOutput,
  "task.stdin": TaskStdin,
  "task.resized": TaskResized,
  "task.signalled": TaskSignalled,
  "task.cancel_requested": TaskCancelRequested,
  "task.cancelled": TaskCancelled,
  "agent.notice": AgentNotice,
} as const;

export type EventType = keyof typeof eventData;
export type EventDataOf = { [T in EventType]: Type.Static<(typeof eventData)[T]> };
