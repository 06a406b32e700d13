// Every code a client can meet, with its HTTP status and what it means. HTTP, command line and SDK show the same code; the docs page is made from this table.

export const problemCodes = {
  malformed_request: {
    status: 400,
    title: "The bytes are no HTTP request",
    advice: "Send HTTP/1.1 with valid headers, and a body that is as long as they say.",
  },
  invalid_json: { status: 400, title: "The body is not JSON", advice: "Send valid JSON with content-type application/json." },
  invalid_request: {
    status: 400,
    title: "The request does not fit the schema",
    advice: "See `errors`: each entry names the field.",
  },
  unauthorized: {
    status: 401,
    title: "No valid token",
    advice: "Send `Authorization: Bearer <token>`; the token lies in the data directory. For a browser: `dragoman open`.",
  },
  link_invalid: {
    status: 401,
    title: "The link was used, or is older than a minute",
    advice: "Get a new one with `dragoman open`.",
  },
  forbidden: {
    status: 403,
    title: "Not allowed with this token",
    advice: "See GET /v1/auth for its role and scope; use a token with the role that the route needs.",
  },
  own_request: {
    status: 403,
    title: "An agent does not answer requests of agents",
    advice:
      "A person answers: with `dragoman allow`, `dragoman deny` or `dragoman answer` in a terminal of their own, or in the inspector.",
  },
  agent_forbidden: {
    status: 403,
    title: "Not allowed to an agent",
    advice: "An agent reads its own session; agent_access in the configuration lets agents create and drive further sessions.",
  },
  forbidden_origin: {
    status: 403,
    title: "Foreign Host or Origin",
    advice: "Call the daemon by its own address; add the host to allow_hosts in the configuration if a proxy stands before it.",
  },
  directory_untrusted: {
    status: 403,
    title: "The directory is not trusted",
    advice:
      "It has settings that an agent would load and run. Trust it with `dragoman trust <dir>`, for one session with `--trust` (trust: trusted), or start without them with `--restricted` (trust: restricted).",
  },
  trust_fixed: {
    status: 409,
    title: "The directory is trusted by the configuration file",
    advice: "Remove it from trusted_directories in the configuration file and restart the daemon.",
  },
  not_found: { status: 404, title: "No such route", advice: "See /openapi.json for all routes." },
  session_not_found: { status: 404, title: "No such session", advice: "List the sessions with GET /v1/sessions." },
  agent_unknown: { status: 404, title: "No such agent", advice: "List the agents with GET /v1/agents." },
  never_verified: {
    status: 404,
    title: "The agent was never verified here",
    advice: "Run `dragoman verify <agent>` on the daemon's machine, with the daemon's data directory.",
  },
  token_not_found: {
    status: 404,
    title: "No token with this id",
    advice: "It has ended already, or this is the token itself and not its id. List the ids with GET /v1/auth/tokens.",
  },
  permission_not_found: {
    status: 404,
    title: "No such permission",
    advice: "List open requests with GET /v1/sessions/{id}/pending.",
  },
  question_not_found: {
    status: 404,
    title: "No such question",
    advice: "List open requests with GET /v1/sessions/{id}/pending.",
  },
  checkpoint_not_found: {
    status: 404,
    title: "No such checkpoint in this session",
    advice: "List them with GET /v1/sessions/{id}/checkpoints. Old ones are removed when space is needed.",
  },
  turn_not_found: {
    status: 404,
    title: "Nothing is stored of this turn's files",
    advice: "Turn ids come from turn.started events; see GET /v1/sessions/{id}/checkpoints.",
  },
  checkpoints_off: {
    status: 409,
    title: "Checkpoints are switched off",
    advice: "Set checkpoints.enabled to true in the configuration file and restart the daemon.",
  },
  checkpoint_refused: {
    status: 422,
    title: "The directory cannot be stored",
    advice: "See detail: the home directory, / and very large directories are not copied.",
  },
  artifact_not_found: { status: 404, title: "No such artifact", advice: "Artifact ids come from artifact.written events." },
  task_not_found: { status: 404, title: "No such task", advice: "List the tasks with GET /v1/tasks." },
  task_ended: { status: 409, title: "The task has ended", advice: "Nothing can be sent to it any more: start another one." },
  task_running: { status: 409, title: "The task has not ended", advice: "Cancel it first with POST /v1/tasks/{task}/cancel." },
  task_queued: {
    status: 409,
    title: "The task waits for its turn",
    advice: "Ask again when its status is running.",
  },
  no_stdin: {
    status: 409,
    title: "The task has no standard input",
    advice: 'Start it with stdin: true, or in a terminal (execution_mode: "pty").',
  },
  not_a_terminal: {
    status: 409,
    title: "The task does not run in a terminal",
    advice: 'Only a task started with execution_mode "pty" has a size and a screen.',
  },
  task_of_agent: {
    status: 409,
    title: "The task is a command of the agent",
    advice: "`controls` of the task says what can be done with it. Ask the agent for the rest.",
  },
  unknown_signal: { status: 422, title: "No such signal", advice: "Use a name such as SIGINT or SIGTERM." },
  cwd_outside: {
    status: 422,
    title: "The working directory lies outside of the session's directory",
    advice: "Choose one inside, or start the task without a session with POST /v1/tasks.",
  },
  program_not_found: {
    status: 422,
    title: "There is no such program",
    advice: "Install it, put it on PATH, or give its full path.",
  },
  terminals_unavailable: {
    status: 422,
    title: "This daemon has no terminals",
    advice: "An optional package is missing: install dragoman again with optional dependencies, or use execution_mode pipes.",
  },
  stdin_full: {
    status: 429,
    title: "The program does not read its input",
    advice: "Send less, or later.",
  },
  too_many_tasks: {
    status: 429,
    title: "Too many tasks",
    advice: "Cancel one, or wait for one to end.",
  },
  file_not_found: { status: 404, title: "No such file", advice: "List the directory with GET /v1/sessions/{id}/fs/list." },
  path_outside: {
    status: 422,
    title: "The path leads out of the session's directory",
    advice: "Give a path below it: no `..`, no absolute path, no link that leads elsewhere.",
  },
  is_a_directory: { status: 409, title: "The path is a directory", advice: "List it instead, or name a file in it." },
  not_a_directory: { status: 409, title: "The path is not a directory", advice: "Name a directory." },
  not_a_file: { status: 409, title: "The path is not a regular file", advice: "Devices, sockets and pipes cannot be read." },
  file_exists: { status: 409, title: "The path is taken", advice: "Choose another one, or overwrite it." },
  directory_not_empty: { status: 409, title: "The directory is not empty", advice: "Delete it with recursive: true." },
  file_changed: {
    status: 412,
    title: "The file is not the one you know any more",
    advice: "Read it again, and write with its new etag.",
  },
  file_forbidden: { status: 403, title: "The file may not be used", advice: "The daemon's user has no right to it." },
  not_a_repository: { status: 409, title: "The directory lies in no git repository", advice: "Make one with `git init`." },
  git_failed: { status: 502, title: "git cannot be used here", advice: "See detail; git must be on the daemon's PATH." },
  method_not_allowed: { status: 405, title: "Wrong method", advice: "See /openapi.json for the methods of this route." },
  session_exists: { status: 409, title: "The session id is taken", advice: "Choose another session_id or leave it out." },
  session_ended: { status: 409, title: "The session has ended", advice: "Create a new session, or fork this one." },
  session_unreadable: {
    status: 409,
    title: "The stored session cannot be read",
    advice: "Export its events, then remove it. `dragoman doctor` names all such sessions.",
  },
  session_busy: {
    status: 409,
    title: "A turn is running",
    advice: "Wait for turn.ended, interrupt it, or send with when_busy: queue.",
  },
  message_not_found: {
    status: 404,
    title: "No such message in the queue",
    advice: "It was delivered or removed. List what waits with GET /v1/sessions/{id}/queue.",
  },
  message_sending: {
    status: 409,
    title: "The message is on its way to the agent",
    advice: "It can no longer be changed. Interrupt the turn instead.",
  },
  steer_unsupported: {
    status: 409,
    title: "This agent cannot be steered",
    advice: "Send with when_busy: queue, or interrupt first.",
  },
  already_answered: {
    status: 409,
    title: "Answered otherwise before",
    advice: "The first answer counts; see the resolved event.",
  },
  idempotency_conflict: {
    status: 409,
    title: "The idempotency key was used for another request",
    advice: "Use a new Idempotency-Key for each new request.",
  },
  idempotency_unknown: {
    status: 409,
    title: "The daemon stopped while it carried this request out",
    advice: "Look whether it took effect; if not, send it with a new Idempotency-Key.",
  },
  not_resumable: { status: 409, title: "The session cannot be resumed", advice: "Create a new session." },
  fork_unsupported: { status: 409, title: "This agent cannot fork", advice: "Create a new session instead." },
  cursor_too_large: {
    status: 409,
    title: "The cursor lies beyond the stream",
    advice: "The log was reset or this is another daemon: read again from after=0.",
  },
  log_changed: {
    status: 409,
    title: "The cursor belongs to another history",
    advice: "The log was restored or replaced, or it lost its end: read again from after=0.",
  },
  precondition_failed: {
    status: 412,
    title: "The approved input is not the requested one",
    advice: "Read the request again and answer that.",
  },
  request_timeout: {
    status: 408,
    title: "The request did not come to its end",
    advice: "Send its headers and its body without long pauses.",
  },
  headers_too_large: {
    status: 431,
    title: "The headers are too long",
    advice: "Send less than 32 kB of address and headers together.",
  },
  body_too_large: {
    status: 413,
    title: "The body is too large",
    advice: "Send less, or raise limits.body_bytes in the configuration.",
  },
  unsupported_media_type: { status: 415, title: "Only application/json is taken", advice: "Set content-type: application/json." },
  range_not_satisfiable: {
    status: 416,
    title: "The range lies outside the artifact",
    advice: "Ask for a range within its size.",
  },
  directory_not_found: {
    status: 422,
    title: "The directory does not exist",
    advice: "Give an absolute path of a directory on the daemon's machine.",
  },
  attachment_not_found: {
    status: 422,
    title: "The attachment cannot be read",
    advice: "Give a path inside the session's directory, or send the bytes as data.",
  },
  invalid_option: { status: 422, title: "The request does not offer that", advice: "Choose one of metadata.options." },
  invalid_answers: {
    status: 422,
    title: "The answers do not fit the questions",
    advice: "Send one list of strings per question.",
  },
  unsupported: { status: 422, title: "The agent cannot do that", advice: "See its capabilities with GET /v1/agents/{agent}." },
  agent_not_found: {
    status: 422,
    title: "The agent is not installed",
    advice: "Install it with POST /v1/agents/{agent}/install or `dragoman agents install`.",
  },
  agent_auth_required: {
    status: 422,
    title: "The agent is not signed in",
    advice: "Sign in with the agent's own login, or pass its key in env.",
  },
  agent_failed_to_start: { status: 502, title: "The agent did not start", advice: "See detail and the session's stderr." },
  agent_refused: { status: 502, title: "The agent refused", advice: "See detail." },
  agent_gone: {
    status: 502,
    title: "The agent is gone",
    advice: "Send the next message: the session is resumed if the agent can.",
  },
  too_many_requests: {
    status: 429,
    title: "Too many requests of this token",
    advice: "Wait as long as Retry-After says; limits.requests_per_second and limits.concurrent_requests can be raised.",
  },
  too_many_tokens: {
    status: 429,
    title: "Too many live tokens",
    advice: "Wait until some expire, or end some: `dragoman token ls` and `dragoman token revoke`.",
  },
  rate_limited: { status: 429, title: "Too many failed attempts", advice: "Wait and use the right token." },
  too_many_sessions: { status: 429, title: "Too many live sessions", advice: "Terminate some, or raise limits.sessions." },
  too_many_subscribers: {
    status: 429,
    title: "Too many open streams",
    advice: "Close some, or use /v1/events/sse for all sessions in one stream.",
  },
  queue_full: { status: 429, title: "Too many queued messages", advice: "Wait until the agent has worked some off." },
  internal: { status: 500, title: "A fault of the daemon", advice: "Please report it with the daemon's log." },
  data_damaged: {
    status: 500,
    title: "Stored data is damaged",
    advice: "Restore the data directory from a backup, or export what is still readable.",
  },
  install_failed: { status: 502, title: "The installation failed", advice: "See detail." },
  artifacts_full: {
    status: 507,
    title: "Artifacts take all the space they may",
    advice:
      "Remove sessions with DELETE /v1/sessions/{id} or `dragoman prune`, or raise limits.artifact_bytes in the configuration.",
  },
  disk_full: { status: 507, title: "The disk is full", advice: "Free some space; the daemon goes on by itself." },
  wrong_node: {
    status: 421,
    title: "Another node owns the session",
    advice: "Ask any node by its public address: it sends the request on to the owner.",
  },
  no_fleet: {
    status: 409,
    title: "This daemon is no node of a fleet",
    advice: "Leave `node` and `label` out, or start it with --cluster.",
  },
  node_not_found: { status: 404, title: "No such node", advice: "List the nodes with GET /v1/nodes." },
  node_full: {
    status: 409,
    title: "The nodes that could take it are full",
    advice: "Wait until sessions come to rest, add a node, or name another one.",
  },
  no_node: {
    status: 503,
    title: "No node can take it",
    advice: "A node must be up, have the agent and the labels, and share the place of the directory. See GET /v1/nodes.",
  },
  owner_unreachable: {
    status: 503,
    title: "The session has no reachable owner now",
    advice: "Try again with the same Idempotency-Key; see `unclaimable` of the session where it stays so.",
  },
  not_ready: { status: 503, title: "Not ready", advice: "Try again in a moment." },
} as const satisfies Record<string, { status: number; title: string; advice: string }>;

/** Every code that an answer of the daemon can carry. */
export type ProblemCode = keyof typeof problemCodes;

export const problemCodeNames = Object.keys(problemCodes) as ProblemCode[];

/** The one error class whose code reaches clients. */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly errors: { path: string; message: string }[] | undefined;

  constructor(code: ProblemCode, detail?: string, options?: ErrorOptions & { errors?: { path: string; message: string }[] }) {
    super(detail ?? `${problemCodes[code].title}. ${problemCodes[code].advice}`, options);
    this.name = "ProblemError";
    this.code = code;
    this.errors = options?.errors;
  }

  get status(): number {
    return problemCodes[this.code].status;
  }
}
