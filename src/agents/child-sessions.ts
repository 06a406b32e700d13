/** Sessions that an agent starts for parts of its work, as the agent sees them. Not here: who makes them (the daemon). */
import type { UniversalEvent } from "../schema/event.ts";
import type { PlainReply } from "../schema/event-data.ts";
import type { SessionConfig } from "./session-config.ts";

/** A session that an agent wants to start for a part of its work. */
export type ChildRequest = Pick<SessionConfig, "directory" | "trusted" | "model" | "permission_mode" | "env"> & {
  /** Of the child: chosen by the parent, so that it finds it again. */
  session_id: string;
  parent_session_id: string;
  agent: string;
  title: string;
};

/** The sessions that agents start. A child is a session like any other, and names its parent. */
export interface ChildSessions {
  /** Agents whose program is there, as far as is known. */
  agents(): string[];
  /** How many sessions are above this one. */
  depth(session_id: string): Promise<number>;
  /** Rejects with a sentence. */
  create(request: ChildRequest): Promise<ChildSession>;
  /** Null: there is none of this id, or it is no child of this parent. */
  find(session_id: string, parent_session_id: string): Promise<ChildSession | null>;
}

export interface ChildSession {
  readonly session_id: string;
  readonly agent: string;
  /** `new`: it has never been given anything. */
  state(): Promise<"new" | "busy" | "idle" | "ended">;
  send(text: string): Promise<void>;
  /** Lets an agent that was cut off by a crash go on, if it can. */
  resume(): Promise<void>;
  /** Its events of these types so far. */
  history(types: readonly UniversalEvent["type"][]): Promise<UniversalEvent[]>;
  /** Its events from now on; returns what ends it. */
  follow(onEvent: (event: UniversalEvent) => void): () => void;
  replyPermission(permission_id: string, reply: { reply: PlainReply; message: string | null }): Promise<void>;
  replyQuestion(question_id: string, answers: string[][] | null): Promise<void>;
  end(): Promise<void>;
}
