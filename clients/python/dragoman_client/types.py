"""Generated from the OpenAPI document by scripts/python-types.mjs. Do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Optional, TypedDict, Union


class Health(TypedDict):
    status: Literal["ok"]
    #: Of the daemon.
    version: str
    #: of the log, made once; a restored backup has the same
    log_id: str
    #: of this start of the daemon; cursors belong to it
    epoch: str
    #: failing: cannot write; damaged: some stored data cannot be read
    log: Literal["ok", "failing", "fenced", "damaged"]


class Ready(TypedDict):
    status: Literal["ready"]
    #: Ids of sessions that were set aside; `dragoman doctor` says why
    unreadable_sessions: list[str]
    #: What of the log cannot be read.
    damage: NotRequired["ReadyDamage"]


class ReadyDamage(TypedDict):
    """What of the log cannot be read."""

    #: how many were found since the daemon started
    places: int
    #: Sessions that are damaged.
    sessions: list[str]
    #: What is wrong.
    message: str


class Problem(TypedDict):
    #: a URI that names the code
    type: str
    #: what the code means, in a few words
    title: str
    #: the HTTP status
    status: int
    #: what is wrong here, and what to do
    detail: str
    #: stable: programs act on it. A newer daemon may know more of them
    code: Literal["malformed_request", "invalid_json", "invalid_request", "unauthorized", "link_invalid", "forbidden", "own_request", "agent_forbidden", "forbidden_origin", "directory_untrusted", "trust_fixed", "not_found", "session_not_found", "agent_unknown", "never_verified", "token_not_found", "permission_not_found", "question_not_found", "checkpoint_not_found", "turn_not_found", "checkpoints_off", "checkpoint_refused", "artifact_not_found", "task_not_found", "task_ended", "task_running", "task_queued", "no_stdin", "not_a_terminal", "task_of_agent", "unknown_signal", "cwd_outside", "program_not_found", "terminals_unavailable", "stdin_full", "too_many_tasks", "file_not_found", "path_outside", "is_a_directory", "not_a_directory", "not_a_file", "file_exists", "directory_not_empty", "file_changed", "file_forbidden", "not_a_repository", "git_failed", "method_not_allowed", "session_exists", "session_ended", "session_unreadable", "session_busy", "message_not_found", "message_sending", "steer_unsupported", "already_answered", "idempotency_conflict", "idempotency_unknown", "not_resumable", "fork_unsupported", "cursor_too_large", "log_changed", "precondition_failed", "request_timeout", "headers_too_large", "body_too_large", "unsupported_media_type", "range_not_satisfiable", "directory_not_found", "attachment_not_found", "invalid_option", "invalid_answers", "unsupported", "agent_not_found", "agent_auth_required", "agent_failed_to_start", "agent_refused", "agent_gone", "too_many_requests", "too_many_tokens", "rate_limited", "too_many_sessions", "too_many_subscribers", "queue_full", "internal", "data_damaged", "install_failed", "artifacts_full", "disk_full", "wrong_node", "no_fleet", "node_not_found", "node_full", "no_node", "owner_unreachable", "not_ready"]
    #: Of a wrong request: what is wrong where.
    errors: NotRequired[list["ProblemErrorsEntry"]]
    #: The same fault has the same code, whatever the agent.
    error_code: NotRequired[Literal["provider_auth", "api_error", "context_overflow", "output_length", "aborted", "rate_limit", "max_turns", "max_budget", "execution_error", "unknown"]]


class ProblemErrorsEntry(TypedDict):
    #: Place in the body or query.
    path: str
    #: What is wrong there.
    message: str


class DaemonList(TypedDict):
    #: In the order of the configuration.
    daemons: list["DaemonListDaemonsEntry"]


class DaemonListDaemonsEntry(TypedDict):
    #: Where it is.
    url: str


class Identity(TypedDict):
    #: Names it in lists and in the audit.
    token_id: str
    #: observe reads; approve also answers requests; operate does everything but manage tokens; admin does all
    role: Literal["observe", "approve", "operate", "admin"]
    #: What it was made for.
    kind: Literal["root", "minted", "page", "link", "agent"]
    #: Null: all sessions.
    scope: Optional["Scope"]
    #: Null: it lives as long as its file.
    expires_at: Optional[str]
    #: For people: what it is for.
    label: NotRequired[str]
    #: Kind agent: the session whose agent holds it.
    session_id: NotRequired[str]
    #: Where the command came in. daemon: nobody asked, the daemon did it by its own rules.
    surface: Literal["http", "websocket", "inspector", "cli", "sdk", "mcp", "agent", "embedded", "daemon"]


class Scope(TypedDict):
    """A session is reached when either list names it."""

    #: Ids of the sessions it reaches.
    sessions: NotRequired[list[str]]
    #: Absolute paths. It reaches, and may create, sessions that work in one of them or below.
    directories: NotRequired[list[str]]


class TradeToken(TypedDict):
    #: The token of the link.
    token: str


class MintedToken(TypedDict):
    #: The secret. It is shown this once.
    token: str
    #: Names it in lists and in the audit.
    token_id: str
    #: observe reads; approve also answers requests; operate does everything but manage tokens; admin does all
    role: Literal["observe", "approve", "operate", "admin"]
    #: Null: it lives as long as its file.
    expires_at: Optional[str]


class Renewed(TypedDict):
    #: When it ends: RFC 3339.
    expires_at: str


class MakeLink(TypedDict):
    #: observe reads; approve also answers requests; operate does everything but manage tokens; admin does all
    role: NotRequired[Literal["observe", "approve", "operate", "admin"]]
    #: For people: what it is for.
    label: NotRequired[str]


class MadeLink(TypedDict):
    #: Goes behind `/ui#link=`.
    token: str
    #: When it ends: RFC 3339.
    expires_at: str
    #: A page on the daemon's disk, readable by its user only, that leads a browser to the link. Null when it cannot be written.
    file: Optional[str]


class MintToken(TypedDict):
    #: observe reads; approve also answers requests; operate does everything but manage tokens; admin does all
    role: Literal["observe", "approve", "operate", "admin"]
    #: Default: a day.
    lifetime_ms: NotRequired[int]
    scope: NotRequired["Scope"]
    #: For people: what it is for.
    label: NotRequired[str]
    #: Everything done with it is marked as coming through this surface.
    surface: NotRequired[Literal["mcp"]]
    #: It may prolong itself with POST /v1/auth/renew, by its lifetime each time.
    renewable: NotRequired[bool]


class TokenList(TypedDict):
    #: All tokens that are valid.
    tokens: list["TokenInfo"]


class TokenInfo(TypedDict):
    #: Names it in lists and in the audit.
    token_id: str
    #: observe reads; approve also answers requests; operate does everything but manage tokens; admin does all
    role: Literal["observe", "approve", "operate", "admin"]
    #: What it was made for.
    kind: Literal["root", "minted", "page", "link", "agent"]
    #: Null: all sessions.
    scope: Optional["Scope"]
    #: Null: it lives as long as its file.
    expires_at: Optional[str]
    #: For people: what it is for.
    label: NotRequired[str]
    #: Kind agent: the session whose agent holds it.
    session_id: NotRequired[str]
    #: The token it was made by.
    parent: Optional[str]


class AuditList(TypedDict):
    """The newest first."""

    #: One page, the newest first.
    records: list["AuditRecord"]
    #: `after` of the following page; null at the end.
    next: Optional[str]


class AuditRecord(TypedDict):
    #: Newer records have smaller ids: the cursor of a page.
    audit_id: str
    #: When it happened: RFC 3339.
    time: str
    #: The operationId of the API, `token.refused` for wrong tokens, or `session.pruned` for each session that was removed because of its age.
    operation: str
    #: done: it had its effect. refused: the caller was not allowed. failed: it was allowed and did not succeed.
    outcome: Literal["done", "refused", "failed"]
    #: The HTTP status it was answered with.
    status: int
    #: The problem code, when it was not done.
    code: NotRequired[str]
    #: Null: nobody that was recognised.
    actor: Optional["Actor"]
    #: The session it was about.
    session_id: NotRequired[str]
    #: What else it was about: a token id, a permission id.
    target: NotRequired[str]
    #: Where wrong tokens came from: a range of addresses.
    remote: NotRequired[str]
    #: How many wrong tokens this record stands for.
    count: NotRequired[int]


class Actor(TypedDict):
    """Who caused it."""

    #: The id of the token, never its secret. Null without a token.
    token_id: Optional[str]
    #: The role the token had when it was used.
    role: Optional[Literal["observe", "approve", "operate", "admin"]]
    #: Where the command came in. daemon: nobody asked, the daemon did it by its own rules.
    surface: Literal["http", "websocket", "inspector", "cli", "sdk", "mcp", "agent", "embedded", "daemon"]
    #: The session whose agent called: a person did not.
    session_id: NotRequired[str]


class AgentList(TypedDict):
    #: All agents the daemon knows, installed or not.
    agents: list["Agent"]


class Agent(TypedDict):
    #: Id of the agent, such as `claude`.
    agent: str
    #: For people.
    name: str
    #: Its program was found.
    installed: bool
    #: Where the program is; of our own agent, the endpoint. Null: not found.
    path: Optional[str]
    #: Version of the program; null: not known.
    version: Optional[str]
    #: false: it needs what `advice` says first. null: cannot be known without asking the provider.
    signed_in: Optional[bool]
    #: What to do next; null: nothing.
    advice: Optional[str]
    #: `POST /v1/agents/{agent}/install` can install it.
    installable: bool
    #: When `dragoman verify` last checked it on the daemon's machine; null when it never did.
    verified_at: Optional[str]
    #: What it can do: the same names for every agent.
    capabilities: dict[str, Any]


class ModelList(TypedDict):
    #: Models to choose from.
    models: list["ModelListModelsEntry"]


class ModelListModelsEntry(TypedDict):
    #: To be given as `model`.
    id: str
    #: For people.
    name: NotRequired[str]
    #: What it is good for.
    description: NotRequired[str]
    #: What may be given as `variant`.
    variants: NotRequired[list[str]]
    #: The agent takes this one when none is named.
    is_default: NotRequired[bool]
    #: Tokens that fit into its context.
    context_window: NotRequired[float]


class ModeList(TypedDict):
    #: Modes to choose from.
    modes: list["ModeListModesEntry"]


class ModeListModesEntry(TypedDict):
    #: To be given as `agent_mode`.
    id: str
    #: For people.
    name: NotRequired[str]
    #: What the agent does in this mode.
    description: NotRequired[str]


class VerifyReport(TypedDict):
    #: Id of the agent, such as `claude`.
    agent: str
    #: Version that was verified; null: not known.
    version: Optional[str]
    #: When it was verified: RFC 3339.
    verified_at: str
    #: All scenarios together.
    totals: "VerifyReportTotals"
    #: What is wrong with the whole: not installed, processes left behind.
    problems: list[str]
    #: What came of each.
    scenarios: list["VerifyScenario"]


class VerifyReportTotals(TypedDict):
    """All scenarios together."""

    #: Scenarios that went as expected.
    passed: int
    #: Scenarios that did not.
    failed: int
    #: Scenarios that did not come to an end.
    hung: int
    #: Scenarios that do not apply.
    skipped: int
    #: Native messages that nobody understood, in scenarios that are not about such messages.
    unparsed: int
    #: Rules of the grammar that were broken.
    broken: int


class VerifyScenario(TypedDict):
    #: Name of the scenario.
    scenario: str
    #: What it is about.
    title: str
    #: How it went.
    verdict: Literal["passed", "failed", "hung", "skipped"]
    #: When it was verified: RFC 3339.
    verified_at: str
    #: How long it took.
    duration_ms: int
    #: Native messages in both directions.
    native: int
    #: Native messages that became events, or repeated what was known.
    mapped: int
    #: Native messages that are understood and have no universal meaning.
    noted: int
    #: Keep-alives, counted only.
    heartbeat: int
    #: Native messages that nobody understood. They are kept as they came.
    unparsed: int
    #: Rules of the grammar that were broken.
    broken: list["VerifyScenarioBrokenEntry"]
    #: Sentences: what was not as expected, or why it was skipped.
    reasons: list[str]


class VerifyScenarioBrokenEntry(TypedDict):
    #: Id of the rule, such as `G4`.
    rule: str
    #: The event that broke it.
    sequence: int
    #: What is wrong.
    message: str


class CreateSession(TypedDict):
    #: Id of the agent, such as `claude`.
    agent: str
    #: An id of your own; refused when it exists. Default: a new one.
    session_id: NotRequired[str]
    #: Where the agent works: an absolute path on the daemon's machine. Default: the daemon's own directory.
    directory: NotRequired[str]
    #: ask: the first message asks a person before anything of the directory is loaded; refuse: the request fails with directory_untrusted instead; restricted: never load it; trusted: load it in this session
    trust: NotRequired[Literal["ask", "refuse", "restricted", "trusted"]]
    #: Id of a model, as `GET /v1/agents/{agent}/models` lists them. Default: the agent's.
    model: NotRequired[str]
    #: Variant of the model, such as a reasoning effort.
    variant: NotRequired[str]
    #: The agent's own mode, as `GET /v1/agents/{agent}/modes` lists them.
    agent_mode: NotRequired[str]
    #: What the agent may do unasked. default: it asks. plan: it changes nothing. accept_edits: it edits files unasked. bypass: it never asks.
    permission_mode: NotRequired[Literal["default", "plan", "accept_edits", "bypass"]]
    #: Name for people. Default: the first message.
    title: NotRequired[str]
    #: Added to the environment of the agent's process.
    env: NotRequired[dict[str, str]]
    #: Servers the agent gets beside its own.
    mcp_servers: NotRequired[list[Union["CreateSessionMcpServersEntry1", "CreateSessionMcpServersEntry2"]]]
    #: Added to the agent's system prompt.
    system_prompt: NotRequired[str]
    #: Words a person files it under.
    tags: NotRequired[list[str]]
    #: Facts of your own, kept with the session.
    metadata: NotRequired[dict[str, Any]]
    #: The agent's own id of a conversation it had before: the session goes on with it.
    resume_native: NotRequired[str]
    #: In a fleet: the node that gets it.
    node: NotRequired[str]
    #: In a fleet: a node that has all of these gets it.
    labels: NotRequired[dict[str, str]]


class CreateSessionMcpServersEntry1(TypedDict):
    #: How the agent calls the server.
    name: str
    #: How it is reached.
    type: Literal["stdio"]
    #: The program to start.
    command: str
    #: Its arguments.
    args: NotRequired[list[str]]
    #: Added to its environment.
    env: NotRequired[dict[str, str]]


class CreateSessionMcpServersEntry2(TypedDict):
    #: How the agent calls the server.
    name: str
    #: How it is reached.
    type: Literal["http", "sse"]
    #: Where it listens.
    url: str
    #: Sent with every request.
    headers: NotRequired[dict[str, str]]


class Session(TypedDict):
    #: Id of the session.
    session_id: str
    #: Id of the agent, such as `claude`.
    agent: str
    #: Version of the agent's program; null until it is known.
    agent_version: Optional[str]
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: What the session does now. waiting: for a person. dormant: no process runs; the next message starts the agent again.
    status: Literal["starting", "idle", "running", "waiting", "dormant", "ended"]
    #: More about the status, for people.
    status_detail: NotRequired[str]
    #: Absolute path of the working directory, on the daemon's machine.
    directory: str
    #: trusted: the agent loads the directory's settings; restricted: it starts without them
    trust: Literal["trusted", "restricted"]
    #: Id of the model; null: the agent's default.
    model: Optional[str]
    #: Variant of the model, such as a reasoning effort; null: the agent's default.
    variant: Optional[str]
    #: The agent's own mode, such as `build`; null: the agent's default.
    agent_mode: Optional[str]
    #: What the agent may do unasked. default: it asks. plan: it changes nothing. accept_edits: it edits files unasked. bypass: it never asks.
    permission_mode: Literal["default", "plan", "accept_edits", "bypass"]
    #: Name for people; null while there is none.
    title: Optional[str]
    #: Words a person files it under.
    tags: list[str]
    #: put away: lists leave it out unless they are asked for it
    archived: bool
    #: kept at hand, and never removed by retention
    pinned: bool
    #: Further facts in the agent's or the client's own words. The daemon does not interpret them.
    metadata: dict[str, Any]
    #: When it was made: RFC 3339, UTC.
    created_at: str
    #: When its last event was written: RFC 3339, UTC.
    updated_at: str
    #: Sequence of the newest event.
    last_sequence: int
    #: How many messages wait in the queue.
    queued: int
    #: How many requests wait for an answer.
    pending: "SessionPending"
    #: Tokens and cost.
    usage: Optional["SessionUsage"]
    #: The error that ended its last turn, or came after it.
    last_error: Optional["SessionLastError"]
    #: Id of the session it branched off from; null: none.
    forked_from: Optional[str]
    #: the session whose agent started this one, for a part of its work
    parent_session_id: NotRequired[str]
    created_by: NotRequired["Actor"]
    #: How the session ended.
    ended: Optional["SessionEnded"]
    #: In a fleet: the node that owns it; null: none now.
    node: NotRequired[Optional[str]]
    #: In a fleet: grows with each owner.
    epoch: NotRequired[int]
    #: In a fleet: the shared place its directory lies in; null: its node's alone.
    place: NotRequired[Optional[str]]
    #: In a fleet, while it is not reachable: the node that has its directory, and that it waits for.
    home: NotRequired[str]
    #: In a fleet: false while nobody can send it anything. It can be read.
    reachable: NotRequired[bool]
    #: In a fleet: why no living node can go on with it; null: one can.
    unclaimable: NotRequired[Optional[Literal["directory", "agent"]]]


class SessionPending(TypedDict):
    """How many requests wait for an answer."""

    #: Open permissions.
    permissions: int
    #: Open questions.
    questions: int


class SessionUsage(TypedDict):
    """Tokens and cost."""

    #: Tokens the model read, cached ones included.
    input_tokens: float
    #: Tokens the model wrote.
    output_tokens: float
    #: Of the output: tokens of thinking.
    reasoning_tokens: NotRequired[float]
    #: Of the input: tokens read from the provider's cache.
    cache_read_tokens: NotRequired[float]
    #: Of the input: tokens written to the provider's cache.
    cache_write_tokens: NotRequired[float]
    #: Cost in US dollars, as the agent says it. Absent: it does not.
    cost_usd: NotRequired[float]
    #: Tokens that the conversation takes of the model's context.
    context_used: NotRequired[float]
    #: Tokens that fit into the model's context.
    context_window: NotRequired[float]


class SessionLastError(TypedDict):
    """The error that ended its last turn, or came after it."""

    #: The same fault has the same code, whatever the agent.
    code: Literal["provider_auth", "api_error", "context_overflow", "output_length", "aborted", "rate_limit", "max_turns", "max_budget", "execution_error", "unknown"]
    #: A sentence for people; of a long one the beginning.
    message: str
    #: When it was reported: RFC 3339, UTC.
    time: str


class SessionEnded(TypedDict):
    """How the session ended."""

    #: completed: it was finished. error: the agent could not go on. terminated: somebody ended it.
    reason: Literal["completed", "error", "terminated"]
    #: Which side ended it.
    terminated_by: Literal["agent", "daemon"]
    #: A sentence for people.
    message: NotRequired[str]
    #: Exit code of the process; null when a signal ended it.
    exit_code: NotRequired[Optional[int]]
    #: Name of the signal that ended the process, such as `SIGKILL`; null when none did.
    signal: NotRequired[Optional[str]]
    #: What the process wrote to its standard error.
    stderr: NotRequired["SessionEndedStderr"]
    actor: NotRequired["Actor"]


class SessionEndedStderr(TypedDict):
    """What the process wrote to its standard error."""

    #: The first lines; null: there were none.
    head: Optional[str]
    #: The last lines; null: the head is all there is.
    tail: Optional[str]
    #: Lines between head and tail are left out.
    truncated: bool
    #: How many lines there were.
    total_lines: NotRequired[int]


class SessionList(TypedDict):
    #: One page.
    sessions: list["Session"]
    #: All sessions that cannot be read, whatever the filter
    unreadable: list["UnreadableSession"]
    #: `before` of the following page; null at the end.
    next: Optional[str]


class UnreadableSession(TypedDict):
    #: Id of the session.
    session_id: str
    #: What is wrong with what is stored
    reason: str


class DirectorySettings(TypedDict):
    #: trusted: the agent loads the directory's settings; restricted: it starts without them
    trust: Literal["trusted", "restricted"]
    #: Absolute path of the working directory, on the daemon's machine.
    directory: str
    #: Files that take effect, or would.
    files: list["DirectorySettingsFilesEntry"]


class DirectorySettingsFilesEntry(TypedDict):
    #: relative to the session's directory
    path: str
    #: What it can make an agent do.
    kind: Literal["settings", "hooks", "mcp_servers", "plugins", "helpers", "environment", "base_url", "permissions", "agents", "commands", "skills", "instructions", "unknown"]
    #: a sentence for a person
    does: str
    #: held_back: the directory is not trusted.
    state: Literal["loaded", "held_back"]


class UpdateSession(TypedDict):
    #: Another model; null: the agent's default from the next start on.
    model: NotRequired[Optional[str]]
    #: Another variant; null: the agent's default from the next start on.
    variant: NotRequired[Optional[str]]
    #: Another mode; null: the agent's default from the next start on.
    agent_mode: NotRequired[Optional[str]]
    #: What the agent may do unasked. default: it asks. plan: it changes nothing. accept_edits: it edits files unasked. bypass: it never asks.
    permission_mode: NotRequired[Literal["default", "plan", "accept_edits", "bypass"]]
    #: counts from the agent's next start, which is before the next turn
    trust: NotRequired[Literal["ask", "restricted", "trusted"]]
    #: Another name.
    title: NotRequired[str]
    #: Words a person files it under.
    tags: NotRequired[list[str]]
    #: true puts it away, false brings it back.
    archived: NotRequired[bool]
    #: true keeps it at hand.
    pinned: NotRequired[bool]


class ForkSession(TypedDict):
    #: An id of your own for the new session. Default: a new one.
    session_id: NotRequired[str]
    #: Name of the new session.
    title: NotRequired[str]
    #: branch off after this event (its `sequence`), where the agent can; otherwise at the end
    at: NotRequired[int]


class PruneSessions(TypedDict):
    #: Only sessions whose last event is older. `0m`: of any age
    older_than: str
    #: So many of the newest stay in any case. Default 0
    keep: NotRequired[int]
    #: Only sessions of this agent.
    agent: NotRequired[str]
    #: Only those that work there
    directory: NotRequired[str]
    #: Only say what would be removed. Default false
    dry_run: NotRequired[bool]


class PruneResult(TypedDict):
    #: Nothing was removed: this is what would be.
    dry_run: bool
    #: Sessions that were removed, or would be
    count: int
    #: In all of them
    events: int
    #: In all of them
    native_messages: int
    #: `updated_at` of the oldest
    oldest: Optional[str]
    #: `updated_at` of the newest
    newest: Optional[str]
    #: The newest first, at most 1000 of them
    sessions: list["PrunedSession"]
    #: Not all were removed in one request: ask again for the others
    has_more: bool


class PrunedSession(TypedDict):
    #: Id of the session.
    session_id: str
    #: Id of the agent, such as `claude`.
    agent: str
    #: Absolute path of the working directory, on the daemon's machine.
    directory: str
    #: Name for people; null while there is none.
    title: Optional[str]
    #: What the session does now. waiting: for a person. dormant: no process runs; the next message starts the agent again.
    status: Literal["starting", "idle", "running", "waiting", "dormant", "ended"]
    #: When its last event was written
    updated_at: str
    #: How many events it had.
    events: int
    #: How many native messages it had.
    native_messages: int


class SendMessage(TypedDict):
    #: What the agent gets as the reason.
    message: str
    #: The person chose one of the agent's own commands: `message` is `/name arguments`. Otherwise a message is text, whatever it begins with.
    command: NotRequired[bool]
    #: Files that go with it.
    attachments: NotRequired[list[Union["SendMessageAttachmentsEntry1", "SendMessageAttachmentsEntry2"]]]
    #: What happens while a turn runs: wait for its end (default), go into it, or be refused.
    when_busy: NotRequired[Literal["queue", "steer", "reject"]]


class SendMessageAttachmentsEntry1(TypedDict):
    #: The bytes in base64.
    data: str
    #: Media type, such as `image/png`.
    mime: str
    #: File name for people and for the agent.
    name: NotRequired[str]


class SendMessageAttachmentsEntry2(TypedDict):
    #: A file inside the session's directory.
    path: str
    #: Media type, such as `image/png`.
    mime: NotRequired[str]
    #: File name for people and for the agent.
    name: NotRequired[str]


class MessageAccepted(TypedDict):
    #: The turn it will have; the running one when it was steered into that.
    turn_id: str
    #: Its name in the queue, as long as it waits.
    message_id: str
    #: Others are before it.
    queued: bool


class EventList(TypedDict):
    #: One page, in the order that was asked for.
    events: list["UniversalEvent"]
    #: Whether another page follows.
    has_more: bool
    #: The `after` (newest first: the `before`) of the following page.
    next: int
    #: Sequence of the newest event.
    last_sequence: int
    #: keep it with `next`, and send both: another history is then refused
    epoch: str

UniversalEvent = Union["SessionStartedEvent", "SessionEndedEvent", "ItemStartedEvent", "ItemDeltaEvent", "ItemCompletedEvent", "Error", "PermissionRequestedEvent", "PermissionResolvedEvent", "QuestionRequestedEvent", "QuestionResolvedEvent", "AgentUnparsedEvent", "MessageQueuedEvent", "MessageUpdatedEvent", "MessageRemovedEvent", "TurnStartedEvent", "TurnEndedEvent", "StepStartedEvent", "StepEndedEvent", "ItemUpdatedEvent", "ItemRemovedEvent", "SessionStatusEvent", "SessionUpdatedEvent", "SessionMovedEvent", "SessionCompactedEvent", "ConfigChangedEvent", "UsageUpdatedEvent", "LimitsUpdatedEvent", "AuthStatusEvent", "TeamMessageEvent", "TeamTaskUpdatedEvent", "TeamStateChangedEvent", "CheckpointCreatedEvent", "CheckpointRewoundEvent", "CheckpointFailedEvent", "ArtifactWrittenEvent", "SkillCatalogUpdatedEvent", "SkillLoadedEvent", "SkillInvokedEvent", "SkillWarningEvent", "TaskSpawnedEvent", "TaskStatusEvent", "TaskOutputEvent", "TaskStdinEvent", "TaskResizedEvent", "TaskSignalledEvent", "TaskCancelRequestedEvent", "TaskCancelledEvent", "AgentNoticeEvent"]


class SessionStartedEvent(TypedDict):
    """The agent is there and can take messages. `metadata` holds what it said about itself."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["session.started"]
    data: "SessionStartedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class SessionStartedEventData(TypedDict):
    #: What the session began with: agent, version, directory and the like.
    metadata: dict[str, Any]


class SessionEndedEvent(TypedDict):
    """The last event of a session."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["session.ended"]
    #: How the session ended.
    data: "SessionEnded"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class ItemStartedEvent(TypedDict):
    """An item begins; it may be empty yet."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["item.started"]
    data: "ItemStartedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class ItemStartedEventData(TypedDict):
    item: "Item"


class Item(TypedDict):
    """One entry of the transcript."""

    #: Id of the item.
    item_id: str
    #: The agent's own id of the item; null where it gave none.
    native_item_id: Optional[str]
    #: The item it belongs to: a message has its tool calls and results as children, a sub-agent's items have the call that started it as parent. Null: none.
    parent_id: Optional[str]
    #: What it is.
    kind: Literal["message", "tool_call", "tool_result", "system", "status", "unknown"]
    #: Who said or did it; null where nobody did.
    role: Optional[Literal["user", "assistant", "system", "tool"]]
    #: Its parts, in order.
    content: list["ContentPart"]
    #: failed: it was cut short, or the tool failed.
    status: Literal["in_progress", "completed", "failed"]
    #: The turn it belongs to; null: it came between turns.
    turn_id: Optional[str]
    #: When it began: RFC 3339.
    started_at: str
    #: When it was finished: RFC 3339; null while it is in progress.
    completed_at: Optional[str]

ContentPart = Union["TextPart", "JsonPart", "ToolCallPart", "ToolResultPart", "FileRefPart", "ReasoningPart", "ImagePart", "AudioPart", "StatusPart", "CodePart", "RefusalPart", "PlanPart", "ResourcePart"]


class TextPart(TypedDict):
    type: Literal["text"]
    #: The text, Markdown as a rule.
    text: str
    artifact: NotRequired["ArtifactRef"]


class ArtifactRef(TypedDict):
    """Where the whole lies, when it was too large for an event."""

    #: Names the stored bytes: `art_` and their sha256.
    artifact_id: str
    #: /v1/artifacts/{artifact_id}
    path: str
    #: Size of the whole.
    bytes: int
    #: Media type, such as `image/png`.
    mime: NotRequired[str]


class JsonPart(TypedDict):
    type: Literal["json"]
    #: Any JSON value.
    json: Any


class ToolCallPart(TypedDict):
    type: Literal["tool_call"]
    #: The agent's own name of the tool.
    name: str
    #: JSON text
    arguments: str
    #: The agent's id of the tool call. The call and its result have the same one.
    call_id: str
    #: What kind of thing the tool does: the same words for every agent.
    tool_kind: NotRequired[Literal["shell", "read", "write", "edit", "delete", "move", "search", "fetch", "web_search", "mcp", "subagent", "plan", "question", "skill", "think", "other"]]
    #: What the call does, in a few words for people.
    title: NotRequired[str]
    #: Files it is about, where they are known.
    paths: NotRequired[list[str]]


class ToolResultPart(TypedDict):
    type: Literal["tool_result"]
    #: The agent's id of the tool call. The call and its result have the same one.
    call_id: str
    #: What the tool gave back, as text.
    output: str
    #: The tool failed.
    is_error: NotRequired[bool]
    #: Of a command; null when a signal ended it.
    exit_code: NotRequired[Optional[int]]
    #: How long the tool ran, in milliseconds.
    duration_ms: NotRequired[float]
    artifact: NotRequired["ArtifactRef"]


class FileRefPart(TypedDict):
    type: Literal["file_ref"]
    #: The file, relative to the session's directory where it lies inside.
    path: str
    #: What was done with the file.
    action: Literal["read", "write", "patch"]
    #: The change as a unified diff; null where the agent does not report it.
    diff: NotRequired[Optional[str]]


class ReasoningPart(TypedDict):
    type: Literal["reasoning"]
    #: What the model thought.
    text: str
    #: private: the provider does not want it shown as it is.
    visibility: Literal["public", "private"]


class ImagePart(TypedDict):
    type: Literal["image"]
    #: Where the bytes are: the path of an artifact or of a file.
    path: str
    #: Media type, such as `image/png`.
    mime: NotRequired[Optional[str]]


class AudioPart(TypedDict):
    type: Literal["audio"]
    #: Where the bytes are: the path of an artifact or of a file.
    path: str
    #: Media type, such as `image/png`.
    mime: str


class StatusPart(TypedDict):
    type: Literal["status"]
    #: What happened, in a word or two.
    label: str
    #: More about it.
    detail: NotRequired[Optional[str]]


class CodePart(TypedDict):
    type: Literal["code"]
    #: Programming language, where it is known.
    language: NotRequired[str]
    #: The source text.
    code: str


class RefusalPart(TypedDict):
    type: Literal["refusal"]
    #: How the model declined.
    text: str


class PlanPart(TypedDict):
    type: Literal["plan"]
    #: The whole plan, in order. A later version replaces it.
    entries: list["PlanEntry"]


class PlanEntry(TypedDict):
    #: What is to be done.
    text: str
    #: How far it is.
    status: Literal["pending", "in_progress", "completed", "cancelled"]
    #: How important the agent thinks it is.
    priority: NotRequired[Literal["high", "medium", "low"]]


class ResourcePart(TypedDict):
    type: Literal["resource"]
    #: Where the resource is.
    uri: str
    #: What it is called, for people.
    name: NotRequired[str]
    #: Its size, where it is known.
    bytes: NotRequired[int]
    #: Media type, such as `image/png`.
    mime: NotRequired[str]
    #: Its text, where it came along.
    text: NotRequired[str]


class ItemDeltaEvent(TypedDict):
    """A piece of a part: the deltas of a part add up to its final text."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["item.delta"]
    data: "ItemDeltaEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class ItemDeltaEventData(TypedDict):
    #: Id of the item.
    item_id: str
    #: The agent's own id of the item; null where it gave none.
    native_item_id: Optional[str]
    #: Which part of the item's content grows.
    part_index: int
    #: What kind of text grows.
    part_type: Literal["text", "reasoning", "refusal", "tool_arguments", "tool_output"]
    #: Of a tool's output, where the agent separates the two.
    stream: NotRequired[Literal["stdout", "stderr"]]
    #: Of reasoning that is not meant to be shown.
    visibility: NotRequired[Literal["private"]]
    #: The text to append.
    delta: str


class ItemCompletedEvent(TypedDict):
    """The item in its final form."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["item.completed"]
    data: "ItemStartedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class Error(TypedDict):
    """Something failed. The code is canonical: the same fault has the same code whatever the agent."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["error"]
    data: "ErrorData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class ErrorData(TypedDict):
    #: A sentence for people.
    message: str
    #: The same fault has the same code, whatever the agent.
    code: Literal["provider_auth", "api_error", "context_overflow", "output_length", "aborted", "rate_limit", "max_turns", "max_budget", "execution_error", "unknown"]
    #: Where the error came from, and whether trying again may help.
    details: "ErrorDataDetails"


class ErrorDataDetails(TypedDict):
    """Where the error came from, and whether trying again may help."""

    #: Where the error came from.
    error_source: Literal["agent", "provider", "transport", "daemon"]
    #: The agent's or provider's own code.
    native_code: NotRequired[Optional[Union[str, float]]]
    #: Whether trying again may help.
    retryable: NotRequired[bool]
    #: How long to wait before the next try.
    retry_after_ms: NotRequired[float]
    #: Exit code of the process; null when a signal ended it.
    exit_code: NotRequired[Optional[int]]
    #: Name of the signal that ended the process, such as `SIGKILL`; null when none did.
    signal: NotRequired[Optional[str]]
    #: What the process wrote to its standard error.
    stderr: NotRequired["SessionEndedStderr"]


class PermissionRequestedEvent(TypedDict):
    """The agent wants to do something and waits for an answer."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["permission.requested"]
    #: A request for permission.
    data: "PermissionRequestedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class PermissionRequestedEventData(TypedDict):
    """A request for permission."""

    #: Id of the request.
    permission_id: str
    #: What the agent wants to do, in a few words.
    action: str
    #: requested until it is answered.
    status: Literal["requested", "approved", "denied"]
    #: What is asked, and how it was answered.
    metadata: "PermissionRequestedEventDataMetadata"


class PermissionRequestedEventDataMetadata(TypedDict):
    """What is asked, and how it was answered."""

    #: The agent's name of the tool.
    tool_name: str
    #: What the tool would get, exactly.
    input: Any
    #: The tool call it is about; null where the agent does not report it.
    call_id: Optional[str]
    #: The item it is about; null where the agent does not report it.
    item_id: Optional[str]
    #: Why the agent asks.
    reason: NotRequired[str]
    #: The agent's own choices.
    options: list["PermissionRequestedEventDataMetadataOptionsEntry"]
    #: The change it would make, as a unified diff. Lines count from the piece that changes where the agent does not say where it stands.
    diff: NotRequired[str]
    #: Files it is about.
    paths: NotRequired[list[str]]
    #: Who settled it. session_end: nobody did before the session ended.
    resolved_by: NotRequired[Literal["client", "policy", "agent", "session_end"]]
    #: What the answer comes down to, whichever option was chosen.
    reply: NotRequired[Literal["once", "always", "reject"]]
    #: The option that was chosen.
    option_id: NotRequired[str]
    #: What the person said with the answer.
    message: NotRequired[str]
    #: The input the person allowed instead.
    updated_input: NotRequired[Any]
    #: sha256 of the exact input, as canonical JSON: what an approval is bound to.
    input_hash: NotRequired[str]
    actor: NotRequired["Actor"]


class PermissionRequestedEventDataMetadataOptionsEntry(TypedDict):
    #: To be sent back as `option_id`.
    id: str
    #: The agent's own words for the choice.
    label: str
    #: What choosing it means.
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class PermissionResolvedEvent(TypedDict):
    """It was answered: by a client, by a rule, by the agent, or by the session's end."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["permission.resolved"]
    #: A request for permission.
    data: "PermissionRequestedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class QuestionRequestedEvent(TypedDict):
    """The agent asks a person something and waits."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["question.requested"]
    #: A question to a person.
    data: "QuestionRequestedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class QuestionRequestedEventData(TypedDict):
    """A question to a person."""

    #: Id of the request.
    question_id: str
    #: The first question.
    prompt: str
    #: The first question's answers to choose from.
    options: list[str]
    #: The answer to the first question; null until it is answered.
    response: Optional[str]
    #: requested until it is answered.
    status: Literal["requested", "answered", "rejected"]
    #: All questions that are asked at once.
    questions: list["QuestionRequestedEventDataQuestionsEntry"]
    #: For each question, the answers that were given.
    answers: NotRequired[list[list[str]]]
    #: The tool call it is about.
    call_id: NotRequired[Optional[str]]
    #: The item it is about.
    item_id: NotRequired[Optional[str]]
    #: Who settled it. session_end: nobody did before the session ended.
    resolved_by: NotRequired[Literal["client", "policy", "agent", "session_end"]]
    actor: NotRequired["Actor"]
    #: Further facts in the agent's or the client's own words. The daemon does not interpret them.
    metadata: NotRequired[dict[str, Any]]


class QuestionRequestedEventDataQuestionsEntry(TypedDict):
    #: The question.
    prompt: str
    #: A short heading for it.
    header: NotRequired[str]
    #: Answers to choose from.
    options: list["QuestionRequestedEventDataQuestionsEntryOptionsEntry"]
    #: Several may be chosen.
    multi_select: bool
    #: Any other text may be answered.
    free_text: bool
    #: true: the answer is a secret. Do not show it while it is typed; no event holds it.
    secret: NotRequired[bool]


class QuestionRequestedEventDataQuestionsEntryOptionsEntry(TypedDict):
    #: The answer, as it is sent back.
    label: str
    #: What choosing it means.
    description: NotRequired[str]


class QuestionResolvedEvent(TypedDict):
    """The questions were answered or declined."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["question.resolved"]
    #: A question to a person.
    data: "QuestionRequestedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class AgentUnparsedEvent(TypedDict):
    """A native message that was not understood. It is in the ledger, verbatim."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["agent.unparsed"]
    data: "AgentUnparsedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class AgentUnparsedEventData(TypedDict):
    #: Why the message was not understood.
    error: str
    #: Where it came from: the agent and the kind of message.
    location: str
    #: sha256 of the message's bytes, to find it in the ledger.
    raw_hash: NotRequired[str]


class MessageQueuedEvent(TypedDict):
    """A message was accepted and waits at the end of the queue, until a turn names it or it is removed."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["message.queued"]
    data: "MessageQueuedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class MessageQueuedEventData(TypedDict):
    #: Id of the message in the queue.
    message_id: str
    #: Id of the turn.
    turn_id: str
    #: What it says.
    text: str
    #: The text is a command of the agent that the person chose.
    command: NotRequired[bool]
    #: Files that came with it.
    attachments: NotRequired[list["MessageQueuedEventDataAttachmentsEntry"]]
    #: How many deliveries to the agent were begun. Absent: none.
    attempts: NotRequired[int]
    #: The running turn that it is being given to. The agent may have it: it is given to no other.
    steering: NotRequired[str]
    actor: NotRequired["Actor"]


class MessageQueuedEventDataAttachmentsEntry(TypedDict):
    #: File name.
    name: str
    #: Media type, such as `image/png`.
    mime: str
    #: Names the stored bytes: `art_` and their sha256.
    artifact_id: str
    #: Where the agent finds the file; null: it gets the bytes.
    path: Optional[str]


class MessageUpdatedEvent(TypedDict):
    """A queued message was edited or moved, or a delivery of it was begun: only the fields that changed."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["message.updated"]
    data: "MessageUpdatedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class MessageUpdatedEventData(TypedDict):
    #: Id of the message in the queue.
    message_id: str
    #: What it says instead.
    text: NotRequired[str]
    #: Its new place in the queue; 0 is delivered next.
    position: NotRequired[int]
    #: How many deliveries to the agent were begun.
    attempts: NotRequired[int]
    #: The running turn that it is being given to; null: that turn did not take it.
    steering: NotRequired[Optional[str]]
    actor: NotRequired["Actor"]


class MessageRemovedEvent(TypedDict):
    """A queued message will have no turn of its own."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["message.removed"]
    data: "MessageRemovedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class MessageRemovedEventData(TypedDict):
    #: Id of the message in the queue.
    message_id: str
    #: Why it left the queue. steered: it went into the running turn. refused: its sender was informed that it was not accepted. imported: a file brought it in.
    reason: Literal["client", "steered", "refused", "imported", "session_ended"]
    #: Id of the turn.
    turn_id: NotRequired[str]
    actor: NotRequired["Actor"]


class TurnStartedEvent(TypedDict):
    """A turn begins: after a client's message, or because the agent began by itself."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["turn.started"]
    data: "TurnStartedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TurnStartedEventData(TypedDict):
    #: Id of the turn.
    turn_id: str
    #: client: a message began it. agent: the agent began by itself, for instance when a background command ended.
    initiator: Literal["client", "agent"]
    #: Id of the message in the queue.
    message_id: NotRequired[str]
    actor: NotRequired["Actor"]


class TurnEndedEvent(TypedDict):
    """The turn is over; nothing it opened is left open. `usage` has the tokens of the session's own model; those of sub-agents are in their steps (`step.ended`) and in `usage.updated`, as far as the agent reports them."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["turn.ended"]
    data: "TurnEndedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TurnEndedEventData(TypedDict):
    #: Id of the turn.
    turn_id: str
    #: Why the turn ended.
    stop_reason: Literal["end_turn", "interrupted", "error", "refusal", "output_length", "max_turns", "max_budget"]
    #: The same fault has the same code, whatever the agent.
    error_code: NotRequired[Literal["provider_auth", "api_error", "context_overflow", "output_length", "aborted", "rate_limit", "max_turns", "max_budget", "execution_error", "unknown"]]
    #: Tokens and cost.
    usage: NotRequired["SessionUsage"]
    actor: NotRequired["Actor"]


class StepStartedEvent(TypedDict):
    """One call of the model within a turn begins."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["step.started"]
    data: "StepStartedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class StepStartedEventData(TypedDict):
    #: Id of the step: one call of the model.
    step_id: str
    #: Id of the turn.
    turn_id: str


class StepEndedEvent(TypedDict):
    """That call is over, with its tokens."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["step.ended"]
    data: "StepEndedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class StepEndedEventData(TypedDict):
    #: Id of the step: one call of the model.
    step_id: str
    #: Id of the turn.
    turn_id: str
    #: Why the model stopped, in the provider's words.
    finish_reason: NotRequired[str]
    #: Tokens and cost.
    usage: NotRequired["SessionUsage"]
    #: Cost of the step in US dollars.
    cost_usd: NotRequired[float]


class ItemUpdatedEvent(TypedDict):
    """An item changed otherwise than by deltas: a plan moves on, a tool call gets its arguments."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["item.updated"]
    data: "ItemStartedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class ItemRemovedEvent(TypedDict):
    """The agent took an item back."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["item.removed"]
    data: "ItemRemovedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class ItemRemovedEventData(TypedDict):
    #: Id of the item.
    item_id: str
    #: The agent's own id of the item; null where it gave none.
    native_item_id: Optional[str]
    #: Why the agent took it back.
    reason: str


class SessionStatusEvent(TypedDict):
    """What the session does now."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["session.status"]
    data: "SessionStatusEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class SessionStatusEventData(TypedDict):
    #: What the session does now.
    status: Literal["idle", "running", "waiting", "retrying", "compacting", "stalled", "dormant"]
    #: More about it, for people.
    detail: NotRequired[str]
    #: Of retrying: which try this is.
    attempt: NotRequired[int]
    #: Of retrying: when the next try is made, RFC 3339.
    retry_at: NotRequired[str]


class SessionUpdatedEvent(TypedDict):
    """Title or metadata changed."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["session.updated"]
    data: "SessionUpdatedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class SessionUpdatedEventData(TypedDict):
    #: The new name.
    title: NotRequired[str]
    #: How a person files it; absent: not changed.
    tags: NotRequired[list[str]]
    #: Whether it is put away; absent: not changed.
    archived: NotRequired[bool]
    #: Whether it is kept at hand; absent: not changed.
    pinned: NotRequired[bool]
    #: Further facts in the agent's or the client's own words. The daemon does not interpret them.
    metadata: NotRequired[dict[str, Any]]
    actor: NotRequired["Actor"]


class SessionMovedEvent(TypedDict):
    """Another node of the fleet owns the session from here on."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["session.moved"]
    data: "SessionMovedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any

SessionMovedEventData = TypedDict(
    "SessionMovedEventData",
    {
        "from": Optional[str],
        "to": str,
        "epoch": int,
        "reason": Literal["takeover", "move", "restart"],
    },
)


class SessionCompactedEvent(TypedDict):
    """The agent shortened its memory of the conversation."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["session.compacted"]
    data: "SessionCompactedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class SessionCompactedEventData(TypedDict):
    #: auto: the agent did it because its context was full. manual: a person asked for it.
    trigger: Literal["auto", "manual", "unknown"]
    #: Size of the context before.
    pre_tokens: NotRequired[float]
    #: Size of the context after.
    post_tokens: NotRequired[float]
    #: What the conversation was replaced with.
    summary: NotRequired[str]


class ConfigChangedEvent(TypedDict):
    """What is configured or offered changed: only the fields that did. Lists replace the older list whole."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["config.changed"]
    data: "ConfigChangedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class ConfigChangedEventData(TypedDict):
    #: Id of the model; null: the agent's default.
    model: NotRequired[Optional[str]]
    #: Variant of the model, such as a reasoning effort; null: the agent's default.
    variant: NotRequired[Optional[str]]
    #: The agent's own mode, such as `build`; null: the agent's default.
    agent_mode: NotRequired[Optional[str]]
    #: What the agent may do unasked; a word of the agent's own where none of ours fits.
    permission_mode: NotRequired[Union[Literal["default", "plan", "accept_edits", "bypass"], str]]
    #: The agent's own commands.
    commands: NotRequired[list["ConfigChangedEventDataCommandsEntry"]]
    #: Models to choose from.
    models: NotRequired[list["ModelListModelsEntry"]]
    #: Modes to choose from.
    modes: NotRequired[list["ModeListModesEntry"]]
    #: MCP servers and their state.
    mcp_servers: NotRequired[list["ConfigChangedEventDataMcpServersEntry"]]
    #: Names of the agent's tools.
    tools: NotRequired[list[str]]
    #: The agent's own options.
    options: NotRequired[list["ConfigChangedEventDataOptionsEntry"]]
    actor: NotRequired["Actor"]


class ConfigChangedEventDataCommandsEntry(TypedDict):
    #: Without the leading slash.
    name: str
    #: What the command does.
    description: NotRequired[str]
    #: What may follow the name.
    input_hint: NotRequired[str]


class ConfigChangedEventDataMcpServersEntry(TypedDict):
    #: Its name in the configuration.
    name: str
    #: starting, connected, failed, needs_auth, disabled, or a word of the agent's own
    status: str
    #: Why it cannot be used.
    error: NotRequired[str]


class ConfigChangedEventDataOptionsEntry(TypedDict):
    #: The agent's own name of the option.
    id: str
    #: For people.
    name: NotRequired[str]
    #: What is set.
    value: Any
    #: What may be set.
    choices: NotRequired[list["ConfigChangedEventDataOptionsEntryChoicesEntry"]]


class ConfigChangedEventDataOptionsEntryChoicesEntry(TypedDict):
    #: The value.
    value: Any
    #: For people.
    name: NotRequired[str]
    #: What it means.
    description: NotRequired[str]


class UsageUpdatedEvent(TypedDict):
    """Tokens and cost so far, of a step, a turn or the session."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["usage.updated"]
    data: "UsageUpdatedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class UsageUpdatedEventData(TypedDict):
    #: What the figures are about.
    scope: Literal["step", "turn", "session"]
    #: Tokens the model read, cached ones included.
    input_tokens: float
    #: Tokens the model wrote.
    output_tokens: float
    #: Of the output: tokens of thinking.
    reasoning_tokens: NotRequired[float]
    #: Of the input: tokens read from the provider's cache.
    cache_read_tokens: NotRequired[float]
    #: Of the input: tokens written to the provider's cache.
    cache_write_tokens: NotRequired[float]
    #: Cost in US dollars, as the agent says it. Absent: it does not.
    cost_usd: NotRequired[float]
    #: Tokens that the conversation takes of the model's context.
    context_used: NotRequired[float]
    #: Tokens that fit into the model's context.
    context_window: NotRequired[float]


class LimitsUpdatedEvent(TypedDict):
    """How much of the provider's limits is used."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["limits.updated"]
    data: "LimitsUpdatedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class LimitsUpdatedEventData(TypedDict):
    #: Limits of the provider, one for each span of time.
    windows: list["LimitsUpdatedEventDataWindowsEntry"]


class LimitsUpdatedEventDataWindowsEntry(TypedDict):
    #: The provider's name of the span.
    name: str
    #: How much of it is used.
    used_percent: NotRequired[float]
    #: When it begins anew: RFC 3339.
    resets_at: NotRequired[str]
    #: The provider's word for the state.
    status: NotRequired[str]


class AuthStatusEvent(TypedDict):
    """The agent's login."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["auth.status"]
    data: "AuthStatusEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class AuthStatusEventData(TypedDict):
    #: Whether the agent can reach its provider with the account it has.
    status: Literal["ok", "required", "in_progress", "failed"]
    #: A sentence for people.
    message: NotRequired[str]
    #: Where a person signs in.
    url: NotRequired[str]


class TeamMessageEvent(TypedDict):
    """One member of a team of agents wrote to another."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["team.message"]
    data: "TeamMessageEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any

TeamMessageEventData = TypedDict(
    "TeamMessageEventData",
    {
        "from": str,
        "to": str,
        "text": str,
        "metadata": NotRequired[dict[str, Any]],
    },
)


class TeamTaskUpdatedEvent(TypedDict):
    """A task of the team changed."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["team.task_updated"]
    data: "TeamTaskUpdatedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TeamTaskUpdatedEventData(TypedDict):
    #: The team's own id of the task.
    task_id: str
    #: What is to be done.
    title: NotRequired[str]
    #: The team's own word for the state.
    status: str
    #: Who does it; null: nobody yet.
    owner: NotRequired[Optional[str]]
    #: Further facts in the agent's or the client's own words. The daemon does not interpret them.
    metadata: NotRequired[dict[str, Any]]


class TeamStateChangedEvent(TypedDict):
    """The members of the team."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["team.state_changed"]
    data: "TeamStateChangedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TeamStateChangedEventData(TypedDict):
    #: The whole team.
    members: list["TeamStateChangedEventDataMembersEntry"]
    #: Further facts in the agent's or the client's own words. The daemon does not interpret them.
    metadata: NotRequired[dict[str, Any]]


class TeamStateChangedEventDataMembersEntry(TypedDict):
    #: Name of the member.
    name: str
    #: What the member does now.
    status: str
    #: What the member is for.
    role: NotRequired[str]


class CheckpointCreatedEvent(TypedDict):
    """The state of the files was stored."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["checkpoint.created"]
    data: "CheckpointCreatedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class CheckpointCreatedEventData(TypedDict):
    #: Id of the checkpoint.
    checkpoint_id: str
    #: Name for people.
    label: str
    #: When it was made: RFC 3339, UTC.
    created_at: str
    #: Paths that differ from the checkpoint before it.
    files: list[str]
    #: Taken by dragoman, not by a person.
    auto: bool
    #: The tool it was taken for; null: for none.
    tool_name: Optional[str]


class CheckpointRewoundEvent(TypedDict):
    """Files were brought back to a checkpoint."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["checkpoint.rewound"]
    data: "CheckpointRewoundEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class CheckpointRewoundEventData(TypedDict):
    #: Id of the checkpoint.
    checkpoint_id: str
    #: Name for people.
    label: str
    #: Paths that were changed back.
    files: list[str]


class CheckpointFailedEvent(TypedDict):
    """Storing or bringing back failed."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["checkpoint.failed"]
    data: "CheckpointFailedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class CheckpointFailedEventData(TypedDict):
    #: What was tried.
    action: Literal["create", "rewind"]
    #: Why it failed.
    error: str


class ArtifactWrittenEvent(TypedDict):
    """Bytes too large for an event were stored; GET /v1/artifacts/{artifact_id} has them."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["artifact.written"]
    data: "ArtifactWrittenEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class ArtifactWrittenEventData(TypedDict):
    #: Names the stored bytes: `art_` and their sha256.
    artifact_id: str
    #: What the bytes are.
    kind: Literal["image", "audio", "tool_output", "json", "text", "file"]
    #: Size.
    bytes: int
    #: sha256:<hex>
    digest: str
    #: Media type, such as `image/png`.
    mime: NotRequired[str]
    #: How it begins, for text.
    preview: NotRequired[str]


class SkillCatalogUpdatedEvent(TypedDict):
    """The skills the agent knows changed."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["skill.catalog_updated"]
    data: "SkillCatalogUpdatedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class SkillCatalogUpdatedEventData(TypedDict):
    #: How many skills there are.
    count: int
    #: Where they were looked for.
    roots: list[str]
    #: Names that several skills have.
    collisions: NotRequired[list[str]]


class SkillLoadedEvent(TypedDict):
    """A skill was read."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["skill.loaded"]
    data: "SkillLoadedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class SkillLoadedEventData(TypedDict):
    #: Name of the skill.
    name: str
    #: Absolute path of its SKILL.md.
    path: str
    #: sha256:<hex> of its SKILL.md.
    digest: str
    #: The head of its SKILL.md, as written.
    frontmatter: dict[str, Any]
    #: What is wrong with it.
    warnings: NotRequired[list[str]]


class SkillInvokedEvent(TypedDict):
    """A skill is used."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["skill.invoked"]
    data: "SkillInvokedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class SkillInvokedEventData(TypedDict):
    #: Name of the skill.
    name: str
    #: What it was called with.
    args: NotRequired[str]
    #: manual: a person chose it. auto: the agent did.
    mode: Literal["manual", "auto"]
    #: Tools it may use.
    effective_allowed_tools: NotRequired[list[str]]


class SkillWarningEvent(TypedDict):
    """Something is wrong with a skill."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["skill.warning"]
    data: "SkillWarningEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class SkillWarningEventData(TypedDict):
    #: Name of the skill; absent: it has none.
    name: NotRequired[str]
    #: What kind of fault it is.
    kind: str
    #: A sentence for people.
    detail: str


class TaskSpawnedEvent(TypedDict):
    """A program was started that may outlive the turn."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["task.spawned"]
    data: "TaskSpawnedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TaskSpawnedEventData(TypedDict):
    #: Id of the task.
    task_id: str
    #: The tool it runs for; `shell` for a command of a person.
    tool_name: str
    #: {command} or {argv}, as asked for.
    args: Any
    #: Working directory.
    cwd: NotRequired[str]
    #: For people.
    title: NotRequired[str]
    #: pipes: stdout and stderr apart. pty: a terminal.
    execution_mode: Literal["pipes", "pty"]
    #: The session it runs for; null: for none.
    origin_session_id: NotRequired[Optional[str]]
    #: Whose process it is. The agent's own: it reported it, and only it can do something with it. Default daemon.
    owner: NotRequired[Literal["daemon", "agent"]]
    #: What a client can do with it while it runs.
    controls: NotRequired[list[Literal["stdin", "resize", "signal", "cancel"]]]
    actor: NotRequired["Actor"]
    #: Outputs that were too long for an event.
    artifacts: NotRequired[list["ArtifactRef"]]


class TaskStatusEvent(TypedDict):
    """What became of it."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["task.status"]
    data: "TaskStatusEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TaskStatusEventData(TypedDict):
    #: Id of the task.
    task_id: str
    #: How far it is. exited: it ended by itself, see `exit_code`.
    status: Literal["queued", "running", "exited", "cancelled", "failed"]
    #: Exit code of the process; null when a signal ended it.
    exit_code: NotRequired[Optional[int]]
    #: Name of the signal that ended the process, such as `SIGKILL`; null when none did.
    signal: NotRequired[Optional[str]]
    #: When it started: RFC 3339.
    started_at: NotRequired[str]
    #: When it ended: RFC 3339.
    ended_at: NotRequired[str]
    #: Why it failed to start or was lost.
    error: NotRequired[str]
    #: Outputs that were too long for an event.
    artifacts: NotRequired[list["ArtifactRef"]]


class TaskOutputEvent(TypedDict):
    """What it wrote."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["task.output"]
    data: "TaskOutputEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TaskOutputEventData(TypedDict):
    #: Id of the task.
    task_id: str
    #: Where it was written to.
    stream: Literal["stdout", "stderr", "pty"]
    #: What was written, as UTF-8.
    chunk: str
    #: Place of the chunk in its stream, in bytes. Invalid UTF-8 is replaced in the text, not in the count.
    offset: NotRequired[int]
    #: How much of the stream the chunk stands for, in bytes.
    bytes: NotRequired[int]
    #: Outputs that were too long for an event.
    artifacts: NotRequired[list["ArtifactRef"]]


class TaskStdinEvent(TypedDict):
    """What was written to it."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["task.stdin"]
    data: "TaskStdinEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TaskStdinEventData(TypedDict):
    #: Id of the task.
    task_id: str
    #: What was typed, in base64.
    chunk_b64: str
    actor: NotRequired["Actor"]


class TaskResizedEvent(TypedDict):
    """Its terminal changed size."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["task.resized"]
    data: "TaskResizedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TaskResizedEventData(TypedDict):
    #: Id of the task.
    task_id: str
    #: New height of the terminal.
    rows: int
    #: New width of the terminal.
    cols: int
    actor: NotRequired["Actor"]


class TaskSignalledEvent(TypedDict):
    """It got a signal."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["task.signalled"]
    data: "TaskSignalledEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TaskSignalledEventData(TypedDict):
    #: Id of the task.
    task_id: str
    #: Name of the signal that was sent.
    signal: str
    actor: NotRequired["Actor"]


class TaskCancelRequestedEvent(TypedDict):
    """Someone wants it stopped."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["task.cancel_requested"]
    data: "TaskCancelRequestedEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TaskCancelRequestedEventData(TypedDict):
    #: Id of the task.
    task_id: str
    #: Why it is to end.
    reason: str
    actor: NotRequired["Actor"]


class TaskCancelledEvent(TypedDict):
    """It was stopped."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["task.cancelled"]
    data: "TaskCancelledEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class TaskCancelledEventData(TypedDict):
    #: Id of the task.
    task_id: str
    #: Why it was ended.
    reason: str
    #: How long it ran.
    wall_time_ms: NotRequired[float]


class AgentNoticeEvent(TypedDict):
    """Something the agent said that has no event of its own and is worth knowing."""

    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    #: Id of the session.
    session_id: str
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    #: Who says it: the agent, or the daemon on its behalf.
    source: Literal["agent", "daemon"]
    type: Literal["agent.notice"]
    data: "AgentNoticeEventData"
    #: The native message it was made from; null unless asked for with `include_raw`.
    raw: Any


class AgentNoticeEventData(TypedDict):
    #: What it is, in the agent's words.
    name: str
    #: The rest of the native message.
    detail: NotRequired[Any]


class MessageQueueList(TypedDict):
    #: In the order they are delivered.
    messages: list["MessageQueueListMessagesEntry"]
    #: The queue is as of this event; changes follow as message.* and turn.started.
    last_sequence: int


class MessageQueueListMessagesEntry(TypedDict):
    #: Id of the message in the queue.
    message_id: str
    #: Id of the turn.
    turn_id: str
    #: What it says.
    text: str
    #: The text is a command of the agent that the person chose.
    command: NotRequired[bool]
    #: Files that came with it.
    attachments: NotRequired[list["MessageQueuedEventDataAttachmentsEntry"]]
    #: How many deliveries to the agent were begun. Absent: none.
    attempts: NotRequired[int]
    #: The running turn that it is being given to. The agent may have it: it is given to no other.
    steering: NotRequired[str]
    actor: NotRequired["Actor"]
    #: When it was accepted: RFC 3339.
    queued_at: str


class UpdateQueuedMessage(TypedDict):
    #: What it says instead.
    text: NotRequired[str]
    #: Its place in the queue: 0 is delivered next, beyond the end is the end.
    position: NotRequired[int]
    #: The message_id of the one it is to stand before, instead of a place: others may be delivered meanwhile.
    before: NotRequired[str]


class Pending(TypedDict):
    #: Open permissions, the oldest first.
    permissions: list["PermissionRequestedEventData"]
    #: Open questions, the oldest first.
    questions: list["QuestionRequestedEventData"]


class PermissionReply(TypedDict):
    #: What the answer comes down to, whichever option was chosen.
    reply: Literal["once", "always", "reject"]
    #: One of the request's own options. It decides what happens.
    option_id: NotRequired[str]
    #: A reason for the agent, when it is rejected.
    message: NotRequired[str]
    #: run it with this input instead; only where the agent's capability edit_input is true
    updated_input: NotRequired[Any]
    #: metadata.input_hash of the request that was read; refused when the input is another one
    input_hash: NotRequired[str]


class QuestionReply(TypedDict):
    #: For each question, the answers: labels of its options, or free text.
    answers: list[list[str]]


class SessionSnapshot(TypedDict):
    #: Of the snapshot's format.
    version: Literal[1]
    #: The state after this event.
    sequence: int
    #: When that event was written; null before the first.
    time: Optional[str]
    #: What is known of the session.
    facts: "SessionSnapshotFacts"
    #: The turn that runs; null: none.
    turn: Optional["SessionSnapshotTurn"]
    #: Calls of the model that run now.
    steps: list["StepStartedEventData"]
    #: Items in progress, with what was said so far. Finished ones: GET …/items.
    items: list["Item"]
    #: Ids of items that were finished and taken back later.
    withdrawn: list[str]
    #: Open permissions and questions, the oldest first.
    requests: list[Union["SessionSnapshotRequestsEntry1", "SessionSnapshotRequestsEntry2"]]
    #: Messages that wait, the next one first.
    queue: list["MessageQueueListMessagesEntry"]


class SessionSnapshotFacts(TypedDict):
    """What is known of the session."""

    #: Id of the agent, such as `claude`.
    agent: Optional[str]
    #: Version of the agent's program; null until it is known.
    agent_version: Optional[str]
    #: Absolute path of the working directory, on the daemon's machine.
    directory: Optional[str]
    #: The agent's own id of the conversation; null until the agent gave one.
    native_session_id: Optional[str]
    #: Name for people; null while there is none.
    title: Optional[str]
    #: Id of the model; null: the agent's default.
    model: Optional[str]
    #: Variant of the model, such as a reasoning effort; null: the agent's default.
    variant: Optional[str]
    #: The agent's own mode, such as `build`; null: the agent's default.
    agent_mode: Optional[str]
    #: What the agent may do unasked. default: it asks. plan: it changes nothing. accept_edits: it edits files unasked. bypass: it never asks.
    permission_mode: Literal["default", "plan", "accept_edits", "bypass"]
    #: What the session does now.
    status: Literal["idle", "running", "waiting", "retrying", "compacting", "stalled", "dormant"]
    #: Tokens and cost.
    usage: Optional["SessionUsage"]
    #: The agent reports the session's usage itself; turns are not added up.
    usage_told: bool
    #: What the agent last said about itself.
    config: "SessionSnapshotFactsConfig"
    #: The error that ended its last turn, or came after it.
    last_error: NotRequired[Optional["SessionLastError"]]
    #: How the session ended.
    ended: Optional["SessionEnded"]


class SessionSnapshotFactsConfig(TypedDict):
    """What the agent last said about itself."""

    #: Id of the model; null: the agent's default.
    model: NotRequired[Optional[str]]
    #: Variant of the model, such as a reasoning effort; null: the agent's default.
    variant: NotRequired[Optional[str]]
    #: The agent's own mode, such as `build`; null: the agent's default.
    agent_mode: NotRequired[Optional[str]]
    #: What the agent may do unasked; a word of the agent's own where none of ours fits.
    permission_mode: NotRequired[Union[Literal["default", "plan", "accept_edits", "bypass"], str]]
    #: The agent's own commands.
    commands: NotRequired[list["ConfigChangedEventDataCommandsEntry"]]
    #: Models to choose from.
    models: NotRequired[list["ModelListModelsEntry"]]
    #: Modes to choose from.
    modes: NotRequired[list["ModeListModesEntry"]]
    #: MCP servers and their state.
    mcp_servers: NotRequired[list["ConfigChangedEventDataMcpServersEntry"]]
    #: Names of the agent's tools.
    tools: NotRequired[list[str]]
    #: The agent's own options.
    options: NotRequired[list["ConfigChangedEventDataOptionsEntry"]]


class SessionSnapshotTurn(TypedDict):
    """The turn that runs; null: none."""

    #: Id of the turn.
    turn_id: str
    #: client: a message began it. agent: the agent began by itself.
    initiator: Literal["client", "agent"]
    #: The message it took out of the queue.
    message_id: NotRequired[str]
    actor: NotRequired["Actor"]
    #: When it began: RFC 3339.
    started_at: str


class SessionSnapshotRequestsEntry1(TypedDict):
    kind: Literal["permission"]
    #: When it was asked: RFC 3339.
    requested_at: str
    #: A request for permission.
    data: "PermissionRequestedEventData"


class SessionSnapshotRequestsEntry2(TypedDict):
    kind: Literal["question"]
    #: When it was asked: RFC 3339.
    requested_at: str
    #: A question to a person.
    data: "QuestionRequestedEventData"


class ItemList(TypedDict):
    #: One page of the transcript.
    items: list["Item"]
    #: Of each item: the sequence of its item.started.
    sequences: list[int]
    #: Whether another page follows.
    has_more: bool
    #: The `after` of the following page; with order=desc its `before`.
    next: int
    #: The items are in the state they had after this event.
    last_sequence: int


class Coverage(TypedDict):
    #: Native messages by disposition.
    totals: "CoverageTotals"
    #: The same by native type.
    types: list["CoverageTypesEntry"]


class CoverageTotals(TypedDict):
    """Native messages by disposition."""

    #: Native messages that became events, or repeated what was known.
    mapped: int
    #: Native messages that are understood and have no universal meaning.
    noted: int
    #: Keep-alives, counted only.
    heartbeat: int
    #: Native messages that nobody understood. They are kept as they came.
    unparsed: int


class CoverageTypesEntry(TypedDict):
    #: The agent's own name of the message.
    type: str
    #: What became of them.
    disposition: str
    #: How many there were.
    count: int


class Artifact(TypedDict):
    #: Names the stored bytes: `art_` and their sha256.
    artifact_id: str
    #: where its bytes are served
    path: str
    #: image, audio, tool_output, json, text or file
    kind: str
    #: Media type, such as `image/png`.
    mime: str
    #: File name it came with; null: it had none.
    name: Optional[str]
    #: Size.
    bytes: int
    #: sha256:<hex>
    digest: str
    #: When it was made: RFC 3339, UTC.
    created_at: str
    #: who has it: it goes with the last of them
    references: list["ArtifactReference"]


class ArtifactReference(TypedDict):
    #: What refers to it: a session or a task.
    stream_kind: Literal["session", "task"]
    #: the session's or the task's id
    id: str


class ArtifactPreview(TypedDict):
    #: Names the stored bytes: `art_` and their sha256.
    artifact_id: str
    #: What the bytes are: it decides how they can be shown.
    format: Literal["text", "json", "diff", "image", "binary"]
    #: Size of the whole artifact.
    bytes: int
    #: how it begins; JSON is laid out
    head: NotRequired[str]
    #: how it ends; absent when the head is all of it
    tail: NotRequired[str]
    #: bytes between head and tail
    left_out: NotRequired[int]
    #: Of an image, in pixels.
    width: NotRequired[int]
    #: Of an image, in pixels.
    height: NotRequired[int]
    #: of a diff: the files it changes, and how many lines
    files: NotRequired[list["ArtifactPreviewFilesEntry"]]


class ArtifactPreviewFilesEntry(TypedDict):
    #: Path as the diff names it.
    path: str
    #: Lines that were added.
    added: int
    #: Lines that were removed.
    removed: int


class SearchResult(TypedDict):
    #: the newest first
    hits: list["SearchHit"]
    #: `before` of the following page; null at the end.
    next: Optional[str]
    #: How much of the log can be found by now.
    index: "SearchResultIndex"


class SearchResultIndex(TypedDict):
    """How much of the log can be found by now."""

    #: building: the index is still being made from the log, so something may be missing
    state: Literal["building", "ready", "failed"]
    #: Why the index failed.
    message: NotRequired[str]


class SearchHit(TypedDict):
    #: Id of the session.
    session_id: str
    #: of the event that holds the text: read it with after = sequence - 1
    sequence: int
    #: The item that holds the text; null: none does.
    item_id: Optional[str]
    #: user: what a person wrote; assistant: what the agent said; reasoning: its thoughts; tool: calls and their results; request: permissions and questions; error: errors
    kind: Literal["user", "assistant", "reasoning", "tool", "request", "error"]
    #: When it was said: RFC 3339.
    time: str
    #: Name for people; null while there is none.
    title: Optional[str]
    #: Id of the agent, such as `claude`.
    agent: str
    #: Absolute path of the working directory, on the daemon's machine.
    directory: str
    #: the text around the first word that was found, on one line
    snippet: str
    #: where in the snippet the words stand, in UTF-16 units
    highlights: list["SearchHitHighlightsEntry"]


class SearchHitHighlightsEntry(TypedDict):
    #: First character, counted in the snippet.
    start: int
    #: Character after the last one.
    end: int


class StartTask(TypedDict):
    #: A shell command line. Either this or argv.
    command: NotRequired[str]
    #: A program and its arguments, read by no shell.
    argv: NotRequired[list[str]]
    #: Working directory, inside the workspace; its root unless given.
    cwd: NotRequired[str]
    #: Added to the environment. Never written to the log.
    env: NotRequired[dict[str, str]]
    #: For people.
    title: NotRequired[str]
    #: pipes: stdout and stderr apart. pty: a terminal. Default pipes.
    execution_mode: NotRequired[Literal["pipes", "pty"]]
    #: With pipes: whether it gets a standard input. Default false.
    stdin: NotRequired[bool]
    #: Height of the terminal in lines.
    rows: NotRequired[int]
    #: Width of the terminal in columns.
    cols: NotRequired[int]
    #: It is cancelled after this time.
    timeout_ms: NotRequired[int]


class Task(TypedDict):
    #: Id of the task.
    task_id: str
    #: The tool it runs for; `shell` for a command of a person.
    tool_name: str
    #: {command} or {argv}, as asked for
    args: Any
    #: Working directory; null: that of the session.
    cwd: Optional[str]
    #: For people; null: none.
    title: Optional[str]
    #: pipes: stdout and stderr apart. pty: a terminal.
    execution_mode: Literal["pipes", "pty"]
    #: The session it runs for; null: for none.
    origin_session_id: Optional[str]
    #: Whose process it is. The agent's own: it reported it, and only it can do something with it. Default daemon.
    owner: Literal["daemon", "agent"]
    #: What a client can do with it while it runs.
    controls: list[Literal["stdin", "resize", "signal", "cancel"]]
    #: How far it is. exited: it ended by itself, see `exit_code`.
    status: Literal["queued", "running", "exited", "cancelled", "failed"]
    #: Exit code of the process; null when a signal ended it.
    exit_code: Optional[int]
    #: Name of the signal that ended the process, such as `SIGKILL`; null when none did.
    signal: Optional[str]
    #: When it started: RFC 3339; null while it waits.
    started_at: Optional[str]
    #: When it ended: RFC 3339; null while it runs.
    ended_at: Optional[str]
    #: Why it failed to start or was lost; null: it did not.
    error: Optional[str]
    #: Why it is being, or was, cancelled.
    cancel_reason: Optional[str]
    #: Height of its terminal; null for pipes.
    rows: Optional[int]
    #: Width of its terminal; null for pipes.
    cols: Optional[int]
    #: Outputs that were too long for an event.
    artifacts: list["ArtifactRef"]
    #: Who caused it.
    created_by: Optional["Actor"]
    #: When it was asked for: RFC 3339, UTC.
    created_at: str
    #: Sequence of the newest event.
    last_sequence: int


class TaskInput(TypedDict):
    #: What is typed, or written to the standard input.
    text: NotRequired[str]
    #: The same as bytes. Either this or text.
    base64: NotRequired[str]
    #: It is not written to the log: a password.
    secret: NotRequired[bool]
    #: Nothing follows: the input is closed, in a terminal Ctrl-D is typed.
    end: NotRequired[bool]


class TerminalSize(TypedDict):
    #: Height of the terminal in lines.
    rows: int
    #: Width of the terminal in columns.
    cols: int


class Directories(TypedDict):
    #: Absolute paths by name, at most 50.
    directories: list[str]


class SharedSession(TypedDict):
    #: Goes behind `/ui#link=`. It is shown this once.
    token: str
    #: Names it in lists and in the audit.
    token_id: str
    #: When it ends at the latest: RFC 3339.
    expires_at: str


class WriteFile(TypedDict):
    #: Relative to the session's directory.
    path: str
    #: What the file will contain.
    text: NotRequired[str]
    #: The same as bytes. Either this or text.
    base64: NotRequired[str]
    #: Only when the file has this etag; `*`: when there is one.
    if_match: NotRequired[str]
    #: Only when there is no file yet.
    create_only: NotRequired[bool]
    #: Make missing directories.
    parents: NotRequired[bool]


class NodeList(TypedDict):
    #: In order of their names; none where the daemon is by itself.
    nodes: list["Node"]


class Node(TypedDict):
    """A node of a fleet, as it is now."""

    #: Its name, the same at each start.
    node_id: str
    #: gateway: answers for all sessions and runs none
    kind: Literal["node", "gateway"]
    #: Where other nodes reach it.
    url: str
    #: Of the daemon.
    version: str
    #: draining: takes nothing new and gives away what it can; fenced: others may take over its sessions; left: it stopped by itself, and the same holds
    state: Literal["up", "draining", "fenced", "left"]
    #: grows with each start of the node
    incarnation: int
    #: By which new sessions choose a node.
    labels: dict[str, str]
    #: Names of directories it shares with other nodes.
    places: list[str]
    #: Ids of the agents that can run there.
    agents: list[str]
    #: sessions with a running agent that it takes
    capacity: int
    #: sessions whose agent runs there now
    load: int
    #: sessions it owns
    sessions: int
    #: what is left of its lease; negative: it ran out
    lease_ms: int
    #: the node that answers
    self: bool


class FleetMessage1(TypedDict):
    type: Literal["nodes"]
    #: When it happened, or was seen: RFC 3339.
    at: str
    #: All there are.
    nodes: list["Node"]

FleetMessage3 = TypedDict(
    "FleetMessage3",
    {
        "type": Literal["session.moved"],
        "at": str,
        "session_id": str,
        "sequence": int,
        "from": Optional[str],
        "to": str,
        "epoch": int,
        "reason": Literal["takeover", "move", "restart"],
    },
)

FleetMessage = Union["FleetMessage1", "NodeChange", "FleetMessage3"]


class NodeChange(TypedDict):
    #: joined: started, or came back; up: takes sessions (again); lease_lost: silent, will be fenced; forgotten: gone for so long that it is listed no more, with the node as it was last; load: its load or its number of sessions changed
    type: Literal["node.joined", "node.up", "node.draining", "node.lease_lost", "node.fenced", "node.left", "node.forgotten", "node.load"]
    #: When it happened, or was seen: RFC 3339.
    at: str
    node: "Node"


class MoveSession(TypedDict):
    #: Exactly this node.
    node: NotRequired[str]
    #: A node that has all of these.
    labels: NotRequired[dict[str, str]]
    #: turn_end (default): a running turn ends first; now: it is cut
    when: NotRequired[Literal["turn_end", "now"]]


class ImportSession(TypedDict):
    #: The exported file
    ndjson: str
    #: An id of your own. Default: the one in the file.
    session_id: NotRequired[str]
    #: Go on with the agent's own conversation that the file names. Only for files you trust. Default: the next message starts a new conversation.
    resume: NotRequired[bool]


class TrustList(TypedDict):
    #: All trusted directories.
    directories: list["TrustedDirectory"]


class TrustedDirectory(TypedDict):
    #: its real path
    directory: str
    #: tree: with all below it; directory: this one alone
    scope: Literal["tree", "directory"]
    #: config: from trusted_directories of the configuration file
    source: Literal["person", "config"]
    #: When a person trusted it; null: it stands in the configuration.
    added_at: Optional[str]


class TrustDirectory(TypedDict):
    #: absolute path on the daemon's machine
    directory: str
