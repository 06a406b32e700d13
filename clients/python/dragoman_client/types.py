"""Generated from the OpenAPI document by scripts/python-types.mjs. Do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, Optional, TypedDict, Union


class Health(TypedDict):
    status: Literal["ok"]
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
    damage: NotRequired["ReadyDamage"]


class ReadyDamage(TypedDict):
    #: how many were found since the daemon started
    places: int
    sessions: list[str]
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
    code: Literal["invalid_json", "invalid_request", "unauthorized", "link_invalid", "forbidden", "own_request", "agent_forbidden", "forbidden_origin", "directory_untrusted", "trust_fixed", "not_found", "session_not_found", "agent_unknown", "never_verified", "permission_not_found", "question_not_found", "checkpoint_not_found", "turn_not_found", "checkpoints_off", "checkpoint_refused", "artifact_not_found", "task_not_found", "task_ended", "task_running", "task_queued", "no_stdin", "not_a_terminal", "task_of_agent", "unknown_signal", "cwd_outside", "program_not_found", "terminals_unavailable", "stdin_full", "too_many_tasks", "file_not_found", "path_outside", "is_a_directory", "not_a_directory", "not_a_file", "file_exists", "directory_not_empty", "file_changed", "file_forbidden", "not_a_repository", "git_failed", "method_not_allowed", "session_exists", "session_ended", "session_unreadable", "session_busy", "message_not_found", "message_sending", "steer_unsupported", "already_answered", "idempotency_conflict", "idempotency_unknown", "not_resumable", "fork_unsupported", "cursor_too_large", "log_changed", "precondition_failed", "body_too_large", "unsupported_media_type", "range_not_satisfiable", "directory_not_found", "attachment_not_found", "invalid_option", "invalid_answers", "unsupported", "agent_not_found", "agent_auth_required", "agent_failed_to_start", "agent_refused", "agent_gone", "too_many_requests", "too_many_tokens", "rate_limited", "too_many_sessions", "too_many_subscribers", "queue_full", "internal", "data_damaged", "install_failed", "artifacts_full", "disk_full", "not_ready"]
    errors: NotRequired[list["ProblemErrorsEntry"]]
    error_code: NotRequired[Literal["provider_auth", "api_error", "context_overflow", "output_length", "aborted", "rate_limit", "max_turns", "max_budget", "execution_error", "unknown"]]


class ProblemErrorsEntry(TypedDict):
    path: str
    message: str


class Identity(TypedDict):
    token_id: str
    #: observe reads; approve also answers requests; operate does everything but manage tokens; admin does all
    role: Literal["observe", "approve", "operate", "admin"]
    kind: Literal["root", "minted", "page", "link", "agent"]
    #: Null: all sessions.
    scope: Optional["Scope"]
    #: Null: it lives as long as its file.
    expires_at: Optional[str]
    label: NotRequired[str]
    #: Kind agent: the session whose agent holds it.
    session_id: NotRequired[str]
    surface: Literal["http", "websocket", "inspector", "cli", "sdk", "mcp", "agent", "embedded", "daemon"]


class Scope(TypedDict):
    """A session is reached when either list names it."""

    #: Ids of the sessions it reaches.
    sessions: NotRequired[list[str]]
    #: Absolute paths. It reaches, and may create, sessions that work in one of them or below.
    directories: NotRequired[list[str]]


class TradeToken(TypedDict):
    token: str


class MintedToken(TypedDict):
    token: str
    token_id: str
    #: observe reads; approve also answers requests; operate does everything but manage tokens; admin does all
    role: Literal["observe", "approve", "operate", "admin"]
    #: Null: it lives as long as its file.
    expires_at: Optional[str]


class Renewed(TypedDict):
    expires_at: str


class MakeLink(TypedDict):
    #: observe reads; approve also answers requests; operate does everything but manage tokens; admin does all
    role: NotRequired[Literal["observe", "approve", "operate", "admin"]]
    #: For people: what it is for.
    label: NotRequired[str]


class MadeLink(TypedDict):
    #: Goes behind `/ui#link=`.
    token: str
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
    tokens: list["TokenInfo"]


class TokenInfo(TypedDict):
    token_id: str
    #: observe reads; approve also answers requests; operate does everything but manage tokens; admin does all
    role: Literal["observe", "approve", "operate", "admin"]
    kind: Literal["root", "minted", "page", "link", "agent"]
    #: Null: all sessions.
    scope: Optional["Scope"]
    #: Null: it lives as long as its file.
    expires_at: Optional[str]
    label: NotRequired[str]
    #: Kind agent: the session whose agent holds it.
    session_id: NotRequired[str]
    #: The token it was made by.
    parent: Optional[str]


class AuditList(TypedDict):
    """The newest first."""

    records: list["AuditRecord"]
    #: `after` of the following page; null at the end.
    next: Optional[str]


class AuditRecord(TypedDict):
    #: Newer records have smaller ids: the cursor of a page.
    audit_id: str
    time: str
    #: The operationId of the API, `token.refused` for wrong tokens, or `session.pruned` for each session that was removed because of its age.
    operation: str
    outcome: Literal["done", "refused", "failed"]
    #: The HTTP status it was answered with.
    status: int
    #: The problem code, when it was not done.
    code: NotRequired[str]
    #: Null: nobody that was recognised.
    actor: Optional["Actor"]
    session_id: NotRequired[str]
    #: What else it was about: a token id, a permission id.
    target: NotRequired[str]
    #: Where wrong tokens came from: a range of addresses.
    remote: NotRequired[str]
    #: How many wrong tokens this record stands for.
    count: NotRequired[int]


class Actor(TypedDict):
    #: The id of the token, never its secret. Null without a token.
    token_id: Optional[str]
    #: The role the token had when it was used.
    role: Optional[Literal["observe", "approve", "operate", "admin"]]
    surface: Literal["http", "websocket", "inspector", "cli", "sdk", "mcp", "agent", "embedded", "daemon"]
    #: The session whose agent called: a person did not.
    session_id: NotRequired[str]


class AgentList(TypedDict):
    agents: list["Agent"]


class Agent(TypedDict):
    agent: str
    name: str
    installed: bool
    path: Optional[str]
    version: Optional[str]
    signed_in: Optional[bool]
    advice: Optional[str]
    installable: bool
    #: When `dragoman verify` last checked it on the daemon's machine; null when it never did.
    verified_at: Optional[str]
    capabilities: dict[str, Any]


class ModelList(TypedDict):
    models: list["ModelListModelsEntry"]


class ModelListModelsEntry(TypedDict):
    id: str
    name: NotRequired[str]
    description: NotRequired[str]
    variants: NotRequired[list[str]]
    is_default: NotRequired[bool]
    context_window: NotRequired[float]


class ModeList(TypedDict):
    modes: list["ModeListModesEntry"]


class ModeListModesEntry(TypedDict):
    id: str
    name: NotRequired[str]
    description: NotRequired[str]


class VerifyReport(TypedDict):
    agent: str
    version: Optional[str]
    verified_at: str
    totals: "VerifyReportTotals"
    problems: list[str]
    scenarios: list["VerifyScenario"]


class VerifyReportTotals(TypedDict):
    passed: int
    failed: int
    hung: int
    skipped: int
    unparsed: int
    broken: int


class VerifyScenario(TypedDict):
    scenario: str
    title: str
    verdict: Literal["passed", "failed", "hung", "skipped"]
    verified_at: str
    duration_ms: int
    native: int
    mapped: int
    noted: int
    heartbeat: int
    unparsed: int
    broken: list["VerifyScenarioBrokenEntry"]
    reasons: list[str]


class VerifyScenarioBrokenEntry(TypedDict):
    rule: str
    sequence: int
    message: str


class CreateSession(TypedDict):
    agent: str
    session_id: NotRequired[str]
    directory: NotRequired[str]
    #: ask: the first message asks a person before anything of the directory is loaded; refuse: the request fails with directory_untrusted instead; restricted: never load it; trusted: load it in this session
    trust: NotRequired[Literal["ask", "refuse", "restricted", "trusted"]]
    model: NotRequired[str]
    variant: NotRequired[str]
    agent_mode: NotRequired[str]
    permission_mode: NotRequired[Literal["default", "plan", "accept_edits", "bypass"]]
    title: NotRequired[str]
    env: NotRequired[dict[str, str]]
    mcp_servers: NotRequired[list[Union["CreateSessionMcpServersEntry1", "CreateSessionMcpServersEntry2"]]]
    system_prompt: NotRequired[str]
    tags: NotRequired[list[str]]
    metadata: NotRequired[dict[str, Any]]
    resume_native: NotRequired[str]


class CreateSessionMcpServersEntry1(TypedDict):
    name: str
    type: Literal["stdio"]
    command: str
    args: NotRequired[list[str]]
    env: NotRequired[dict[str, str]]


class CreateSessionMcpServersEntry2(TypedDict):
    name: str
    type: Literal["http", "sse"]
    url: str
    headers: NotRequired[dict[str, str]]


class Session(TypedDict):
    session_id: str
    agent: str
    agent_version: Optional[str]
    native_session_id: Optional[str]
    status: Literal["starting", "idle", "running", "waiting", "dormant", "ended"]
    status_detail: NotRequired[str]
    directory: str
    #: trusted: the agent loads the directory's settings; restricted: it starts without them
    trust: Literal["trusted", "restricted"]
    model: Optional[str]
    variant: Optional[str]
    agent_mode: Optional[str]
    permission_mode: Literal["default", "plan", "accept_edits", "bypass"]
    title: Optional[str]
    tags: list[str]
    #: put away: lists leave it out unless they are asked for it
    archived: bool
    #: kept at hand, and never removed by retention
    pinned: bool
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    last_sequence: int
    queued: int
    pending: "SessionPending"
    usage: Optional["SessionUsage"]
    forked_from: Optional[str]
    #: the session whose agent started this one, for a part of its work
    parent_session_id: NotRequired[str]
    created_by: NotRequired["Actor"]
    ended: Optional["SessionEnded"]


class SessionPending(TypedDict):
    permissions: int
    questions: int


class SessionUsage(TypedDict):
    input_tokens: float
    output_tokens: float
    reasoning_tokens: NotRequired[float]
    cache_read_tokens: NotRequired[float]
    cache_write_tokens: NotRequired[float]
    cost_usd: NotRequired[float]
    context_used: NotRequired[float]
    context_window: NotRequired[float]


class SessionEnded(TypedDict):
    reason: Literal["completed", "error", "terminated"]
    terminated_by: Literal["agent", "daemon"]
    message: NotRequired[str]
    exit_code: NotRequired[Optional[int]]
    signal: NotRequired[Optional[str]]
    stderr: NotRequired["SessionEndedStderr"]
    actor: NotRequired["Actor"]


class SessionEndedStderr(TypedDict):
    head: Optional[str]
    tail: Optional[str]
    truncated: bool
    total_lines: NotRequired[int]


class SessionList(TypedDict):
    sessions: list["Session"]
    #: All sessions that cannot be read, whatever the filter
    unreadable: list["UnreadableSession"]
    next: Optional[str]


class UnreadableSession(TypedDict):
    session_id: str
    #: What is wrong with what is stored
    reason: str


class DirectorySettings(TypedDict):
    #: trusted: the agent loads the directory's settings; restricted: it starts without them
    trust: Literal["trusted", "restricted"]
    directory: str
    files: list["DirectorySettingsFilesEntry"]


class DirectorySettingsFilesEntry(TypedDict):
    #: relative to the session's directory
    path: str
    kind: Literal["settings", "hooks", "mcp_servers", "plugins", "helpers", "environment", "base_url", "permissions", "agents", "commands", "skills", "instructions", "unknown"]
    #: a sentence for a person
    does: str
    state: Literal["loaded", "held_back"]


class UpdateSession(TypedDict):
    model: NotRequired[Optional[str]]
    variant: NotRequired[Optional[str]]
    agent_mode: NotRequired[Optional[str]]
    permission_mode: NotRequired[Literal["default", "plan", "accept_edits", "bypass"]]
    #: counts from the agent's next start, which is before the next turn
    trust: NotRequired[Literal["ask", "restricted", "trusted"]]
    title: NotRequired[str]
    tags: NotRequired[list[str]]
    archived: NotRequired[bool]
    pinned: NotRequired[bool]


class ForkSession(TypedDict):
    session_id: NotRequired[str]
    title: NotRequired[str]
    #: branch off after this event (its `sequence`), where the agent can; otherwise at the end
    at: NotRequired[int]


class PruneSessions(TypedDict):
    #: Only sessions whose last event is older. `0m`: of any age
    older_than: str
    #: So many of the newest stay in any case. Default 0
    keep: NotRequired[int]
    agent: NotRequired[str]
    #: Only those that work there
    directory: NotRequired[str]
    #: Only say what would be removed. Default false
    dry_run: NotRequired[bool]


class PruneResult(TypedDict):
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
    session_id: str
    agent: str
    directory: str
    title: Optional[str]
    status: Literal["starting", "idle", "running", "waiting", "dormant", "ended"]
    #: When its last event was written
    updated_at: str
    events: int
    native_messages: int


class SendMessage(TypedDict):
    message: str
    #: The person chose one of the agent's own commands: `message` is `/name arguments`. Otherwise a message is text, whatever it begins with.
    command: NotRequired[bool]
    attachments: NotRequired[list[Union["SendMessageAttachmentsEntry1", "SendMessageAttachmentsEntry2"]]]
    when_busy: NotRequired[Literal["queue", "steer", "reject"]]


class SendMessageAttachmentsEntry1(TypedDict):
    data: str
    mime: str
    name: NotRequired[str]


class SendMessageAttachmentsEntry2(TypedDict):
    path: str
    mime: NotRequired[str]
    name: NotRequired[str]


class MessageAccepted(TypedDict):
    #: The turn it will have; the running one when it was steered into that.
    turn_id: str
    #: Its name in the queue, as long as it waits.
    message_id: str
    #: Others are before it.
    queued: bool


class EventList(TypedDict):
    events: list["UniversalEvent"]
    has_more: bool
    next: int
    last_sequence: int
    #: keep it with `next`, and send both: another history is then refused
    epoch: str

UniversalEvent = Union["SessionStartedEvent", "SessionEndedEvent", "ItemStartedEvent", "ItemDeltaEvent", "ItemCompletedEvent", "Error", "PermissionRequestedEvent", "PermissionResolvedEvent", "QuestionRequestedEvent", "QuestionResolvedEvent", "AgentUnparsedEvent", "MessageQueuedEvent", "MessageUpdatedEvent", "MessageRemovedEvent", "TurnStartedEvent", "TurnEndedEvent", "StepStartedEvent", "StepEndedEvent", "ItemUpdatedEvent", "ItemRemovedEvent", "SessionStatusEvent", "SessionUpdatedEvent", "SessionCompactedEvent", "ConfigChangedEvent", "UsageUpdatedEvent", "LimitsUpdatedEvent", "AuthStatusEvent", "TeamMessageEvent", "TeamTaskUpdatedEvent", "TeamStateChangedEvent", "CheckpointCreatedEvent", "CheckpointRewoundEvent", "CheckpointFailedEvent", "ArtifactWrittenEvent", "SkillCatalogUpdatedEvent", "SkillLoadedEvent", "SkillInvokedEvent", "SkillWarningEvent", "TaskSpawnedEvent", "TaskStatusEvent", "TaskOutputEvent", "TaskStdinEvent", "TaskResizedEvent", "TaskSignalledEvent", "TaskCancelRequestedEvent", "TaskCancelledEvent", "AgentNoticeEvent"]


class SessionStartedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["session.started"]
    data: "SessionStartedEventData"
    raw: Any


class SessionStartedEventData(TypedDict):
    metadata: dict[str, Any]


class SessionEndedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["session.ended"]
    data: "SessionEnded"
    raw: Any


class ItemStartedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["item.started"]
    data: "ItemStartedEventData"
    raw: Any


class ItemStartedEventData(TypedDict):
    item: "Item"


class Item(TypedDict):
    item_id: str
    native_item_id: Optional[str]
    parent_id: Optional[str]
    kind: Literal["message", "tool_call", "tool_result", "system", "status", "unknown"]
    role: Optional[Literal["user", "assistant", "system", "tool"]]
    content: list["ContentPart"]
    status: Literal["in_progress", "completed", "failed"]
    turn_id: Optional[str]
    started_at: str
    completed_at: Optional[str]

ContentPart = Union["TextPart", "JsonPart", "ToolCallPart", "ToolResultPart", "FileRefPart", "ReasoningPart", "ImagePart", "AudioPart", "StatusPart", "CodePart", "RefusalPart", "PlanPart", "ResourcePart"]


class TextPart(TypedDict):
    type: Literal["text"]
    text: str
    artifact: NotRequired["ArtifactRef"]


class ArtifactRef(TypedDict):
    artifact_id: str
    #: /v1/artifacts/{artifact_id}
    path: str
    bytes: int
    mime: NotRequired[str]


class JsonPart(TypedDict):
    type: Literal["json"]
    json: Any


class ToolCallPart(TypedDict):
    type: Literal["tool_call"]
    name: str
    #: JSON text
    arguments: str
    call_id: str
    tool_kind: NotRequired[Literal["shell", "read", "write", "edit", "delete", "move", "search", "fetch", "web_search", "mcp", "subagent", "plan", "question", "skill", "think", "other"]]
    title: NotRequired[str]
    paths: NotRequired[list[str]]


class ToolResultPart(TypedDict):
    type: Literal["tool_result"]
    call_id: str
    output: str
    is_error: NotRequired[bool]
    exit_code: NotRequired[Optional[int]]
    duration_ms: NotRequired[float]
    artifact: NotRequired["ArtifactRef"]


class FileRefPart(TypedDict):
    type: Literal["file_ref"]
    path: str
    action: Literal["read", "write", "patch"]
    diff: NotRequired[Optional[str]]


class ReasoningPart(TypedDict):
    type: Literal["reasoning"]
    text: str
    visibility: Literal["public", "private"]


class ImagePart(TypedDict):
    type: Literal["image"]
    path: str
    mime: NotRequired[Optional[str]]


class AudioPart(TypedDict):
    type: Literal["audio"]
    path: str
    mime: str


class StatusPart(TypedDict):
    type: Literal["status"]
    label: str
    detail: NotRequired[Optional[str]]


class CodePart(TypedDict):
    type: Literal["code"]
    language: NotRequired[str]
    code: str


class RefusalPart(TypedDict):
    type: Literal["refusal"]
    text: str


class PlanPart(TypedDict):
    type: Literal["plan"]
    entries: list["PlanEntry"]


class PlanEntry(TypedDict):
    text: str
    status: Literal["pending", "in_progress", "completed", "cancelled"]
    priority: NotRequired[Literal["high", "medium", "low"]]


class ResourcePart(TypedDict):
    type: Literal["resource"]
    uri: str
    mime: NotRequired[str]
    text: NotRequired[str]


class ItemDeltaEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["item.delta"]
    data: "ItemDeltaEventData"
    raw: Any


class ItemDeltaEventData(TypedDict):
    item_id: str
    native_item_id: Optional[str]
    part_index: int
    part_type: Literal["text", "reasoning", "refusal", "tool_arguments", "tool_output"]
    stream: NotRequired[Literal["stdout", "stderr"]]
    visibility: NotRequired[Literal["private"]]
    delta: str


class ItemCompletedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["item.completed"]
    data: "ItemStartedEventData"
    raw: Any


class Error(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["error"]
    data: "ErrorData"
    raw: Any


class ErrorData(TypedDict):
    message: str
    code: Literal["provider_auth", "api_error", "context_overflow", "output_length", "aborted", "rate_limit", "max_turns", "max_budget", "execution_error", "unknown"]
    details: "ErrorDataDetails"


class ErrorDataDetails(TypedDict):
    error_source: Literal["agent", "provider", "transport", "daemon"]
    native_code: NotRequired[Optional[Union[str, float]]]
    retryable: NotRequired[bool]
    retry_after_ms: NotRequired[float]
    exit_code: NotRequired[Optional[int]]
    signal: NotRequired[Optional[str]]
    stderr: NotRequired["SessionEndedStderr"]


class PermissionRequestedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["permission.requested"]
    data: "PermissionRequestedEventData"
    raw: Any


class PermissionRequestedEventData(TypedDict):
    permission_id: str
    action: str
    status: Literal["requested", "approved", "denied"]
    metadata: "PermissionRequestedEventDataMetadata"


class PermissionRequestedEventDataMetadata(TypedDict):
    tool_name: str
    input: Any
    call_id: Optional[str]
    item_id: Optional[str]
    reason: NotRequired[str]
    options: list["PermissionRequestedEventDataMetadataOptionsEntry"]
    diff: NotRequired[str]
    paths: NotRequired[list[str]]
    resolved_by: NotRequired[Literal["client", "policy", "agent", "session_end"]]
    reply: NotRequired[Literal["once", "always", "reject"]]
    option_id: NotRequired[str]
    message: NotRequired[str]
    updated_input: NotRequired[Any]
    input_hash: NotRequired[str]
    actor: NotRequired["Actor"]


class PermissionRequestedEventDataMetadataOptionsEntry(TypedDict):
    id: str
    label: str
    kind: Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class PermissionResolvedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["permission.resolved"]
    data: "PermissionRequestedEventData"
    raw: Any


class QuestionRequestedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["question.requested"]
    data: "QuestionRequestedEventData"
    raw: Any


class QuestionRequestedEventData(TypedDict):
    question_id: str
    prompt: str
    options: list[str]
    response: Optional[str]
    status: Literal["requested", "answered", "rejected"]
    questions: list["QuestionRequestedEventDataQuestionsEntry"]
    answers: NotRequired[list[list[str]]]
    call_id: NotRequired[Optional[str]]
    item_id: NotRequired[Optional[str]]
    resolved_by: NotRequired[Literal["client", "policy", "agent", "session_end"]]
    actor: NotRequired["Actor"]
    metadata: NotRequired[dict[str, Any]]


class QuestionRequestedEventDataQuestionsEntry(TypedDict):
    prompt: str
    header: NotRequired[str]
    options: list["QuestionRequestedEventDataQuestionsEntryOptionsEntry"]
    multi_select: bool
    free_text: bool


class QuestionRequestedEventDataQuestionsEntryOptionsEntry(TypedDict):
    label: str
    description: NotRequired[str]


class QuestionResolvedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["question.resolved"]
    data: "QuestionRequestedEventData"
    raw: Any


class AgentUnparsedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["agent.unparsed"]
    data: "AgentUnparsedEventData"
    raw: Any


class AgentUnparsedEventData(TypedDict):
    error: str
    location: str
    raw_hash: NotRequired[str]


class MessageQueuedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["message.queued"]
    data: "MessageQueuedEventData"
    raw: Any


class MessageQueuedEventData(TypedDict):
    message_id: str
    turn_id: str
    text: str
    command: NotRequired[bool]
    attachments: NotRequired[list["MessageQueuedEventDataAttachmentsEntry"]]
    attempts: NotRequired[int]
    actor: NotRequired["Actor"]


class MessageQueuedEventDataAttachmentsEntry(TypedDict):
    name: str
    mime: str
    artifact_id: str
    path: Optional[str]


class MessageUpdatedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["message.updated"]
    data: "MessageUpdatedEventData"
    raw: Any


class MessageUpdatedEventData(TypedDict):
    message_id: str
    text: NotRequired[str]
    position: NotRequired[int]
    attempts: NotRequired[int]
    actor: NotRequired["Actor"]


class MessageRemovedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["message.removed"]
    data: "MessageRemovedEventData"
    raw: Any


class MessageRemovedEventData(TypedDict):
    message_id: str
    reason: Literal["client", "steered", "refused", "imported", "session_ended"]
    turn_id: NotRequired[str]
    actor: NotRequired["Actor"]


class TurnStartedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["turn.started"]
    data: "TurnStartedEventData"
    raw: Any


class TurnStartedEventData(TypedDict):
    turn_id: str
    initiator: Literal["client", "agent"]
    message_id: NotRequired[str]
    actor: NotRequired["Actor"]


class TurnEndedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["turn.ended"]
    data: "TurnEndedEventData"
    raw: Any


class TurnEndedEventData(TypedDict):
    turn_id: str
    stop_reason: Literal["end_turn", "interrupted", "error", "refusal", "output_length", "max_turns", "max_budget"]
    error_code: NotRequired[Literal["provider_auth", "api_error", "context_overflow", "output_length", "aborted", "rate_limit", "max_turns", "max_budget", "execution_error", "unknown"]]
    usage: NotRequired["SessionUsage"]
    actor: NotRequired["Actor"]


class StepStartedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["step.started"]
    data: "StepStartedEventData"
    raw: Any


class StepStartedEventData(TypedDict):
    step_id: str
    turn_id: str


class StepEndedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["step.ended"]
    data: "StepEndedEventData"
    raw: Any


class StepEndedEventData(TypedDict):
    step_id: str
    turn_id: str
    finish_reason: NotRequired[str]
    usage: NotRequired["SessionUsage"]
    cost_usd: NotRequired[float]


class ItemUpdatedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["item.updated"]
    data: "ItemStartedEventData"
    raw: Any


class ItemRemovedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["item.removed"]
    data: "ItemRemovedEventData"
    raw: Any


class ItemRemovedEventData(TypedDict):
    item_id: str
    native_item_id: Optional[str]
    reason: str


class SessionStatusEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["session.status"]
    data: "SessionStatusEventData"
    raw: Any


class SessionStatusEventData(TypedDict):
    status: Literal["idle", "running", "waiting", "retrying", "compacting", "stalled", "dormant"]
    detail: NotRequired[str]
    attempt: NotRequired[int]
    retry_at: NotRequired[str]


class SessionUpdatedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["session.updated"]
    data: "SessionUpdatedEventData"
    raw: Any


class SessionUpdatedEventData(TypedDict):
    title: NotRequired[str]
    tags: NotRequired[list[str]]
    archived: NotRequired[bool]
    pinned: NotRequired[bool]
    metadata: NotRequired[dict[str, Any]]
    actor: NotRequired["Actor"]


class SessionCompactedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["session.compacted"]
    data: "SessionCompactedEventData"
    raw: Any


class SessionCompactedEventData(TypedDict):
    trigger: Literal["auto", "manual", "unknown"]
    pre_tokens: NotRequired[float]
    post_tokens: NotRequired[float]
    summary: NotRequired[str]


class ConfigChangedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["config.changed"]
    data: "ConfigChangedEventData"
    raw: Any


class ConfigChangedEventData(TypedDict):
    model: NotRequired[Optional[str]]
    variant: NotRequired[Optional[str]]
    agent_mode: NotRequired[Optional[str]]
    permission_mode: NotRequired[Union[Literal["default", "plan", "accept_edits", "bypass"], str]]
    commands: NotRequired[list["ConfigChangedEventDataCommandsEntry"]]
    models: NotRequired[list["ModelListModelsEntry"]]
    modes: NotRequired[list["ModeListModesEntry"]]
    mcp_servers: NotRequired[list["ConfigChangedEventDataMcpServersEntry"]]
    tools: NotRequired[list[str]]
    options: NotRequired[list["ConfigChangedEventDataOptionsEntry"]]
    actor: NotRequired["Actor"]


class ConfigChangedEventDataCommandsEntry(TypedDict):
    name: str
    description: NotRequired[str]
    input_hint: NotRequired[str]


class ConfigChangedEventDataMcpServersEntry(TypedDict):
    name: str
    #: starting, connected, failed, needs_auth, disabled, or a word of the agent's own
    status: str
    error: NotRequired[str]


class ConfigChangedEventDataOptionsEntry(TypedDict):
    id: str
    name: NotRequired[str]
    value: Any
    choices: NotRequired[list["ConfigChangedEventDataOptionsEntryChoicesEntry"]]


class ConfigChangedEventDataOptionsEntryChoicesEntry(TypedDict):
    value: Any
    name: NotRequired[str]
    description: NotRequired[str]


class UsageUpdatedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["usage.updated"]
    data: "UsageUpdatedEventData"
    raw: Any


class UsageUpdatedEventData(TypedDict):
    scope: Literal["step", "turn", "session"]
    input_tokens: float
    output_tokens: float
    reasoning_tokens: NotRequired[float]
    cache_read_tokens: NotRequired[float]
    cache_write_tokens: NotRequired[float]
    cost_usd: NotRequired[float]
    context_used: NotRequired[float]
    context_window: NotRequired[float]


class LimitsUpdatedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["limits.updated"]
    data: "LimitsUpdatedEventData"
    raw: Any


class LimitsUpdatedEventData(TypedDict):
    windows: list["LimitsUpdatedEventDataWindowsEntry"]


class LimitsUpdatedEventDataWindowsEntry(TypedDict):
    name: str
    used_percent: NotRequired[float]
    resets_at: NotRequired[str]
    status: NotRequired[str]


class AuthStatusEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["auth.status"]
    data: "AuthStatusEventData"
    raw: Any


class AuthStatusEventData(TypedDict):
    status: Literal["ok", "required", "in_progress", "failed"]
    message: NotRequired[str]
    url: NotRequired[str]


class TeamMessageEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["team.message"]
    data: "TeamMessageEventData"
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
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["team.task_updated"]
    data: "TeamTaskUpdatedEventData"
    raw: Any


class TeamTaskUpdatedEventData(TypedDict):
    task_id: str
    title: NotRequired[str]
    status: str
    owner: NotRequired[Optional[str]]
    metadata: NotRequired[dict[str, Any]]


class TeamStateChangedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["team.state_changed"]
    data: "TeamStateChangedEventData"
    raw: Any


class TeamStateChangedEventData(TypedDict):
    members: list["TeamStateChangedEventDataMembersEntry"]
    metadata: NotRequired[dict[str, Any]]


class TeamStateChangedEventDataMembersEntry(TypedDict):
    name: str
    status: str
    role: NotRequired[str]


class CheckpointCreatedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["checkpoint.created"]
    data: "CheckpointCreatedEventData"
    raw: Any


class CheckpointCreatedEventData(TypedDict):
    checkpoint_id: str
    label: str
    created_at: str
    files: list[str]
    auto: bool
    tool_name: Optional[str]


class CheckpointRewoundEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["checkpoint.rewound"]
    data: "CheckpointRewoundEventData"
    raw: Any


class CheckpointRewoundEventData(TypedDict):
    checkpoint_id: str
    label: str
    files: list[str]


class CheckpointFailedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["checkpoint.failed"]
    data: "CheckpointFailedEventData"
    raw: Any


class CheckpointFailedEventData(TypedDict):
    action: Literal["create", "rewind"]
    error: str


class ArtifactWrittenEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["artifact.written"]
    data: "ArtifactWrittenEventData"
    raw: Any


class ArtifactWrittenEventData(TypedDict):
    artifact_id: str
    kind: Literal["image", "audio", "tool_output", "json", "text", "file"]
    bytes: int
    #: sha256:<hex>
    digest: str
    mime: NotRequired[str]
    preview: NotRequired[str]


class SkillCatalogUpdatedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["skill.catalog_updated"]
    data: "SkillCatalogUpdatedEventData"
    raw: Any


class SkillCatalogUpdatedEventData(TypedDict):
    count: int
    roots: list[str]
    collisions: NotRequired[list[str]]


class SkillLoadedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["skill.loaded"]
    data: "SkillLoadedEventData"
    raw: Any


class SkillLoadedEventData(TypedDict):
    name: str
    path: str
    digest: str
    frontmatter: dict[str, Any]
    warnings: NotRequired[list[str]]


class SkillInvokedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["skill.invoked"]
    data: "SkillInvokedEventData"
    raw: Any


class SkillInvokedEventData(TypedDict):
    name: str
    args: NotRequired[str]
    mode: Literal["manual", "auto"]
    effective_allowed_tools: NotRequired[list[str]]


class SkillWarningEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["skill.warning"]
    data: "SkillWarningEventData"
    raw: Any


class SkillWarningEventData(TypedDict):
    name: NotRequired[str]
    kind: str
    detail: str


class TaskSpawnedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["task.spawned"]
    data: "TaskSpawnedEventData"
    raw: Any


class TaskSpawnedEventData(TypedDict):
    task_id: str
    tool_name: str
    args: Any
    cwd: NotRequired[str]
    title: NotRequired[str]
    execution_mode: Literal["pipes", "pty"]
    origin_session_id: NotRequired[Optional[str]]
    #: Whose process it is. The agent's own: it told of it, and only it can do something with it. Default daemon.
    owner: NotRequired[Literal["daemon", "agent"]]
    #: What a client can do with it while it runs.
    controls: NotRequired[list[Literal["stdin", "resize", "signal", "cancel"]]]
    actor: NotRequired["Actor"]
    artifacts: NotRequired[list["ArtifactRef"]]


class TaskStatusEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["task.status"]
    data: "TaskStatusEventData"
    raw: Any


class TaskStatusEventData(TypedDict):
    task_id: str
    status: Literal["queued", "running", "exited", "cancelled", "failed"]
    exit_code: NotRequired[Optional[int]]
    signal: NotRequired[Optional[str]]
    started_at: NotRequired[str]
    ended_at: NotRequired[str]
    error: NotRequired[str]
    artifacts: NotRequired[list["ArtifactRef"]]


class TaskOutputEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["task.output"]
    data: "TaskOutputEventData"
    raw: Any


class TaskOutputEventData(TypedDict):
    task_id: str
    stream: Literal["stdout", "stderr", "pty"]
    chunk: str
    offset: NotRequired[int]
    bytes: NotRequired[int]
    artifacts: NotRequired[list["ArtifactRef"]]


class TaskStdinEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["task.stdin"]
    data: "TaskStdinEventData"
    raw: Any


class TaskStdinEventData(TypedDict):
    task_id: str
    chunk_b64: str
    actor: NotRequired["Actor"]


class TaskResizedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["task.resized"]
    data: "TaskResizedEventData"
    raw: Any


class TaskResizedEventData(TypedDict):
    task_id: str
    rows: int
    cols: int
    actor: NotRequired["Actor"]


class TaskSignalledEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["task.signalled"]
    data: "TaskSignalledEventData"
    raw: Any


class TaskSignalledEventData(TypedDict):
    task_id: str
    signal: str
    actor: NotRequired["Actor"]


class TaskCancelRequestedEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["task.cancel_requested"]
    data: "TaskCancelRequestedEventData"
    raw: Any


class TaskCancelRequestedEventData(TypedDict):
    task_id: str
    reason: str
    actor: NotRequired["Actor"]


class TaskCancelledEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["task.cancelled"]
    data: "TaskCancelledEventData"
    raw: Any


class TaskCancelledEventData(TypedDict):
    task_id: str
    reason: str
    wall_time_ms: NotRequired[float]


class AgentNoticeEvent(TypedDict):
    #: evt_ + a time-ordered id, unique in the world
    event_id: str
    #: 1, 2, 3 … per session, no gaps ever
    sequence: int
    #: RFC 3339, milliseconds, UTC
    time: str
    session_id: str
    native_session_id: Optional[str]
    #: true exactly when source is daemon
    synthetic: bool
    source: Literal["agent", "daemon"]
    type: Literal["agent.notice"]
    data: "AgentNoticeEventData"
    raw: Any


class AgentNoticeEventData(TypedDict):
    name: str
    detail: NotRequired[Any]


class MessageQueueList(TypedDict):
    #: In the order they are delivered.
    messages: list["MessageQueueListMessagesEntry"]
    #: The queue is as of this event; changes follow as message.* and turn.started.
    last_sequence: int


class MessageQueueListMessagesEntry(TypedDict):
    message_id: str
    turn_id: str
    text: str
    command: NotRequired[bool]
    attachments: NotRequired[list["MessageQueuedEventDataAttachmentsEntry"]]
    attempts: NotRequired[int]
    actor: NotRequired["Actor"]
    queued_at: str


class UpdateQueuedMessage(TypedDict):
    #: What it says instead.
    text: NotRequired[str]
    #: Its place in the queue: 0 is delivered next, beyond the end is the end.
    position: NotRequired[int]


class Pending(TypedDict):
    permissions: list["PermissionRequestedEventData"]
    questions: list["QuestionRequestedEventData"]


class PermissionReply(TypedDict):
    reply: Literal["once", "always", "reject"]
    option_id: NotRequired[str]
    message: NotRequired[str]
    #: run it with this input instead; only where the agent's capability edit_input is true
    updated_input: NotRequired[Any]
    #: metadata.input_hash of the request that was read; refused when the input is another one
    input_hash: NotRequired[str]


class QuestionReply(TypedDict):
    answers: list[list[str]]


class SessionSnapshot(TypedDict):
    version: Literal[1]
    #: The state after this event.
    sequence: int
    time: Optional[str]
    facts: "SessionSnapshotFacts"
    turn: Optional["SessionSnapshotTurn"]
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
    agent: Optional[str]
    agent_version: Optional[str]
    directory: Optional[str]
    native_session_id: Optional[str]
    title: Optional[str]
    model: Optional[str]
    variant: Optional[str]
    agent_mode: Optional[str]
    permission_mode: Literal["default", "plan", "accept_edits", "bypass"]
    status: Literal["idle", "running", "waiting", "retrying", "compacting", "stalled", "dormant"]
    usage: Optional["SessionUsage"]
    #: The agent reports the session's usage itself; turns are not added up.
    usage_told: bool
    config: "SessionSnapshotFactsConfig"
    ended: Optional["SessionEnded"]


class SessionSnapshotFactsConfig(TypedDict):
    model: NotRequired[Optional[str]]
    variant: NotRequired[Optional[str]]
    agent_mode: NotRequired[Optional[str]]
    permission_mode: NotRequired[Union[Literal["default", "plan", "accept_edits", "bypass"], str]]
    commands: NotRequired[list["ConfigChangedEventDataCommandsEntry"]]
    models: NotRequired[list["ModelListModelsEntry"]]
    modes: NotRequired[list["ModeListModesEntry"]]
    mcp_servers: NotRequired[list["ConfigChangedEventDataMcpServersEntry"]]
    tools: NotRequired[list[str]]
    options: NotRequired[list["ConfigChangedEventDataOptionsEntry"]]


class SessionSnapshotTurn(TypedDict):
    turn_id: str
    initiator: Literal["client", "agent"]
    message_id: NotRequired[str]
    actor: NotRequired["Actor"]
    started_at: str


class SessionSnapshotRequestsEntry1(TypedDict):
    kind: Literal["permission"]
    requested_at: str
    data: "PermissionRequestedEventData"


class SessionSnapshotRequestsEntry2(TypedDict):
    kind: Literal["question"]
    requested_at: str
    data: "QuestionRequestedEventData"


class ItemList(TypedDict):
    items: list["Item"]
    #: Of each item: the sequence of its item.started.
    sequences: list[int]
    has_more: bool
    #: The `after` of the following page; with order=desc its `before`.
    next: int
    #: The items are in the state they had after this event.
    last_sequence: int


class Coverage(TypedDict):
    totals: "CoverageTotals"
    types: list["CoverageTypesEntry"]


class CoverageTotals(TypedDict):
    mapped: int
    noted: int
    heartbeat: int
    unparsed: int


class CoverageTypesEntry(TypedDict):
    type: str
    disposition: str
    count: int


class Artifact(TypedDict):
    artifact_id: str
    #: where its bytes are served
    path: str
    #: image, audio, tool_output, json, text or file
    kind: str
    mime: str
    name: Optional[str]
    bytes: int
    #: sha256:<hex>
    digest: str
    created_at: str
    #: who has it: it goes with the last of them
    references: list["ArtifactReference"]


class ArtifactReference(TypedDict):
    stream_kind: Literal["session", "task"]
    #: the session's or the task's id
    id: str


class ArtifactPreview(TypedDict):
    artifact_id: str
    format: Literal["text", "json", "diff", "image", "binary"]
    bytes: int
    #: how it begins; JSON is laid out
    head: NotRequired[str]
    #: how it ends; absent when the head is all of it
    tail: NotRequired[str]
    #: bytes between head and tail
    left_out: NotRequired[int]
    width: NotRequired[int]
    height: NotRequired[int]
    #: of a diff: the files it changes, and how many lines
    files: NotRequired[list["ArtifactPreviewFilesEntry"]]


class ArtifactPreviewFilesEntry(TypedDict):
    path: str
    added: int
    removed: int


class SearchResult(TypedDict):
    #: the newest first
    hits: list["SearchHit"]
    next: Optional[str]
    index: "SearchResultIndex"


class SearchResultIndex(TypedDict):
    #: building: the index is still being made from the log, so something may be missing
    state: Literal["building", "ready", "failed"]
    message: NotRequired[str]


class SearchHit(TypedDict):
    session_id: str
    #: of the event that holds the text: read it with after = sequence - 1
    sequence: int
    item_id: Optional[str]
    #: user: what a person wrote; assistant: what the agent said; reasoning: its thoughts; tool: calls and their results; request: permissions and questions; error: errors
    kind: Literal["user", "assistant", "reasoning", "tool", "request", "error"]
    time: str
    title: Optional[str]
    agent: str
    directory: str
    #: the text around the first word that was found, on one line
    snippet: str
    #: where in the snippet the words stand, in UTF-16 units
    highlights: list["SearchHitHighlightsEntry"]


class SearchHitHighlightsEntry(TypedDict):
    start: int
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
    rows: NotRequired[int]
    cols: NotRequired[int]
    #: It is cancelled after this time.
    timeout_ms: NotRequired[int]


class Task(TypedDict):
    task_id: str
    tool_name: str
    #: {command} or {argv}, as asked for
    args: Any
    cwd: Optional[str]
    title: Optional[str]
    execution_mode: Literal["pipes", "pty"]
    origin_session_id: Optional[str]
    #: Whose process it is. The agent's own: it told of it, and only it can do something with it. Default daemon.
    owner: Literal["daemon", "agent"]
    #: What a client can do with it while it runs.
    controls: list[Literal["stdin", "resize", "signal", "cancel"]]
    status: Literal["queued", "running", "exited", "cancelled", "failed"]
    exit_code: Optional[int]
    signal: Optional[str]
    started_at: Optional[str]
    ended_at: Optional[str]
    error: Optional[str]
    cancel_reason: Optional[str]
    rows: Optional[int]
    cols: Optional[int]
    artifacts: list["ArtifactRef"]
    created_by: Optional["Actor"]
    created_at: str
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
    rows: int
    cols: int


class WriteFile(TypedDict):
    #: Relative to the session's directory.
    path: str
    text: NotRequired[str]
    #: The same as bytes. Either this or text.
    base64: NotRequired[str]
    #: Only when the file has this etag.
    if_match: NotRequired[str]
    #: Only when there is no file yet.
    create_only: NotRequired[bool]
    #: Make missing directories.
    parents: NotRequired[bool]


class ImportSession(TypedDict):
    #: The exported file
    ndjson: str
    session_id: NotRequired[str]
    #: Go on with the agent's own conversation that the file names. Only for files you trust. Default: the next message starts a new conversation.
    resume: NotRequired[bool]


class TrustList(TypedDict):
    directories: list["TrustedDirectory"]


class TrustedDirectory(TypedDict):
    #: its real path
    directory: str
    #: tree: with all below it; directory: this one alone
    scope: Literal["tree", "directory"]
    #: config: from trusted_directories of the configuration file
    source: Literal["person", "config"]
    added_at: Optional[str]


class TrustDirectory(TypedDict):
    #: absolute path on the daemon's machine
    directory: str
