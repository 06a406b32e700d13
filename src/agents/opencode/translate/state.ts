// What the translator remembers: sessions, their messages and parts, and which session hangs under which tool call.
// No drafts are made here.

import type { DraftPart, ItemDraft, ItemKey } from "../../../schema/draft.ts";
import type { ErrorData, Usage } from "../../../schema/event-data.ts";
import type { SpeakerRole } from "../../../schema/item.ts";
import type { JsonRecord } from "../../json.ts";
import type { ToolPart } from "./tool-part.ts";

/** Old messages keep their ids (so that nothing is reported twice) but not their content. */
const REMEMBERED_CONTENT = 300;
const REMEMBERED_EVENTS = 16_384;

export type ContentPart = {
  kind: "content";
  id: string;
  type: string;
  /** Text reported so far; the deltas of a part that is never closed stay its text. */
  text: string;
  closed: boolean;
  content: DraftPart[];
};

export type Part = ToolPart | ContentPart;

export type Message = {
  id: string;
  key: ItemKey;
  generation: number;
  role: SpeakerRole;
  /** Written by the agent itself: a summary, a continuation, the wrapper of a shell command. */
  system: boolean;
  /** The server reported the message itself, not only a part of it. */
  announced: boolean;
  /** It is an item: it has content or a call. */
  started: boolean;
  done: boolean;
  failed: boolean;
  /** Reverted: its items are gone, but may come back. */
  hidden: boolean;
  removed: boolean;
  parts: Map<string, Part>;
  /** The parts that have content, in the order in which they got it: their places in the item. */
  slots: ContentPart[];
  /** Its content is no longer known, only that it was reported. */
  forgotten: boolean;
  parentId: string | null;
  finish: string | null;
  /** A fork's messages come finished and then get their parts: how this one ended, until its parts are there. */
  ending: JsonRecord | null;
  /** Counts step-start parts: a retry starts a second step in the same message. */
  steps: number;
  stepOpen: string | null;
  usage: Usage | null;
  /** The last reported list of changed files. */
  diffs: string;
};

export type Turn = {
  /** The request that opened it, while nothing else is known of it. */
  request: string | null;
  busy: boolean;
  aborting: boolean;
  retrying: boolean;
  attempt: number | undefined;
  compacting: "auto" | "manual" | null;
  error: ErrorData | null;
  errorName: string | null;
  /** A context overflow is no failure yet: compaction may save the turn. */
  held: { name: string; error: ErrorData } | null;
  idles: number;
  /** The server's list of working sessions does not name it: it ended unseen, or its end is on the way. */
  absent: boolean;
  /** Number of requests sent before it began: a status asked for earlier says nothing about it. */
  after: number;
  /** It went idle without a message of the agent: the reason may still come. */
  unanswered: boolean;
  last: Message | null;
};

export type Session = {
  id: string;
  parent: Session | null;
  /** The call of the task tool that runs this session. */
  parentCall: ItemKey | null;
  announced: boolean;
  deleted: boolean;
  directory: string | null;
  title: string | null;
  agent: string | null;
  model: string | null;
  variant: string | null;
  usage: string;
  metadata: string;
  diff: string;
  /** The mark of a revert as JSON; empty when there is none. */
  revert: string;
  /** Messages created up to then were reported before this process: a resumed session does not repeat its past. */
  knownUntil: number;
  /** Made from another session: its first messages are copies of that one's. */
  fork: boolean;
  messages: Map<string, Message>;
  /** Of a root: the last call with each id, its own or a sub-agent's. */
  calls: Map<string, ToolPart>;
  turn: Turn | null;
  turns: number;
  /** Errors reported since the last turn began, by name and text. */
  told: Set<string>;
  summary: string | null;
  plan: ItemKey | null;
  /** The turn of the root session that the plan is of: a sub-agent has no turns of its own. */
  planTurn: number;
  /** v2 sessions (`/api`) have no status events. */
  next: boolean;
};

export type Request = {
  method: string;
  path: string;
  parts: string[];
  body: unknown;
  directory: string | null;
  session: string | null;
  /** Counted from one. */
  number: number;
  /** Sessions that were at work when it was sent. */
  working: ReadonlySet<string>;
};

export type Pending = { kind: "permission" | "question"; session: string; callId: string | null };

/** All that is known of one server process. */
export class World {
  readonly sessions = new Map<string, Session>();
  readonly requests = new Map<string, Request>();
  /** How many requests were sent. */
  sent = 0;
  /** Open permissions and questions by id. */
  readonly pending = new Map<string, Pending>();
  /** Ids that were asked before: an aborted request stays in the server's list for ever. */
  readonly asked = new Set<string>();
  /** What we answered, by request id, until the server confirms it. */
  readonly answers = new Map<string, { session: string | null; reply: string | null; message: string | null }>();
  /** Diffs shown when a change was asked for, by call id: `write` over an old file has no diff in its result. */
  readonly diffs = new Map<string, string>();
  /** Facts that concern no single session, the last one reported by type and address. */
  readonly noticed = new Map<string, string>();
  #seen = new Set<string>();
  #seenBefore = new Set<string>();

  /** True the first time an event id is met: `/event`, `/global/event` and `/api/event` carry the same events. */
  first(id: string | null): boolean {
    if (id === null) return true;
    if (this.#seen.has(id) || this.#seenBefore.has(id)) return false;
    if (this.#seen.size >= REMEMBERED_EVENTS) {
      this.#seenBefore = this.#seen;
      this.#seen = new Set();
    }
    this.#seen.add(id);
    return true;
  }

  session(id: string): Session {
    const known = this.sessions.get(id);
    if (known) return known;
    const session = newSession(id);
    this.sessions.set(id, session);
    return session;
  }

  root(session: Session): Session {
    let root = session;
    while (root.parent) root = root.parent;
    return root;
  }

  /** The sessions a message about one directory concerns; null when it cannot be determined. */
  inDirectory(directory: string | null): (string | null)[] {
    if (directory === null) return [null];
    const ids = [...this.sessions.values()].filter((s) => !s.parent && !s.deleted && s.directory === directory).map((s) => s.id);
    return ids.length > 0 ? ids : [null];
  }

  findCall(session: Session, callId: string | undefined): ToolPart | null {
    if (callId === undefined) return null;
    for (const message of [...session.messages.values()].reverse())
      for (const part of message.parts.values()) if (part.kind === "tool" && part.native === callId) return part;
    return null;
  }
}

const newSession = (id: string): Session => ({
  id,
  parent: null,
  parentCall: null,
  announced: false,
  deleted: false,
  directory: null,
  title: null,
  agent: null,
  model: null,
  variant: null,
  usage: "",
  metadata: "",
  diff: "",
  revert: "",
  knownUntil: 0,
  fork: false,
  messages: new Map(),
  calls: new Map(),
  turn: null,
  turns: 0,
  told: new Set(),
  summary: null,
  plan: null,
  planTurn: 0,
  next: false,
});

export function newMessage(session: Session, id: string, role: Message["role"]): Message {
  const message: Message = {
    id,
    key: `msg:${id}`,
    generation: 0,
    role,
    system: false,
    announced: false,
    started: false,
    done: false,
    failed: false,
    hidden: false,
    removed: false,
    parts: new Map(),
    slots: [],
    forgotten: false,
    parentId: null,
    finish: null,
    ending: null,
    steps: 0,
    stepOpen: null,
    usage: null,
    diffs: "",
  };
  session.messages.set(id, message);
  forgetOldContent(session);
  return message;
}

function forgetOldContent(session: Session): void {
  const excess = session.messages.size - REMEMBERED_CONTENT;
  if (excess <= 0) return;
  let index = 0;
  for (const message of session.messages.values()) {
    if (index++ >= excess) return;
    if (!message.done || message.forgotten) continue;
    message.forgotten = true;
    message.slots = [];
    for (const part of message.parts.values()) {
      if (part.kind === "content") Object.assign(part, { text: "", content: [] });
      else Object.assign(part, { call: [], result: null, last: "", output: "", input: null });
    }
  }
}

export const newTurn = (request: string | null): Turn => ({
  request,
  busy: false,
  aborting: false,
  retrying: false,
  attempt: undefined,
  compacting: null,
  error: null,
  errorName: null,
  held: null,
  idles: 0,
  absent: false,
  after: 0,
  unanswered: false,
  last: null,
});

/** A message as an item, without its content. */
export const itemOf = (session: Session, message: Message): ItemDraft => ({
  key: message.key,
  native_item_id: message.id,
  parent: session.parentCall,
  kind: message.system ? "system" : "message",
  role: message.system ? "system" : message.role,
});

/** The content of a message item. */
export const contentOf = (message: Message): DraftPart[] => message.slots.flatMap((part) => part.content);

/** Where the content of a part begins in its item; it gets its place with its first content. */
export function placeOf(message: Message, part: ContentPart): number {
  if (!message.slots.includes(part)) message.slots.push(part);
  let index = 0;
  for (const slot of message.slots) {
    if (slot === part) return index;
    index += slot.content.length;
  }
  return index;
}
