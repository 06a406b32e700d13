/**
 * What a token is once its secret is left out: its role, what it may be used for, and the sessions it reaches. Not here: where tokens are kept
 * (token-store) and how a request shows one (auth).
 */
import { isAbsolute, relative, sep } from "node:path";
import Type from "typebox";
import { type Actor, type Role, reaches, type Surface } from "../schema/actor.ts";
import type { ProcessOwner } from "../transports/index.ts";

/**
 * `root`: from a file of the data directory, or given at start. `minted`: made from another one. `page`: held by an inspector page. `link`: traded once for
 * a page token. `agent`: given to the agent of one session.
 */
export const TOKEN_KINDS = ["root", "minted", "page", "link", "agent"] as const;
export type TokenKind = (typeof TOKEN_KINDS)[number];

export const Scope = Type.Object(
  {
    sessions: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
        maxItems: 100,
        description: "Ids of the sessions it reaches.",
      }),
    ),
    directories: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
        maxItems: 100,
        description: "Absolute paths. It reaches, and may create, sessions that work in one of them or below.",
      }),
    ),
  },
  { title: "Scope", additionalProperties: false, description: "A session is reached when either list names it." },
);
export type Scope = Type.Static<typeof Scope>;

/** A valid token, without its secret. */
export type Token = {
  id: string;
  role: Role;
  kind: TokenKind;
  /** Null: all sessions. */
  scope: Scope | null;
  /** Kind `agent`: the session whose agent holds it. */
  session_id?: string;
  label?: string;
  /** Bound by the minter: what the token is used through. A header of the caller cannot change it. */
  surface?: Surface;
  /** Kind `page`: the only web origin it is taken from. */
  origin?: string;
  /** Absent: it lives as long as its file, or as its session's agent. Milliseconds since 1970. */
  expires_at?: number;
};

/** The agent a call comes from, and how that is known. */
export type AgentCaller = Pick<ProcessOwner, "agent" | "session_id"> & {
  /** `mark`: the session is only what a changeable environment says. */
  known_by: "token" | ProcessOwner["known_by"];
};

/** Whoever makes a request, and how the effects of it name them. `agent`: the call comes from an agent of this daemon. */
export type Caller = Token & { actor: Actor; agent?: AgentCaller };

/** What a scope is compared with. */
export type Place = { session_id: string; directory: string };

export const inScope = (scope: Scope | null, place: Place): boolean =>
  scope === null ||
  (scope.sessions?.includes(place.session_id) ?? false) ||
  (scope.directories?.some((directory) => contains(directory, place.directory)) ?? false);

/** True when new sessions may work there. A scope that only names sessions creates none. */
export const mayCreateIn = (scope: Scope | null, directory: string): boolean =>
  scope === null || (scope.directories?.some((outer) => contains(outer, directory)) ?? false);

/** True when `inner` reaches nothing that `outer` does not. */
export function isWithin(inner: Scope, outer: Scope | null, directories: ReadonlyMap<string, string>): boolean {
  if (outer === null) return true;
  const sessions = (inner.sessions ?? []).every((session_id) =>
    inScope(outer, { session_id, directory: directories.get(session_id) ?? "" }),
  );
  return sessions && (inner.directories ?? []).every((directory) => mayCreateIn(outer, directory));
}

function contains(outer: string, inner: string): boolean {
  if (!isAbsolute(inner)) return false;
  const path = relative(outer, inner);
  return path === "" || (path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path));
}

/** The role of a page unless another is asked for: a page has no use of managing tokens. */
export const pageRole = ({ role }: Token): Role => (reaches(role, "operate") ? "operate" : role);
