/**
 * The row a session keeps beside its stream: what must survive a restart so that it can be shown and resumed. Stored as JSON in the log, and checked
 * whenever it is read: a damaged row is an error of that session, never of the daemon. Not here: what a file may bring in (import-session.ts).
 */
import Type from "typebox";
import { Compile } from "typebox/compile";
import type { SessionConfig } from "../agents/contract.ts";
import { withoutOwn } from "../agents/own-environment.ts";
import { Actor } from "../schema/actor.ts";
import { LastError, PermissionMode, SessionEnded, Usage } from "../schema/event-data.ts";
import { nullable } from "../schema/nullable.ts";
import { onUse } from "../schema/on-use.ts";
import { McpServerConfig, Metadata, type Session, SessionState } from "../schema/session.ts";

const text = Type.String();

/** Types only. Patterns are checked where values come in; an agent may report a model whose name no client could choose. */
export const SessionRow = Type.Object({
  session_id: Type.String({ minLength: 1 }),
  agent: Type.String({ minLength: 1 }),
  agent_version: nullable(text),
  native_session_id: nullable(text),
  status: SessionState,
  status_detail: nullable(text),
  directory: Type.String({ minLength: 1 }),
  /** Whether its directory's settings are loaded: decided for this session, or by the list of trusted directories, about which a person may be asked. */
  trust: Type.Enum(["ask", "restricted", "trusted"]),
  /** A person was asked and said no: not asked again. */
  trust_declined: Type.Optional(Type.Boolean()),
  model: nullable(text),
  variant: nullable(text),
  agent_mode: nullable(text),
  permission_mode: PermissionMode,
  title: nullable(text),
  /** A person gave the title: the agent's own does not replace it. */
  named: Type.Optional(Type.Boolean()),
  /** False until the agent has answered once. Absent in sessions of an older daemon. */
  answered: Type.Optional(Type.Boolean()),
  /** How a person files it. Absent: not at all. */
  tags: Type.Optional(Type.Array(text)),
  archived: Type.Optional(Type.Boolean()),
  pinned: Type.Optional(Type.Boolean()),
  metadata: Metadata,
  /** Never shown to clients: it may hold keys. */
  env: Type.Record(Type.String(), text),
  mcp_servers: Type.Array(McpServerConfig),
  system_prompt: nullable(text),
  /** Branch from native_session_id at the first start, instead of going on with it. */
  fork: Type.Boolean(),
  forked_from: nullable(text),
  /** The session whose agent started this one. Absent: a person or a program did. */
  parent_session_id: Type.Optional(text),
  /** Where it branches off, in the agent's words. Absent: at the end. */
  fork_at: Type.Optional(text),
  /** What of its agent's memory is carried in the log: the id of a document. Null or absent: nothing. */
  carried: Type.Optional(nullable(text)),
  /** Who created, forked or imported it. Absent in sessions of an older daemon. */
  created_by: Type.Optional(Actor),
  /** A file brought in messages that waited where it comes from: they are removed when it is first loaded. */
  imported_queue: Type.Optional(Type.Boolean()),
  usage: nullable(Usage),
  /** The agent reports the session's usage itself; turns are not added up. */
  usage_told: Type.Optional(Type.Boolean()),
  last_error: Type.Optional(nullable(LastError)),
  ended: nullable(SessionEnded),
});
export type SessionRow = Type.Static<typeof SessionRow>;

/** What a row means that lacks a field, because an older version wrote it. */
const DEFAULTS: Omit<SessionRow, "session_id" | "agent" | "directory"> = {
  agent_version: null,
  native_session_id: null,
  status: "dormant",
  status_detail: null,
  trust: "ask",
  model: null,
  variant: null,
  agent_mode: null,
  permission_mode: "default",
  title: null,
  metadata: {},
  env: {},
  mcp_servers: [],
  system_prompt: null,
  fork: false,
  forked_from: null,
  usage: null,
  ended: null,
};

const validator = onUse(() => Compile(SessionRow));

/** The stored row is no row. The message says what is wrong with it. */
export class RowError extends Error {
  override readonly name = "RowError";
}

/** Throws RowError. */
export function parseRow(json: string): SessionRow {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new RowError("the stored row is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new RowError("the stored row is not an object");
  const row: unknown = { ...DEFAULTS, ...value };
  if (validator().Check(row)) return row;
  const [fault] = validator().Errors(row);
  throw new RowError(`${fault?.instancePath.slice(1) || "the stored row"} ${fault?.message ?? "is invalid"}`);
}

/** True when the stored row says that the session has ended. A row that cannot be read says nothing. */
export function rowHasEnded(json: string): boolean {
  try {
    return parseRow(json).ended !== null;
  } catch {
    return false;
  }
}

export const configOf = (row: SessionRow, trusted: boolean): SessionConfig => ({
  session_id: row.session_id,
  directory: row.directory,
  trusted,
  model: row.model,
  variant: row.variant,
  agent_mode: row.agent_mode,
  permission_mode: row.permission_mode,
  env: withoutOwn(row.env),
  mcp_servers: row.mcp_servers,
  system_prompt: row.system_prompt,
  metadata: row.metadata,
});

/** What the first event says of a new session. */
export const startMetadata = (row: SessionRow): Record<string, unknown> => ({
  agent: row.agent,
  agent_version: row.agent_version,
  directory: row.directory,
  model: row.model,
  variant: row.variant,
  agent_mode: row.agent_mode,
  permission_mode: row.permission_mode,
  title: row.title,
  forked_from: row.forked_from,
  ...(row.parent_session_id ? { parent_session_id: row.parent_session_id } : {}),
  ...(row.created_by ? { created_by: row.created_by } : {}),
});

/** The session as clients see it. */
export function sessionOf(
  row: SessionRow,
  stream: { created_at: number; updated_at: number; last_sequence: number },
  live: { queued: number; pending: Session["pending"]; trusted: boolean },
): Session {
  return {
    session_id: row.session_id,
    agent: row.agent,
    agent_version: row.agent_version,
    native_session_id: row.native_session_id,
    status: row.status,
    ...(row.status_detail === null ? {} : { status_detail: row.status_detail }),
    directory: row.directory,
    trust: live.trusted ? "trusted" : "restricted",
    model: row.model,
    variant: row.variant,
    agent_mode: row.agent_mode,
    permission_mode: row.permission_mode,
    title: row.title,
    tags: row.tags ?? [],
    archived: row.archived ?? false,
    pinned: row.pinned ?? false,
    metadata: row.metadata,
    created_at: new Date(stream.created_at).toISOString(),
    updated_at: new Date(stream.updated_at).toISOString(),
    last_sequence: stream.last_sequence,
    queued: live.queued,
    pending: live.pending,
    usage: row.usage,
    last_error: row.last_error ?? null,
    forked_from: row.forked_from,
    ...(row.parent_session_id ? { parent_session_id: row.parent_session_id } : {}),
    ...(row.created_by ? { created_by: row.created_by } : {}),
    ended: row.ended,
  };
}
