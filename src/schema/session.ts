// The session as clients see it, and what clients send: every request and reply body of the API, one schema each.
import Type from "typebox";
import { Actor } from "./actor.ts";
import { Event } from "./event.ts";
import {
  ErrorCode,
  ModeInfo,
  ModelInfo,
  PermissionData,
  PermissionMode,
  PlainReply,
  QuestionData,
  SessionEnded,
  Usage,
} from "./event-data.ts";
import { Item } from "./item.ts";
import { problemCodeNames } from "./problem-codes.ts";

const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const optional = Type.Optional;
export const Metadata = Type.Record(Type.String(), Type.Unknown());

/** Names that travel to an agent's command line: never a leading dash, so that none can be taken for an option. */
export const Name = Type.String({ minLength: 1, maxLength: 200, pattern: "^[^-\\s][^\\u0000-\\u001f]*$" });
export const SessionId = Type.String({ minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]*$" });

export const SessionState = Type.Enum(["starting", "idle", "running", "waiting", "dormant", "ended"]);
export type SessionState = Type.Static<typeof SessionState>;

export const Trust = Type.Enum(["trusted", "restricted"], {
  description: "trusted: the agent loads the directory's settings; restricted: it starts without them",
});
export type Trust = Type.Static<typeof Trust>;

/** What one file of a directory would make an agent do. */
export const DirectoryFile = Type.Object({
  path: Type.String({ description: "relative to the session's directory" }),
  kind: Type.Enum([
    "settings",
    "hooks",
    "mcp_servers",
    "plugins",
    "helpers",
    "environment",
    "base_url",
    "permissions",
    "agents",
    "commands",
    "skills",
    "instructions",
    "unknown",
  ]),
  does: Type.String({ description: "a sentence for a person" }),
});
export type DirectoryFile = Type.Static<typeof DirectoryFile>;

/** What a permission request with the tool name `TRUST_TOOL` asks about. */
export const TrustRequest = Type.Object(
  {
    directory: Type.String({ description: "what is trusted when it is allowed always" }),
    found: Type.Array(DirectoryFile),
  },
  { title: "TrustRequest" },
);
export type TrustRequest = Type.Static<typeof TrustRequest>;

export const TrustChoice = Type.Enum(["ask", "refuse", "restricted", "trusted"], {
  description:
    "ask: the first message asks a person before anything of the directory is loaded; refuse: the request fails with directory_untrusted instead; restricted: never load it; trusted: load it in this session",
});
export type TrustChoice = Type.Static<typeof TrustChoice>;

/** A word a person files sessions under. */
export const Tag = Type.String({ minLength: 1, maxLength: 64, pattern: "^[^\\s,]([^,]*[^\\s,])?$" });
export const Tags = Type.Array(Tag, { maxItems: 32, uniqueItems: true });

export const Session = Type.Object(
  {
    session_id: Type.String(),
    agent: Type.String(),
    agent_version: nullable(Type.String()),
    native_session_id: nullable(Type.String()),
    status: SessionState,
    status_detail: optional(Type.String()),
    directory: Type.String(),
    trust: Trust,
    model: nullable(Type.String()),
    variant: nullable(Type.String()),
    agent_mode: nullable(Type.String()),
    permission_mode: PermissionMode,
    title: nullable(Type.String()),
    tags: Tags,
    archived: Type.Boolean({ description: "put away: lists leave it out unless they are asked for it" }),
    pinned: Type.Boolean({ description: "kept at hand, and never removed by retention" }),
    metadata: Metadata,
    created_at: Type.String(),
    updated_at: Type.String(),
    last_sequence: Type.Integer(),
    queued: Type.Integer(),
    pending: Type.Object({ permissions: Type.Integer(), questions: Type.Integer() }),
    usage: nullable(Usage),
    forked_from: nullable(Type.String()),
    parent_session_id: optional(Type.String({ description: "the session whose agent started this one, for a part of its work" })),
    /** Who created, forked or imported it. */
    created_by: optional(Actor),
    ended: nullable(SessionEnded),
  },
  { title: "Session" },
);
export type Session = Type.Static<typeof Session>;

export const McpServerConfig = Type.Union([
  Type.Object({
    name: Name,
    type: Type.Literal("stdio"),
    command: Type.String({ minLength: 1 }),
    args: optional(Type.Array(Type.String())),
    env: optional(Type.Record(Type.String(), Type.String())),
  }),
  Type.Object({
    name: Name,
    type: Type.Enum(["http", "sse"]),
    url: Type.String({ minLength: 1 }),
    headers: optional(Type.Record(Type.String(), Type.String())),
  }),
]);

export const CreateSession = Type.Object(
  {
    agent: Name,
    session_id: optional(SessionId),
    directory: optional(Type.String({ minLength: 1 })),
    trust: optional(TrustChoice),
    model: optional(Name),
    variant: optional(Name),
    agent_mode: optional(Name),
    permission_mode: optional(PermissionMode),
    title: optional(Type.String({ maxLength: 500 })),
    env: optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }), Type.String(), { additionalProperties: false }),
    ),
    mcp_servers: optional(Type.Array(McpServerConfig)),
    system_prompt: optional(Type.String()),
    tags: optional(Tags),
    metadata: optional(Metadata),
    resume_native: optional(Name),
  },
  { title: "CreateSession", additionalProperties: false },
);
export type CreateSession = Type.Static<typeof CreateSession>;

/** `null` takes a choice back: from the next start on the agent decides. */
export const UpdateSession = Type.Object(
  {
    model: optional(nullable(Name)),
    variant: optional(nullable(Name)),
    agent_mode: optional(nullable(Name)),
    permission_mode: optional(PermissionMode),
    trust: optional(
      Type.Enum(["ask", "restricted", "trusted"], {
        description: "counts from the agent's next start, which is before the next turn",
      }),
    ),
    title: optional(Type.String({ maxLength: 500 })),
    tags: optional(Tags),
    archived: optional(Type.Boolean()),
    pinned: optional(Type.Boolean()),
  },
  { title: "UpdateSession", additionalProperties: false, minProperties: 1 },
);
export type UpdateSession = Type.Static<typeof UpdateSession>;

/** Either bytes in base64, or a file inside the session's directory. */
export const AttachmentInput = Type.Union([
  Type.Object({ data: Type.String(), mime: Type.String(), name: optional(Type.String()) }, { additionalProperties: false }),
  Type.Object(
    { path: Type.String(), mime: optional(Type.String()), name: optional(Type.String()) },
    { additionalProperties: false },
  ),
]);
export type AttachmentInput = Type.Static<typeof AttachmentInput>;

export const WhenBusy = Type.Enum(["queue", "steer", "reject"]);

export const SendMessage = Type.Object(
  {
    message: Type.String(),
    command: optional(
      Type.Boolean({
        description:
          "The person chose one of the agent's own commands: `message` is `/name arguments`. Otherwise a message is text, whatever it begins with.",
      }),
    ),
    attachments: optional(Type.Array(AttachmentInput, { maxItems: 50 })),
    when_busy: optional(WhenBusy),
  },
  { title: "SendMessage", additionalProperties: false },
);
export type SendMessage = Type.Static<typeof SendMessage>;

export const MessageAccepted = Type.Object(
  {
    turn_id: Type.String({ description: "The turn it will have; the running one when it was steered into that." }),
    message_id: Type.String({ description: "Its name in the queue, as long as it waits." }),
    queued: Type.Boolean({ description: "Others are before it." }),
  },
  { title: "MessageAccepted" },
);
export type MessageAccepted = Type.Static<typeof MessageAccepted>;

export const UpdateQueuedMessage = Type.Object(
  {
    text: optional(Type.String({ description: "What it says instead." })),
    position: optional(
      Type.Integer({ minimum: 0, description: "Its place in the queue: 0 is delivered next, beyond the end is the end." }),
    ),
  },
  { title: "UpdateQueuedMessage", additionalProperties: false, minProperties: 1 },
);
export type UpdateQueuedMessage = Type.Static<typeof UpdateQueuedMessage>;

export const PermissionReplyBody = Type.Object(
  {
    reply: PlainReply,
    option_id: optional(Type.String()),
    message: optional(Type.String()),
    updated_input: optional(
      Type.Unknown({ description: "run it with this input instead; only where the agent's capability edit_input is true" }),
    ),
    input_hash: optional(
      Type.String({ description: "metadata.input_hash of the request that was read; refused when the input is another one" }),
    ),
  },
  { title: "PermissionReply", additionalProperties: false },
);
export type PermissionReplyBody = Type.Static<typeof PermissionReplyBody>;

export const QuestionReplyBody = Type.Object(
  { answers: Type.Array(Type.Array(Type.String())) },
  { title: "QuestionReply", additionalProperties: false },
);
export type QuestionReplyBody = Type.Static<typeof QuestionReplyBody>;

/** A directory whose settings agents may load. */
export const TrustedDirectory = Type.Object(
  {
    directory: Type.String({ description: "its real path" }),
    scope: Type.Enum(["tree", "directory"], { description: "tree: with all below it; directory: this one alone" }),
    source: Type.Enum(["person", "config"], { description: "config: from trusted_directories of the configuration file" }),
    added_at: nullable(Type.String()),
  },
  { title: "TrustedDirectory" },
);
export type TrustedDirectory = Type.Static<typeof TrustedDirectory>;
export const TrustList = Type.Object({ directories: Type.Array(TrustedDirectory) }, { title: "TrustList" });
export const TrustDirectory = Type.Object(
  { directory: Type.String({ minLength: 1, description: "absolute path on the daemon's machine" }) },
  { title: "TrustDirectory", additionalProperties: false },
);

/** Which files of its directory a session's agent loads, and which are held back. */
export const DirectorySettings = Type.Object(
  {
    trust: Trust,
    directory: Type.String(),
    files: Type.Array(Type.Intersect([DirectoryFile, Type.Object({ state: Type.Enum(["loaded", "held_back"]) })])),
  },
  { title: "DirectorySettings" },
);
export type DirectorySettings = Type.Static<typeof DirectorySettings>;

export const ForkSession = Type.Object(
  {
    session_id: optional(SessionId),
    title: optional(Type.String({ maxLength: 500 })),
    at: optional(
      Type.Integer({
        minimum: 1,
        description: "branch off after this event (its `sequence`), where the agent can; otherwise at the end",
      }),
    ),
  },
  { title: "ForkSession", additionalProperties: false },
);
export type ForkSession = Type.Static<typeof ForkSession>;

export const Pending = Type.Object(
  { permissions: Type.Array(PermissionData), questions: Type.Array(QuestionData) },
  { title: "Pending" },
);
export type Pending = Type.Static<typeof Pending>;

export const Coverage = Type.Object(
  {
    totals: Type.Object({
      mapped: Type.Integer(),
      noted: Type.Integer(),
      heartbeat: Type.Integer(),
      unparsed: Type.Integer(),
    }),
    types: Type.Array(Type.Object({ type: Type.String(), disposition: Type.String(), count: Type.Integer() })),
  },
  { title: "Coverage" },
);
export type Coverage = Type.Static<typeof Coverage>;

/** A session whose stored row or open events are damaged. It can be exported and removed, nothing else. */
export const UnreadableSession = Type.Object(
  { session_id: Type.String(), reason: Type.String({ description: "What is wrong with what is stored" }) },
  { title: "UnreadableSession" },
);
export type UnreadableSession = Type.Static<typeof UnreadableSession>;

export const SessionList = Type.Object(
  {
    sessions: Type.Array(Session),
    unreadable: Type.Array(UnreadableSession, { description: "All sessions that cannot be read, whatever the filter" }),
    next: nullable(Type.String()),
  },
  { title: "SessionList" },
);
export type SessionList = Type.Static<typeof SessionList>;

/** A page of events. `next` is the `after` (or `before`, newest first) of the following page; `last_sequence` is the newest there is. */
export const EventList = Type.Object(
  {
    events: Type.Array(Event),
    has_more: Type.Boolean(),
    next: Type.Integer(),
    last_sequence: Type.Integer(),
    epoch: Type.String({ description: "keep it with `next`, and send both: another history is then refused" }),
  },
  { title: "EventList" },
);

/** A page of the transcript. It can hold fewer items than asked for, even none, and still have more: go on with `next`. */
export const ItemList = Type.Object(
  {
    items: Type.Array(Item),
    sequences: Type.Array(Type.Integer(), { description: "Of each item: the sequence of its item.started." }),
    has_more: Type.Boolean(),
    next: Type.Integer({ description: "The `after` of the following page; with order=desc its `before`." }),
    last_sequence: Type.Integer({ description: "The items are in the state they had after this event." }),
  },
  { title: "ItemList" },
);
export type ItemList = Type.Static<typeof ItemList>;

export const AgentInfo = Type.Object(
  {
    agent: Type.String(),
    name: Type.String(),
    installed: Type.Boolean(),
    path: nullable(Type.String()),
    version: nullable(Type.String()),
    signed_in: nullable(Type.Boolean()),
    advice: nullable(Type.String()),
    installable: Type.Boolean(),
    verified_at: Type.Union([Type.String(), Type.Null()], {
      description: "When `dragoman verify` last checked it on the daemon's machine; null when it never did.",
    }),
    capabilities: Metadata,
  },
  { title: "Agent" },
);
export type AgentInfo = Type.Static<typeof AgentInfo>;
export const AgentList = Type.Object({ agents: Type.Array(AgentInfo) }, { title: "AgentList" });
export const ModelList = Type.Object({ models: Type.Array(ModelInfo) }, { title: "ModelList" });
export const ModeList = Type.Object({ modes: Type.Array(ModeInfo) }, { title: "ModeList" });

/** What `dragoman verify` found out about an agent, the last time it was run on the daemon's machine. */
export const VerifyScenario = Type.Object(
  {
    scenario: Type.String(),
    title: Type.String(),
    verdict: Type.Enum(["passed", "failed", "hung", "skipped"]),
    verified_at: Type.String(),
    duration_ms: Type.Integer(),
    native: Type.Integer(),
    mapped: Type.Integer(),
    noted: Type.Integer(),
    heartbeat: Type.Integer(),
    unparsed: Type.Integer(),
    /** Rules of the grammar that were broken. */
    broken: Type.Array(Type.Object({ rule: Type.String(), sequence: Type.Integer(), message: Type.String() })),
    /** Sentences: what was not as expected, or why it was skipped. */
    reasons: Type.Array(Type.String()),
  },
  { title: "VerifyScenario" },
);
export type VerifyScenario = Type.Static<typeof VerifyScenario>;

export const VerifyReport = Type.Object(
  {
    agent: Type.String(),
    version: nullable(Type.String()),
    verified_at: Type.String(),
    totals: Type.Object({
      passed: Type.Integer(),
      failed: Type.Integer(),
      hung: Type.Integer(),
      skipped: Type.Integer(),
      unparsed: Type.Integer(),
      broken: Type.Integer(),
    }),
    /** What is wrong with the whole: not installed, processes left behind. */
    problems: Type.Array(Type.String()),
    scenarios: Type.Array(VerifyScenario),
  },
  { title: "VerifyReport" },
);
export type VerifyReport = Type.Static<typeof VerifyReport>;

/** RFC 9457. `code` is stable; `detail` says what to do next. */
export const Problem = Type.Object(
  {
    type: Type.String({ description: "a URI that names the code" }),
    title: Type.String({ description: "what the code means, in a few words" }),
    status: Type.Integer({ description: "the HTTP status" }),
    detail: Type.String({ description: "what is wrong here, and what to do" }),
    code: Type.Enum(problemCodeNames, { description: "stable: programs act on it. A newer daemon may know more of them" }),
    errors: optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
    error_code: optional(ErrorCode),
  },
  { title: "Problem" },
);
export type Problem = Type.Static<typeof Problem>;
