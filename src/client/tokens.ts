/** Tokens of the daemon as clients see them: what they are allowed to do, and how they are made. */
import type { Role, Surface } from "../schema/actor.ts";

/** Which sessions a token reaches: those named, and those that work in one of the directories or below. */
export type Scope = { sessions?: string[]; directories?: string[] };
export type TokenKind = "root" | "minted" | "page" | "link" | "agent";
/** A token without its secret. */
export type TokenInfo = {
  token_id: string;
  role: Role;
  kind: TokenKind;
  /** Null: all sessions. */
  scope: Scope | null;
  /** Null: it lives as long as its file. */
  expires_at: string | null;
  label?: string;
  /** Kind `agent`: the session whose agent holds it. */
  session_id?: string;
};
export type Identity = TokenInfo & { surface: Surface };
export type MintedToken = { token: string; token_id: string; role: Role; expires_at: string | null };
export type MadeLink = {
  /** Goes behind `/ui#link=`; `url` has it there already. */
  token: string;
  url: string;
  expires_at: string;
  /** On the daemon's machine: a page that leads a browser to the link. */
  file: string | null;
};
export type MintOptions = {
  lifetime_ms?: number;
  scope?: Scope;
  label?: string;
  /** Everything done with it is marked as coming through MCP. */
  surface?: "mcp";
  /** It may prolong itself with `renew`. */
  renewable?: boolean;
  signal?: AbortSignal;
};
