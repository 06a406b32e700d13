// The row a session keeps beside its stream: what must survive a restart so that it can be shown and resumed. Stored as JSON in the log.
import type { McpServer, SessionConfig } from "../agents/contract.ts";
import { withoutOwn } from "../agents/own-environment.ts";
import type { Actor } from "../schema/actor.ts";
import type { SessionEnded, Usage } from "../schema/event-data.ts";
import type { Session, SessionState } from "../schema/session.ts";

export type SessionRow = {
  session_id: string;
  agent: string;
  agent_version: string | null;
  native_session_id: string | null;
  status: SessionState;
  status_detail: string | null;
  directory: string;
  model: string | null;
  variant: string | null;
  agent_mode: string | null;
  permission_mode: SessionConfig["permission_mode"];
  title: string | null;
  metadata: Record<string, unknown>;
  /** Never shown to clients: it may hold keys. */
  env: Record<string, string>;
  mcp_servers: McpServer[];
  system_prompt: string | null;
  /** Branch from native_session_id at the first start, instead of going on with it. */
  fork: boolean;
  forked_from: string | null;
  /** Who created, forked or imported it. Absent in sessions of an older daemon. */
  created_by?: Actor;
  usage: Usage | null;
  /** The agent tells the session's usage itself; turns are not added up. */
  usage_told?: boolean;
  ended: SessionEnded | null;
};

export const parseRow = (json: string): SessionRow => JSON.parse(json) as SessionRow;

export const configOf = (row: SessionRow): SessionConfig => ({
  session_id: row.session_id,
  directory: row.directory,
  model: row.model,
  variant: row.variant,
  agent_mode: row.agent_mode,
  permission_mode: row.permission_mode,
  env: withoutOwn(row.env),
  mcp_servers: row.mcp_servers,
  system_prompt: row.system_prompt,
  metadata: row.metadata,
});

/** The session as clients see it. */
export function sessionOf(
  row: SessionRow,
  stream: { created_at: number; updated_at: number; last_sequence: number },
  live: { queued: number; pending: Session["pending"] },
): Session {
  return {
    session_id: row.session_id,
    agent: row.agent,
    agent_version: row.agent_version,
    native_session_id: row.native_session_id,
    status: row.status,
    ...(row.status_detail === null ? {} : { status_detail: row.status_detail }),
    directory: row.directory,
    model: row.model,
    variant: row.variant,
    agent_mode: row.agent_mode,
    permission_mode: row.permission_mode,
    title: row.title,
    metadata: row.metadata,
    created_at: new Date(stream.created_at).toISOString(),
    updated_at: new Date(stream.updated_at).toISOString(),
    last_sequence: stream.last_sequence,
    queued: live.queued,
    pending: live.pending,
    usage: row.usage,
    forked_from: row.forked_from,
    ...(row.created_by ? { created_by: row.created_by } : {}),
    ended: row.ended,
  };
}
