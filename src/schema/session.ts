// The session as clients see it, and what clients send: every request and reply body of the API, one schema each.
import Type from "typebox";
import { Actor } from "./actor.ts";
import { Event } from "./event.ts";
import {
  ErrorCode,
  LastError,
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
import { nullable } from "./nullable.ts";
import { problemCodeNames } from "./problem-codes.ts";

const optional = Type.Optional;
export const Metadata = Type.Record(Type.String(), Type.Unknown(), {
  description: "Facts of the client, kept and never interpreted.",
});

/** Names that travel to an agent's command line: never a leading dash, so that none can be taken for an option. */
const NAME = { minLength: 1, maxLength: 200, pattern: "^[^-\\s][^\\u0000-\\u001f]*$" };
const NAME_PATTERN = new RegExp(NAME.pattern);
export const Name = Type.String(NAME);
export const isName = (text: string): boolean => text.length <= NAME.maxLength && NAME_PATTERN.test(text);
export const SessionId = Type.String({ minLength: 1, maxLength: 128, pattern: "^[A-Za-z0-9][A-Za-z0-9._:-]*$" });

export const SessionState = Type.Enum(["starting", "idle", "running", "waiting", "dormant", "ended"], {
  description:
    "What the session does now. waiting: for a person. dormant: no process runs; the next message starts the agent again.",
});
export type SessionState = Type.Static<typeof SessionState>;

export const Trust = Type.Enum(["trusted", "restricted"], {
  description: "trusted: the agent loads the directory's settings; restricted: it starts without them",
});
export type Trust = Type.Static<typeof Trust>;

/** What one file of a directory would make an agent do. */
export const DirectoryFile = Type.Object({
  path: Type.String({ description: "relative to the session's directory" }),
  kind: Type.Enum(
    [
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
    ],
    { description: "What it can make an agent do." },
  ),
  does: Type.String({ description: "a sentence for a person" }),
});
export type DirectoryFile = Type.Static<typeof DirectoryFile>;

/** What a permission request with the tool name `TRUST_TOOL` asks about. */
export const TrustRequest = Type.Object(
  {
    directory: Type.String({ description: "what is trusted when it is allowed always" }),
    found: Type.Array(DirectoryFile, { description: "Files that would take effect." }),
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
export const Tags = Type.Array(Tag, { description: "Words a person files it under.", maxItems: 32, uniqueItems: true });

/** Where a session is, in a fleet. */
const fleetFields = {
  node: optional(nullable(Type.String({ description: "In a fleet: the node that owns it; null: none now." }))),
  epoch: optional(Type.Integer({ description: "In a fleet: grows with each owner." })),
  place: optional(
    nullable(Type.String({ description: "In a fleet: the shared place its directory lies in; null: its node's alone." })),
  ),
  home: optional(
    Type.String({
      description: "In a fleet, while it is not reachable: the node that has its directory, and that it waits for.",
    }),
  ),
  reachable: optional(Type.Boolean({ description: "In a fleet: false while nobody can send it anything. It can be read." })),
  unclaimable: optional(
    nullable(
      Type.Enum(["directory", "agent"], { description: "In a fleet: why no living node can go on with it; null: one can." }),
    ),
  ),
};
export const SessionWhereabouts = Type.Object(fleetFields);
export type SessionWhereabouts = Type.Static<typeof SessionWhereabouts>;

export const Session = Type.Object(
  {
    session_id: Type.String({ description: "Id of the session." }),
    agent: Type.String({ description: "Id of the agent, such as `claude`." }),
    agent_version: nullable(Type.String({ description: "Version of the agent's program; null until it is known." })),
    native_session_id: nullable(
      Type.String({ description: "The agent's own id of the conversation; null until the agent gave one." }),
    ),
    status: SessionState,
    status_detail: optional(Type.String({ description: "More about the status, for people." })),
    directory: Type.String({ description: "Absolute path of the working directory, on the daemon's machine." }),
    trust: Trust,
    model: nullable(Type.String({ description: "Id of the model; null: the agent's default." })),
    variant: nullable(
      Type.String({ description: "Variant of the model, such as a reasoning effort; null: the agent's default." }),
    ),
    agent_mode: nullable(Type.String({ description: "The agent's own mode, such as `build`; null: the agent's default." })),
    permission_mode: PermissionMode,
    title: nullable(Type.String({ description: "Name for people; null while there is none." })),
    tags: Tags,
    archived: Type.Boolean({ description: "put away: lists leave it out unless they are asked for it" }),
    pinned: Type.Boolean({ description: "kept at hand, and never removed by retention" }),
    metadata: Type.Record(Type.String(), Type.Unknown(), {
      description: "Further facts in the agent's or the client's own words. The daemon does not interpret them.",
    }),
    created_at: Type.String({ description: "When it was made: RFC 3339, UTC." }),
    updated_at: Type.String({ description: "When its last event was written: RFC 3339, UTC." }),
    last_sequence: Type.Integer({ description: "Sequence of the newest event." }),
    queued: Type.Integer({ description: "How many messages wait in the queue." }),
    pending: Type.Object(
      {
        permissions: Type.Integer({ description: "Open permissions." }),
        questions: Type.Integer({ description: "Open questions." }),
      },
      { description: "How many requests wait for an answer." },
    ),
    usage: nullable(Usage),
    last_error: nullable(LastError),
    forked_from: nullable(Type.String({ description: "Id of the session it branched off from; null: none." })),
    parent_session_id: optional(Type.String({ description: "the session whose agent started this one, for a part of its work" })),
    /** Who created, forked or imported it. */
    created_by: optional(Actor),
    ended: nullable(SessionEnded),
    ...fleetFields,
  },
  { title: "Session" },
);
export type Session = Type.Static<typeof Session>;

export const McpServerConfig = Type.Union([
  Type.Object({
    name: Type.String({ ...Name, description: "How the agent calls the server." }),
    type: Type.Literal("stdio", { description: "How it is reached." }),
    command: Type.String({ description: "The program to start.", minLength: 1 }),
    args: optional(Type.Array(Type.String(), { description: "Its arguments." })),
    env: optional(Type.Record(Type.String(), Type.String(), { description: "Added to its environment." })),
  }),
  Type.Object({
    name: Type.String({ ...Name, description: "How the agent calls the server." }),
    type: Type.Enum(["http", "sse"], { description: "How it is reached." }),
    url: Type.String({ description: "Where it listens.", minLength: 1 }),
    headers: optional(Type.Record(Type.String(), Type.String(), { description: "Sent with every request." })),
  }),
]);

export const CreateSession = Type.Object(
  {
    agent: Type.String({ ...Name, description: "Id of the agent, such as `claude`." }),
    session_id: optional(
      Type.String({ ...SessionId, description: "An id of your own; refused when it exists. Default: a new one." }),
    ),
    directory: optional(
      Type.String({
        description: "Where the agent works: an absolute path on the daemon's machine. Default: the daemon's own directory.",
        minLength: 1,
      }),
    ),
    trust: optional(TrustChoice),
    model: optional(
      Type.String({
        ...Name,
        description: "Id of a model, as `GET /v1/agents/{agent}/models` lists them. Default: the agent's.",
      }),
    ),
    variant: optional(Type.String({ ...Name, description: "Variant of the model, such as a reasoning effort." })),
    agent_mode: optional(
      Type.String({ ...Name, description: "The agent's own mode, as `GET /v1/agents/{agent}/modes` lists them." }),
    ),
    permission_mode: optional(PermissionMode),
    title: optional(Type.String({ description: "Name for people. Default: the first message.", maxLength: 500 })),
    env: optional(
      Type.Record(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }), Type.String(), {
        description: "Added to the environment of the agent's process.",
        additionalProperties: false,
      }),
    ),
    mcp_servers: optional(Type.Array(McpServerConfig, { description: "Servers the agent gets beside its own." })),
    system_prompt: optional(Type.String({ description: "Added to the agent's system prompt." })),
    tags: optional(Tags),
    metadata: optional(Type.Record(Type.String(), Type.Unknown(), { description: "Facts of your own, kept with the session." })),
    resume_native: optional(
      Type.String({ ...Name, description: "The agent's own id of a conversation it had before: the session goes on with it." }),
    ),
    node: optional(Type.String({ minLength: 1, maxLength: 128, description: "In a fleet: the node that gets it." })),
    labels: optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.String({ maxLength: 128 }), {
        description: "In a fleet: a node that has all of these gets it.",
      }),
    ),
  },
  { title: "CreateSession", additionalProperties: false },
);
export type CreateSession = Type.Static<typeof CreateSession>;

/** `null` takes a choice back: from the next start on the agent decides. */
export const UpdateSession = Type.Object(
  {
    model: optional(
      nullable(Type.String({ ...Name, description: "Another model; null: the agent's default from the next start on." })),
    ),
    variant: optional(
      nullable(Type.String({ ...Name, description: "Another variant; null: the agent's default from the next start on." })),
    ),
    agent_mode: optional(
      nullable(Type.String({ ...Name, description: "Another mode; null: the agent's default from the next start on." })),
    ),
    permission_mode: optional(PermissionMode),
    trust: optional(
      Type.Enum(["ask", "restricted", "trusted"], {
        description: "counts from the agent's next start, which is before the next turn",
      }),
    ),
    title: optional(Type.String({ description: "Another name.", maxLength: 500 })),
    tags: optional(Tags),
    archived: optional(Type.Boolean({ description: "true puts it away, false brings it back." })),
    pinned: optional(Type.Boolean({ description: "true keeps it at hand." })),
  },
  { title: "UpdateSession", additionalProperties: false, minProperties: 1 },
);
export type UpdateSession = Type.Static<typeof UpdateSession>;

/** Either bytes in base64, or a file inside the session's directory. */
export const AttachmentInput = Type.Union([
  Type.Object(
    {
      data: Type.String({ description: "The bytes in base64." }),
      mime: Type.String({ description: "Media type, such as `image/png`." }),
      name: optional(Type.String({ description: "File name for people and for the agent." })),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      path: Type.String({ description: "A file inside the session's directory." }),
      mime: optional(Type.String({ description: "Media type, such as `image/png`." })),
      name: optional(Type.String({ description: "File name for people and for the agent." })),
    },
    { additionalProperties: false },
  ),
]);
export type AttachmentInput = Type.Static<typeof AttachmentInput>;

export const WhenBusy = Type.Enum(["queue", "steer", "reject"], {
  description: "What happens while a turn runs: wait for its end (default), go into it, or be refused.",
});

export const SendMessage = Type.Object(
  {
    message: Type.String({ description: "What the agent gets as the reason." }),
    command: optional(
      Type.Boolean({
        description:
          "The person chose one of the agent's own commands: `message` is `/name arguments`. Otherwise a message is text, whatever it begins with.",
      }),
    ),
    attachments: optional(Type.Array(AttachmentInput, { description: "Files that go with it.", maxItems: 50 })),
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
    before: optional(
      Type.String({
        description: "The message_id of the one it is to stand before, instead of a place: others may be delivered meanwhile.",
      }),
    ),
  },
  { title: "UpdateQueuedMessage", additionalProperties: false, minProperties: 1 },
);
export type UpdateQueuedMessage = Type.Static<typeof UpdateQueuedMessage>;

export const PermissionReplyBody = Type.Object(
  {
    reply: PlainReply,
    option_id: optional(Type.String({ description: "One of the request's own options. It decides what happens." })),
    message: optional(Type.String({ description: "A reason for the agent, when it is rejected." })),
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
  {
    answers: Type.Array(Type.Array(Type.String()), {
      description: "For each question, the answers: labels of its options, or free text.",
    }),
  },
  { title: "QuestionReply", additionalProperties: false },
);
export type QuestionReplyBody = Type.Static<typeof QuestionReplyBody>;

/** A directory whose settings agents may load. */
export const TrustedDirectory = Type.Object(
  {
    directory: Type.String({ description: "its real path" }),
    scope: Type.Enum(["tree", "directory"], { description: "tree: with all below it; directory: this one alone" }),
    source: Type.Enum(["person", "config"], { description: "config: from trusted_directories of the configuration file" }),
    added_at: nullable(Type.String({ description: "When a person trusted it; null: it stands in the configuration." })),
  },
  { title: "TrustedDirectory" },
);
export type TrustedDirectory = Type.Static<typeof TrustedDirectory>;
export const TrustList = Type.Object(
  { directories: Type.Array(TrustedDirectory, { description: "All trusted directories." }) },
  { title: "TrustList" },
);
export const TrustDirectory = Type.Object(
  { directory: Type.String({ minLength: 1, description: "absolute path on the daemon's machine" }) },
  { title: "TrustDirectory", additionalProperties: false },
);

/** Which files of its directory a session's agent loads, and which are held back. */
export const DirectorySettings = Type.Object(
  {
    trust: Trust,
    directory: Type.String({ description: "Absolute path of the working directory, on the daemon's machine." }),
    files: Type.Array(
      Type.Intersect([
        DirectoryFile,
        Type.Object({ state: Type.Enum(["loaded", "held_back"], { description: "held_back: the directory is not trusted." }) }),
      ]),
      { description: "Files that take effect, or would." },
    ),
  },
  { title: "DirectorySettings" },
);
export type DirectorySettings = Type.Static<typeof DirectorySettings>;

export const ForkSession = Type.Object(
  {
    session_id: optional(
      Type.String({ ...SessionId, description: "An id of your own for the new session. Default: a new one." }),
    ),
    title: optional(Type.String({ description: "Name of the new session.", maxLength: 500 })),
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
  {
    permissions: Type.Array(PermissionData, { description: "Open permissions, the oldest first." }),
    questions: Type.Array(QuestionData, { description: "Open questions, the oldest first." }),
  },
  { title: "Pending" },
);
export type Pending = Type.Static<typeof Pending>;

export const Coverage = Type.Object(
  {
    totals: Type.Object(
      {
        mapped: Type.Integer({ description: "Native messages that became events, or repeated what was known." }),
        noted: Type.Integer({ description: "Native messages that are understood and have no universal meaning." }),
        heartbeat: Type.Integer({ description: "Keep-alives, counted only." }),
        unparsed: Type.Integer({ description: "Native messages that nobody understood. They are kept as they came." }),
      },
      { description: "Native messages by disposition." },
    ),
    types: Type.Array(
      Type.Object({
        type: Type.String({ description: "The agent's own name of the message." }),
        disposition: Type.String({ description: "What became of them." }),
        count: Type.Integer({ description: "How many there were." }),
      }),
      { description: "The same by native type." },
    ),
  },
  { title: "Coverage" },
);
export type Coverage = Type.Static<typeof Coverage>;

/** A session whose stored row or open events are damaged. It can be exported and removed, nothing else. */
export const UnreadableSession = Type.Object(
  {
    session_id: Type.String({ description: "Id of the session." }),
    reason: Type.String({ description: "What is wrong with what is stored" }),
  },
  { title: "UnreadableSession" },
);
export type UnreadableSession = Type.Static<typeof UnreadableSession>;

export const SessionList = Type.Object(
  {
    sessions: Type.Array(Session, { description: "One page." }),
    unreadable: Type.Array(UnreadableSession, { description: "All sessions that cannot be read, whatever the filter" }),
    next: nullable(Type.String({ description: "`before` of the following page; null at the end." })),
  },
  { title: "SessionList" },
);
export type SessionList = Type.Static<typeof SessionList>;

/** A page of events. `next` is the `after` (or `before`, newest first) of the following page; `last_sequence` is the newest there is. */
export const EventList = Type.Object(
  {
    events: Type.Array(Event, { description: "One page, in the order that was asked for." }),
    has_more: Type.Boolean({ description: "Whether another page follows." }),
    next: Type.Integer({ description: "The `after` (newest first: the `before`) of the following page." }),
    last_sequence: Type.Integer({ description: "Sequence of the newest event." }),
    epoch: Type.String({ description: "keep it with `next`, and send both: another history is then refused" }),
  },
  { title: "EventList" },
);

/** A page of the transcript. It can hold fewer items than asked for, even none, and still have more: go on with `next`. */
export const ItemList = Type.Object(
  {
    items: Type.Array(Item, { description: "One page of the transcript." }),
    sequences: Type.Array(Type.Integer(), { description: "Of each item: the sequence of its item.started." }),
    has_more: Type.Boolean({ description: "Whether another page follows." }),
    next: Type.Integer({ description: "The `after` of the following page; with order=desc its `before`." }),
    last_sequence: Type.Integer({ description: "The items are in the state they had after this event." }),
  },
  { title: "ItemList" },
);
export type ItemList = Type.Static<typeof ItemList>;

export const AgentInfo = Type.Object(
  {
    agent: Type.String({ description: "Id of the agent, such as `claude`." }),
    name: Type.String({ description: "For people." }),
    installed: Type.Boolean({ description: "Its program was found." }),
    path: nullable(Type.String({ description: "Where the program is; of our own agent, the endpoint. Null: not found." })),
    version: nullable(Type.String({ description: "Version of the program; null: not known." })),
    signed_in: nullable(
      Type.Boolean({
        description: "false: it needs what `advice` says first. null: cannot be known without asking the provider.",
      }),
    ),
    advice: nullable(Type.String({ description: "What to do next; null: nothing." })),
    installable: Type.Boolean({ description: "`POST /v1/agents/{agent}/install` can install it." }),
    verified_at: Type.Union([Type.String(), Type.Null()], {
      description: "When `dragoman verify` last checked it on the daemon's machine; null when it never did.",
    }),
    capabilities: Type.Record(Type.String(), Type.Unknown(), { description: "What it can do: the same names for every agent." }),
  },
  { title: "Agent" },
);
export type AgentInfo = Type.Static<typeof AgentInfo>;
export const AgentList = Type.Object(
  { agents: Type.Array(AgentInfo, { description: "All agents the daemon knows, installed or not." }) },
  { title: "AgentList" },
);
export const ModelList = Type.Object(
  { models: Type.Array(ModelInfo, { description: "Models to choose from." }) },
  { title: "ModelList" },
);
export const ModeList = Type.Object(
  { modes: Type.Array(ModeInfo, { description: "Modes to choose from." }) },
  { title: "ModeList" },
);

/** What `dragoman verify` found out about an agent, the last time it was run on the daemon's machine. */
export const VerifyScenario = Type.Object(
  {
    scenario: Type.String({ description: "Name of the scenario." }),
    title: Type.String({ description: "What it is about." }),
    verdict: Type.Enum(["passed", "failed", "hung", "skipped"], { description: "How it went." }),
    verified_at: Type.String({ description: "When it was verified: RFC 3339." }),
    duration_ms: Type.Integer({ description: "How long it took." }),
    native: Type.Integer({ description: "Native messages in both directions." }),
    mapped: Type.Integer({ description: "Native messages that became events, or repeated what was known." }),
    noted: Type.Integer({ description: "Native messages that are understood and have no universal meaning." }),
    heartbeat: Type.Integer({ description: "Keep-alives, counted only." }),
    unparsed: Type.Integer({ description: "Native messages that nobody understood. They are kept as they came." }),
    broken: Type.Array(
      Type.Object({
        rule: Type.String({ description: "Id of the rule, such as `G4`." }),
        sequence: Type.Integer({ description: "The event that broke it." }),
        message: Type.String({ description: "What is wrong." }),
      }),
      { description: "Rules of the grammar that were broken." },
    ),
    reasons: Type.Array(Type.String(), { description: "Sentences: what was not as expected, or why it was skipped." }),
  },
  { title: "VerifyScenario" },
);
export type VerifyScenario = Type.Static<typeof VerifyScenario>;

export const VerifyReport = Type.Object(
  {
    agent: Type.String({ description: "Id of the agent, such as `claude`." }),
    version: nullable(Type.String({ description: "Version that was verified; null: not known." })),
    verified_at: Type.String({ description: "When it was verified: RFC 3339." }),
    totals: Type.Object(
      {
        passed: Type.Integer({ description: "Scenarios that went as expected." }),
        failed: Type.Integer({ description: "Scenarios that did not." }),
        hung: Type.Integer({ description: "Scenarios that did not come to an end." }),
        skipped: Type.Integer({ description: "Scenarios that do not apply." }),
        unparsed: Type.Integer({
          description: "Native messages that nobody understood, in scenarios that are not about such messages.",
        }),
        broken: Type.Integer({ description: "Rules of the grammar that were broken." }),
      },
      { description: "All scenarios together." },
    ),
    problems: Type.Array(Type.String(), { description: "What is wrong with the whole: not installed, processes left behind." }),
    scenarios: Type.Array(VerifyScenario, { description: "What came of each." }),
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
    errors: optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: "Place in the body or query." }),
          message: Type.String({ description: "What is wrong there." }),
        }),
        { description: "Of a wrong request: what is wrong where." },
      ),
    ),
    error_code: optional(ErrorCode),
  },
  { title: "Problem" },
);
export type Problem = Type.Static<typeof Problem>;
