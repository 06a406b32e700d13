// The `data` of every event type, one schema a type. The table `eventData` at the end is the list of all event types there are.
import Type from "typebox";
import { Actor } from "./actor.ts";
import { ArtifactRef } from "./content.ts";
import { Item } from "./item.ts";
import { nullable } from "./nullable.ts";

const optional = Type.Optional;
const Text = Type.String();

export const StopReason = Type.Enum(["end_turn", "interrupted", "error", "refusal", "output_length", "max_turns", "max_budget"], {
  description: "Why the turn ended.",
});
export type StopReason = Type.Static<typeof StopReason>;

/** The canonical error codes: whatever the agent, the same fault has the same code. */
export const ErrorCode = Type.Enum(
  [
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
  ],
  { description: "The same fault has the same code, whatever the agent." },
);
export type ErrorCode = Type.Static<typeof ErrorCode>;

export const Usage = Type.Object(
  {
    input_tokens: Type.Number({ description: "Tokens the model read, cached ones included." }),
    output_tokens: Type.Number({ description: "Tokens the model wrote." }),
    reasoning_tokens: optional(Type.Number({ description: "Of the output: tokens of thinking." })),
    cache_read_tokens: optional(Type.Number({ description: "Of the input: tokens read from the provider's cache." })),
    cache_write_tokens: optional(Type.Number({ description: "Of the input: tokens written to the provider's cache." })),
    cost_usd: optional(Type.Number({ description: "Cost in US dollars, as the agent says it. Absent: it does not." })),
    context_used: optional(Type.Number({ description: "Tokens that the conversation takes of the model's context." })),
    context_window: optional(Type.Number({ description: "Tokens that fit into the model's context." })),
  },
  { description: "Tokens and cost." },
);
export type Usage = Type.Static<typeof Usage>;

export const StderrOutput = Type.Object(
  {
    head: nullable(Type.String({ description: "The first lines; null: there were none." })),
    tail: nullable(Type.String({ description: "The last lines; null: the head is all there is." })),
    truncated: Type.Boolean({ description: "Lines between head and tail are left out." }),
    total_lines: optional(Type.Integer({ description: "How many lines there were." })),
  },
  { description: "What the process wrote to its standard error." },
);
export type StderrOutput = Type.Static<typeof StderrOutput>;

export const SessionStatusName = Type.Enum(["idle", "running", "waiting", "retrying", "compacting", "stalled", "dormant"], {
  description: "What the session does now.",
});
export type SessionStatusName = Type.Static<typeof SessionStatusName>;

export const SessionStarted = Type.Object({
  metadata: Type.Record(Type.String(), Type.Unknown(), {
    description: "What the session began with: agent, version, directory and the like.",
  }),
});

export const SessionEnded = Type.Object(
  {
    reason: Type.Enum(["completed", "error", "terminated"], {
      description: "completed: it was finished. error: the agent could not go on. terminated: somebody ended it.",
    }),
    terminated_by: Type.Enum(["agent", "daemon"], { description: "Which side ended it." }),
    message: optional(Type.String({ description: "A sentence for people." })),
    exit_code: optional(nullable(Type.Integer({ description: "Exit code of the process; null when a signal ended it." }))),
    signal: optional(
      nullable(Type.String({ description: "Name of the signal that ended the process, such as `SIGKILL`; null when none did." })),
    ),
    stderr: optional(StderrOutput),
    /** Who ended it, when somebody did. */
    actor: optional(Actor),
  },
  { description: "How the session ended." },
);
export type SessionEnded = Type.Static<typeof SessionEnded>;

export const ItemEvent = Type.Object({ item: Item });

export const DeltaPartType = Type.Enum(["text", "reasoning", "refusal", "tool_arguments", "tool_output"], {
  description: "What kind of text grows.",
});
export type DeltaPartType = Type.Static<typeof DeltaPartType>;

export const ItemDelta = Type.Object({
  item_id: Type.String({ description: "Id of the item." }),
  native_item_id: nullable(Type.String({ description: "The agent's own id of the item; null where it gave none." })),
  part_index: Type.Integer({ description: "Which part of the item's content grows.", minimum: 0 }),
  part_type: DeltaPartType,
  stream: optional(Type.Enum(["stdout", "stderr"], { description: "Of a tool's output, where the agent separates the two." })),
  visibility: optional(Type.Literal("private", { description: "Of reasoning that is not meant to be shown." })),
  delta: Type.String({ description: "The text to append." }),
});
export type DeltaNature = Pick<Type.Static<typeof ItemDelta>, "stream" | "visibility">;

export const ItemRemoved = Type.Object({
  item_id: Type.String({ description: "Id of the item." }),
  native_item_id: nullable(Type.String({ description: "The agent's own id of the item; null where it gave none." })),
  reason: Type.String({ description: "Why the agent took it back." }),
});

export const ErrorDetails = Type.Object(
  {
    error_source: Type.Enum(["agent", "provider", "transport", "daemon"], { description: "Where the error came from." }),
    native_code: optional(
      nullable(Type.Union([Type.String(), Type.Number()], { description: "The agent's or provider's own code." })),
    ),
    retryable: optional(Type.Boolean({ description: "Whether trying again may help." })),
    retry_after_ms: optional(Type.Number({ description: "How long to wait before the next try." })),
    exit_code: optional(nullable(Type.Integer({ description: "Exit code of the process; null when a signal ended it." }))),
    signal: optional(
      nullable(Type.String({ description: "Name of the signal that ended the process, such as `SIGKILL`; null when none did." })),
    ),
    stderr: optional(StderrOutput),
  },
  { description: "Where the error came from, and whether trying again may help." },
);
export type ErrorDetails = Type.Static<typeof ErrorDetails>;

export const ErrorData = Type.Object({
  message: Type.String({ description: "A sentence for people." }),
  code: ErrorCode,
  details: ErrorDetails,
});
export type ErrorData = Type.Static<typeof ErrorData>;

export const LastError = Type.Object(
  {
    code: ErrorCode,
    message: Type.String({ description: "A sentence for people; of a long one the beginning." }),
    time: Type.String({ description: "When it was reported: RFC 3339, UTC." }),
  },
  { description: "The error that ended its last turn, or came after it." },
);
export type LastError = Type.Static<typeof LastError>;

export const PermissionOption = Type.Object({
  id: Type.String({ description: "To be sent back as `option_id`." }),
  label: Type.String({ description: "The agent's own words for the choice." }),
  kind: Type.Enum(["allow_once", "allow_always", "reject_once", "reject_always"], { description: "What choosing it means." }),
});
export type PermissionOption = Type.Static<typeof PermissionOption>;

export const ResolvedBy = Type.Enum(["client", "policy", "agent", "session_end"], {
  description: "Who settled it. session_end: nobody did before the session ended.",
});
export type ResolvedBy = Type.Static<typeof ResolvedBy>;

/** What a reply to a permission comes down to, whichever option was chosen. */
export const PlainReply = Type.Enum(["once", "always", "reject"], {
  description: "What the answer comes down to, whichever option was chosen.",
});
export type PlainReply = Type.Static<typeof PlainReply>;

export const PermissionMetadata = Type.Object(
  {
    tool_name: Type.String({ description: "The agent's name of the tool." }),
    input: Type.Unknown({ description: "What the tool would get, exactly." }),
    call_id: nullable(Type.String({ description: "The tool call it is about; null where the agent does not report it." })),
    item_id: nullable(Type.String({ description: "The item it is about; null where the agent does not report it." })),
    reason: optional(Type.String({ description: "Why the agent asks." })),
    options: Type.Array(PermissionOption, { description: "The agent's own choices." }),
    diff: optional(
      Type.String({
        description:
          "The change it would make, as a unified diff. Lines count from the piece that changes where the agent does not say where it stands.",
      }),
    ),
    paths: optional(Type.Array(Text, { description: "Files it is about." })),
    resolved_by: optional(ResolvedBy),
    reply: optional(PlainReply),
    option_id: optional(Type.String({ description: "The option that was chosen." })),
    message: optional(Type.String({ description: "What the person said with the answer." })),
    updated_input: optional(Type.Unknown({ description: "The input the person allowed instead." })),
    input_hash: optional(
      Type.String({ description: "sha256 of the exact input, as canonical JSON: what an approval is bound to." }),
    ),
    /** Who answered. */
    actor: optional(Actor),
  },
  { description: "What is asked, and how it was answered." },
);
export type PermissionMetadata = Type.Static<typeof PermissionMetadata>;

export const PermissionData = Type.Object(
  {
    permission_id: Type.String({ description: "Id of the request." }),
    action: Type.String({ description: "What the agent wants to do, in a few words." }),
    status: Type.Enum(["requested", "approved", "denied"], { description: "requested until it is answered." }),
    metadata: PermissionMetadata,
  },
  { description: "A request for permission." },
);
export type PermissionData = Type.Static<typeof PermissionData>;

export const QuestionPrompt = Type.Object({
  prompt: Type.String({ description: "The question." }),
  header: optional(Type.String({ description: "A short heading for it." })),
  options: Type.Array(
    Type.Object({
      label: Type.String({ description: "The answer, as it is sent back." }),
      description: optional(Type.String({ description: "What choosing it means." })),
    }),
    { description: "Answers to choose from." },
  ),
  multi_select: Type.Boolean({ description: "Several may be chosen." }),
  free_text: Type.Boolean({ description: "Any other text may be answered." }),
  secret: optional(
    Type.Boolean({ description: "true: the answer is a secret. Do not show it while it is typed; no event holds it." }),
  ),
});
export type QuestionPrompt = Type.Static<typeof QuestionPrompt>;

export const QuestionData = Type.Object(
  {
    question_id: Type.String({ description: "Id of the request." }),
    prompt: Type.String({ description: "The first question." }),
    options: Type.Array(Text, { description: "The first question's answers to choose from." }),
    response: nullable(Type.String({ description: "The answer to the first question; null until it is answered." })),
    status: Type.Enum(["requested", "answered", "rejected"], { description: "requested until it is answered." }),
    questions: Type.Array(QuestionPrompt, { description: "All questions that are asked at once." }),
    answers: optional(Type.Array(Type.Array(Text), { description: "For each question, the answers that were given." })),
    call_id: optional(nullable(Type.String({ description: "The tool call it is about." }))),
    item_id: optional(nullable(Type.String({ description: "The item it is about." }))),
    resolved_by: optional(ResolvedBy),
    /** Who answered. */
    actor: optional(Actor),
    metadata: optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "Further facts in the agent's or the client's own words. The daemon does not interpret them.",
      }),
    ),
  },
  { description: "A question to a person." },
);
export type QuestionData = Type.Static<typeof QuestionData>;

export const AgentUnparsed = Type.Object({
  error: Type.String({ description: "Why the message was not understood." }),
  location: Type.String({ description: "Where it came from: the agent and the kind of message." }),
  raw_hash: optional(Type.String({ description: "sha256 of the message's bytes, to find it in the ledger." })),
});
export const AgentNotice = Type.Object({
  name: Type.String({ description: "What it is, in the agent's words." }),
  detail: optional(Type.Unknown({ description: "The rest of the native message." })),
});

/** A file that came with a message. Its bytes are in the artifact store. */
export const StoredAttachment = Type.Object({
  name: Type.String({ description: "File name." }),
  mime: Type.String({ description: "Media type, such as `image/png`." }),
  artifact_id: Type.String({ description: "Names the stored bytes: `art_` and their sha256.", pattern: "^art_[0-9a-f]{64}$" }),
  path: nullable(Type.String({ description: "Where the agent finds the file; null: it gets the bytes." })),
});
export type StoredAttachment = Type.Static<typeof StoredAttachment>;

/** A message was accepted. It waits at the end of the queue until a turn names it, or it is removed. */
export const MessageQueued = Type.Object({
  message_id: Type.String({ description: "Id of the message in the queue.", minLength: 1 }),
  turn_id: Type.String({ description: "Id of the turn.", minLength: 1 }),
  text: Type.String({ description: "What it says." }),
  command: optional(Type.Boolean({ description: "The text is a command of the agent that the person chose." })),
  attachments: optional(Type.Array(StoredAttachment, { description: "Files that came with it." })),
  attempts: optional(Type.Integer({ description: "How many deliveries to the agent were begun. Absent: none.", minimum: 0 })),
  steering: optional(
    Type.String({
      description: "The running turn that it is being given to. The agent may have it: it is given to no other.",
      minLength: 1,
    }),
  ),
  /** Who sent it. */
  actor: optional(Actor),
});
export type MessageQueued = Type.Static<typeof MessageQueued>;

/** A queued message was changed: what is left out stays. */
export const MessageUpdated = Type.Object({
  message_id: Type.String({ description: "Id of the message in the queue.", minLength: 1 }),
  text: optional(Type.String({ description: "What it says instead." })),
  position: optional(Type.Integer({ description: "Its new place in the queue; 0 is delivered next.", minimum: 0 })),
  attempts: optional(Type.Integer({ description: "How many deliveries to the agent were begun.", minimum: 0 })),
  steering: optional(
    nullable(
      Type.String({ description: "The running turn that it is being given to; null: that turn did not take it.", minLength: 1 }),
    ),
  ),
  /** Who changed it; absent when the daemon counts a delivery. */
  actor: optional(Actor),
});
export type MessageUpdated = Type.Static<typeof MessageUpdated>;

/** `steered`: it went into the running turn. `refused`: its sender was informed that it was not accepted. `imported`: a file brought it in. */
export const MessageRemovedReason = Type.Enum(["client", "steered", "refused", "imported", "session_ended"], {
  description:
    "Why it left the queue. steered: it went into the running turn. refused: its sender was informed that it was not accepted. imported: a file brought it in.",
});
export type MessageRemovedReason = Type.Static<typeof MessageRemovedReason>;

/** A queued message will have no turn of its own. */
export const MessageRemoved = Type.Object({
  message_id: Type.String({ description: "Id of the message in the queue.", minLength: 1 }),
  reason: MessageRemovedReason,
  turn_id: optional(Type.String({ description: "Id of the turn." })),
  /** Who removed it, when somebody did. */
  actor: optional(Actor),
});
export type MessageRemoved = Type.Static<typeof MessageRemoved>;

export const TurnStarted = Type.Object({
  turn_id: Type.String({ description: "Id of the turn." }),
  initiator: Type.Enum(["client", "agent"], {
    description: "client: a message began it. agent: the agent began by itself, for instance when a background command ended.",
  }),
  message_id: optional(Type.String({ description: "Id of the message in the queue." })),
  /** Who sent the message that began it. */
  actor: optional(Actor),
});
export const TurnEnded = Type.Object({
  turn_id: Type.String({ description: "Id of the turn." }),
  stop_reason: StopReason,
  error_code: optional(ErrorCode),
  usage: optional(Usage),
  /** Who interrupted it, when somebody did. */
  actor: optional(Actor),
});
export const StepStarted = Type.Object({
  step_id: Type.String({ description: "Id of the step: one call of the model." }),
  turn_id: Type.String({ description: "Id of the turn." }),
});
export const StepEnded = Type.Object({
  step_id: Type.String({ description: "Id of the step: one call of the model." }),
  turn_id: Type.String({ description: "Id of the turn." }),
  finish_reason: optional(Type.String({ description: "Why the model stopped, in the provider's words." })),
  usage: optional(Usage),
  cost_usd: optional(Type.Number({ description: "Cost of the step in US dollars." })),
});

export const SessionStatusData = Type.Object({
  status: SessionStatusName,
  detail: optional(Type.String({ description: "More about it, for people." })),
  attempt: optional(Type.Integer({ description: "Of retrying: which try this is." })),
  retry_at: optional(Type.String({ description: "Of retrying: when the next try is made, RFC 3339." })),
});
export type SessionStatusData = Type.Static<typeof SessionStatusData>;

export const SessionUpdated = Type.Object({
  title: optional(Type.String({ description: "The new name." })),
  tags: optional(Type.Array(Text, { description: "How a person files it; absent: not changed." })),
  archived: optional(Type.Boolean({ description: "Whether it is put away; absent: not changed." })),
  pinned: optional(Type.Boolean({ description: "Whether it is kept at hand; absent: not changed." })),
  metadata: optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "Further facts in the agent's or the client's own words. The daemon does not interpret them.",
    }),
  ),
  /** Who asked for the change; absent when the agent made it. */
  actor: optional(Actor),
});
/** Another node owns the session from here on. */
export const SessionMoved = Type.Object({
  from: nullable(Type.String({ description: "The node that owned it; null: none did." })),
  to: Type.String({ description: "The node that owns it now." }),
  epoch: Type.Integer({ description: "Under which it is written from here on." }),
  reason: Type.Enum(["takeover", "move", "restart"], {
    description: "takeover: its owner died. move: its owner gave it away. restart: the same node after a restart.",
  }),
});
export const SessionCompacted = Type.Object({
  trigger: Type.Enum(["auto", "manual", "unknown"], {
    description: "auto: the agent did it because its context was full. manual: a person asked for it.",
  }),
  pre_tokens: optional(Type.Number({ description: "Size of the context before." })),
  post_tokens: optional(Type.Number({ description: "Size of the context after." })),
  summary: optional(Type.String({ description: "What the conversation was replaced with." })),
});

export const CommandInfo = Type.Object({
  name: Type.String({ description: "Without the leading slash." }),
  description: optional(Type.String({ description: "What the command does." })),
  input_hint: optional(Type.String({ description: "What may follow the name." })),
});
export const ModelInfo = Type.Object({
  id: Type.String({ description: "To be given as `model`." }),
  name: optional(Type.String({ description: "For people." })),
  description: optional(Type.String({ description: "What it is good for." })),
  variants: optional(Type.Array(Text, { description: "What may be given as `variant`." })),
  is_default: optional(Type.Boolean({ description: "The agent takes this one when none is named." })),
  context_window: optional(Type.Number({ description: "Tokens that fit into its context." })),
});
export type ModelInfo = Type.Static<typeof ModelInfo>;
export const ModeInfo = Type.Object({
  id: Type.String({ description: "To be given as `agent_mode`." }),
  name: optional(Type.String({ description: "For people." })),
  description: optional(Type.String({ description: "What the agent does in this mode." })),
});
export type ModeInfo = Type.Static<typeof ModeInfo>;
export const McpServerInfo = Type.Object({
  name: Type.String({ description: "Its name in the configuration." }),
  status: Type.String({ description: "starting, connected, failed, needs_auth, disabled, or a word of the agent's own" }),
  error: optional(Type.String({ description: "Why it cannot be used." })),
});
export const ConfigOption = Type.Object({
  id: Type.String({ description: "The agent's own name of the option." }),
  name: optional(Type.String({ description: "For people." })),
  value: Type.Unknown({ description: "What is set." }),
  choices: optional(
    Type.Array(
      Type.Object({
        value: Type.Unknown({ description: "The value." }),
        name: optional(Type.String({ description: "For people." })),
        description: optional(Type.String({ description: "What it means." })),
      }),
      { description: "What may be set." },
    ),
  ),
});

export const PermissionMode = Type.Enum(["default", "plan", "accept_edits", "bypass"], {
  description:
    "What the agent may do unasked. default: it asks. plan: it changes nothing. accept_edits: it edits files unasked. bypass: it never asks.",
});
export type PermissionMode = Type.Static<typeof PermissionMode>;

/** Everything optional: the event says what changed, and only that. Lists replace the older list whole. */
export const ConfigChanged = Type.Object({
  model: optional(nullable(Type.String({ description: "Id of the model; null: the agent's default." }))),
  variant: optional(
    nullable(Type.String({ description: "Variant of the model, such as a reasoning effort; null: the agent's default." })),
  ),
  agent_mode: optional(
    nullable(Type.String({ description: "The agent's own mode, such as `build`; null: the agent's default." })),
  ),
  permission_mode: optional(
    Type.Union([PermissionMode, Type.String()], {
      description: "What the agent may do unasked; a word of the agent's own where none of ours fits.",
    }),
  ),
  commands: optional(Type.Array(CommandInfo, { description: "The agent's own commands." })),
  models: optional(Type.Array(ModelInfo, { description: "Models to choose from." })),
  modes: optional(Type.Array(ModeInfo, { description: "Modes to choose from." })),
  mcp_servers: optional(Type.Array(McpServerInfo, { description: "MCP servers and their state." })),
  tools: optional(Type.Array(Text, { description: "Names of the agent's tools." })),
  options: optional(Type.Array(ConfigOption, { description: "The agent's own options." })),
  /** Who asked for the change; absent when the agent made it. */
  actor: optional(Actor),
});
export type ConfigChanged = Type.Static<typeof ConfigChanged>;

export const UsageUpdated = Type.Intersect([
  Type.Object({ scope: Type.Enum(["step", "turn", "session"], { description: "What the figures are about." }) }),
  Usage,
]);
export const LimitsUpdated = Type.Object({
  windows: Type.Array(
    Type.Object({
      name: Type.String({ description: "The provider's name of the span." }),
      used_percent: optional(Type.Number({ description: "How much of it is used." })),
      resets_at: optional(Type.String({ description: "When it begins anew: RFC 3339." })),
      status: optional(Type.String({ description: "The provider's word for the state." })),
    }),
    { description: "Limits of the provider, one for each span of time." },
  ),
});
export const AuthStatus = Type.Object({
  status: Type.Enum(["ok", "required", "in_progress", "failed"], {
    description: "Whether the agent can reach its provider with the account it has.",
  }),
  message: optional(Type.String({ description: "A sentence for people." })),
  url: optional(Type.String({ description: "Where a person signs in." })),
});

export const TeamMessage = Type.Object({
  from: Type.String({ description: "Name of the member who wrote it." }),
  to: Type.String({ description: "Name of the member it is for." }),
  text: Type.String({ description: "What it says." }),
  metadata: optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "Further facts in the agent's or the client's own words. The daemon does not interpret them.",
    }),
  ),
});
export const TeamTaskUpdated = Type.Object({
  task_id: Type.String({ description: "The team's own id of the task." }),
  title: optional(Type.String({ description: "What is to be done." })),
  status: Type.String({ description: "The team's own word for the state." }),
  owner: optional(nullable(Type.String({ description: "Who does it; null: nobody yet." }))),
  metadata: optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "Further facts in the agent's or the client's own words. The daemon does not interpret them.",
    }),
  ),
});
export const TeamStateChanged = Type.Object({
  members: Type.Array(
    Type.Object({
      name: Type.String({ description: "Name of the member." }),
      status: Type.String({ description: "What the member does now." }),
      role: optional(Type.String({ description: "What the member is for." })),
    }),
    { description: "The whole team." },
  ),
  metadata: optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "Further facts in the agent's or the client's own words. The daemon does not interpret them.",
    }),
  ),
});

export const CheckpointCreated = Type.Object({
  checkpoint_id: Type.String({ description: "Id of the checkpoint." }),
  label: Type.String({ description: "Name for people." }),
  created_at: Type.String({ description: "When it was made: RFC 3339, UTC." }),
  files: Type.Array(Text, { description: "Paths that differ from the checkpoint before it." }),
  auto: Type.Boolean({ description: "Taken by dragoman, not by a person." }),
  tool_name: nullable(Type.String({ description: "The tool it was taken for; null: for none." })),
});
export const CheckpointRewound = Type.Object({
  checkpoint_id: Type.String({ description: "Id of the checkpoint." }),
  label: Type.String({ description: "Name for people." }),
  files: Type.Array(Text, { description: "Paths that were changed back." }),
});
export const CheckpointFailed = Type.Object({
  action: Type.Enum(["create", "rewind"], { description: "What was tried." }),
  error: Type.String({ description: "Why it failed." }),
});

export const ArtifactWritten = Type.Object({
  artifact_id: Type.String({ description: "Names the stored bytes: `art_` and their sha256." }),
  kind: Type.Enum(["image", "audio", "tool_output", "json", "text", "file"], { description: "What the bytes are." }),
  bytes: Type.Integer({ description: "Size." }),
  digest: Type.String({ description: "sha256:<hex>" }),
  mime: optional(Type.String({ description: "Media type, such as `image/png`." })),
  preview: optional(Type.String({ description: "How it begins, for text." })),
});

export const SkillCatalogUpdated = Type.Object({
  count: Type.Integer({ description: "How many skills there are." }),
  roots: Type.Array(Text, { description: "Where they were looked for." }),
  collisions: optional(Type.Array(Text, { description: "Names that several skills have." })),
});
export const SkillLoaded = Type.Object({
  name: Type.String({ description: "Name of the skill." }),
  path: Type.String({ description: "Absolute path of its SKILL.md." }),
  digest: Type.String({ description: "sha256:<hex> of its SKILL.md." }),
  frontmatter: Type.Record(Type.String(), Type.Unknown(), { description: "The head of its SKILL.md, as written." }),
  warnings: optional(Type.Array(Text, { description: "What is wrong with it." })),
});
export const SkillInvoked = Type.Object({
  name: Type.String({ description: "Name of the skill." }),
  args: optional(Type.String({ description: "What it was called with." })),
  mode: Type.Enum(["manual", "auto"], { description: "manual: a person chose it. auto: the agent did." }),
  effective_allowed_tools: optional(Type.Array(Text, { description: "Tools it may use." })),
});
export const SkillWarning = Type.Object({
  name: optional(Type.String({ description: "Name of the skill; absent: it has none." })),
  kind: Type.String({ description: "What kind of fault it is." }),
  detail: Type.String({ description: "A sentence for people." }),
});

/** Who asked for it. */
const TaskActor = { actor: optional(Actor) };
const TaskArtifacts = {
  artifacts: optional(Type.Array(ArtifactRef, { description: "Outputs that were too long for an event." })),
};
export const TaskOwner = Type.Enum(["daemon", "agent"], {
  description: "Whose process it is. The agent's own: it reported it, and only it can do something with it. Default daemon.",
});
export const TaskControl = Type.Enum(["stdin", "resize", "signal", "cancel"]);
export type TaskControl = Type.Static<typeof TaskControl>;
export const TaskControls = Type.Array(TaskControl, { description: "What a client can do with it while it runs." });
export const TaskSpawned = Type.Object({
  task_id: Type.String({ description: "Id of the task." }),
  tool_name: Type.String({ description: "The tool it runs for; `shell` for a command of a person." }),
  args: Type.Unknown({ description: "{command} or {argv}, as asked for." }),
  cwd: optional(Type.String({ description: "Working directory." })),
  title: optional(Type.String({ description: "For people." })),
  execution_mode: Type.Enum(["pipes", "pty"], { description: "pipes: stdout and stderr apart. pty: a terminal." }),
  origin_session_id: optional(nullable(Type.String({ description: "The session it runs for; null: for none." }))),
  owner: optional(TaskOwner),
  controls: optional(TaskControls),
  ...TaskActor,
  ...TaskArtifacts,
});
export const TaskStatus = Type.Object({
  task_id: Type.String({ description: "Id of the task." }),
  status: Type.Enum(["queued", "running", "exited", "cancelled", "failed"], {
    description: "How far it is. exited: it ended by itself, see `exit_code`.",
  }),
  exit_code: optional(nullable(Type.Integer({ description: "Exit code of the process; null when a signal ended it." }))),
  signal: optional(
    nullable(Type.String({ description: "Name of the signal that ended the process, such as `SIGKILL`; null when none did." })),
  ),
  started_at: optional(Type.String({ description: "When it started: RFC 3339." })),
  ended_at: optional(Type.String({ description: "When it ended: RFC 3339." })),
  error: optional(Type.String({ description: "Why it failed to start or was lost." })),
  ...TaskArtifacts,
});
export const TaskOutput = Type.Object({
  task_id: Type.String({ description: "Id of the task." }),
  stream: Type.Enum(["stdout", "stderr", "pty"], { description: "Where it was written to." }),
  chunk: Type.String({ description: "What was written, as UTF-8." }),
  offset: optional(
    Type.Integer({
      description: "Place of the chunk in its stream, in bytes. Invalid UTF-8 is replaced in the text, not in the count.",
      minimum: 0,
    }),
  ),
  bytes: optional(Type.Integer({ description: "How much of the stream the chunk stands for, in bytes.", minimum: 0 })),
  ...TaskArtifacts,
});
export const TaskStdin = Type.Object({
  task_id: Type.String({ description: "Id of the task." }),
  chunk_b64: Type.String({ description: "What was typed, in base64." }),
  ...TaskActor,
});
export const TaskResized = Type.Object({
  task_id: Type.String({ description: "Id of the task." }),
  rows: Type.Integer({ description: "New height of the terminal." }),
  cols: Type.Integer({ description: "New width of the terminal." }),
  ...TaskActor,
});
export const TaskSignalled = Type.Object({
  task_id: Type.String({ description: "Id of the task." }),
  signal: Type.String({ description: "Name of the signal that was sent." }),
  ...TaskActor,
});
export const TaskCancelRequested = Type.Object({
  task_id: Type.String({ description: "Id of the task." }),
  reason: Type.String({ description: "Why it is to end." }),
  ...TaskActor,
});
export const TaskCancelled = Type.Object({
  task_id: Type.String({ description: "Id of the task." }),
  reason: Type.String({ description: "Why it was ended." }),
  wall_time_ms: optional(Type.Number({ description: "How long it ran." })),
});

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
  "session.moved": SessionMoved,
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
