// The session itself: created, updated, deleted, compacted, its title, model, agent, cost, todo list and changed files.

import type { PlanEntry } from "../../../schema/content.ts";
import type { Draft } from "../../../schema/draft.ts";
import type { ConfigChanged } from "../../../schema/event-data.ts";
import { type JsonRecord, num, rec, records, str, timeOf, toJson } from "../../json.ts";
import { conversationDeleted } from "../../kit/error-table.ts";
import { revertMark } from "./removal.ts";
import type { Session, World } from "./state.ts";
import { endTurn, readUsage } from "./turns.ts";

/** `madeByClient`: a session with a parent that a client created is no sub-agent of anybody. */
export function sessionInfo(world: World, info: JsonRecord, madeByClient = false): { session: Session; drafts: Draft[] } {
  const session = world.session(str(info.id) ?? "");
  session.directory = str(info.directory) ?? str(rec(info.location).directory) ?? session.directory;
  if (!madeByClient && !session.parent && !session.announced) adopt(world, session, str(info.parentID));
  if (!session.announced && session.messages.size === 0 && pendingFork(world)) {
    session.fork = true;
    session.knownUntil = num(rec(info.time).created) ?? 0;
  }
  const root = session.parent === null;
  const drafts: Draft[] = [];
  if (root) {
    drafts.push(...announce(session, info), ...title(session, info), ...config(session, info), ...usage(session, info));
    drafts.push(...revertMark(session, info.revert));
  }
  session.announced = true;
  return { session, drafts };
}

/** A child of a session we know of belongs to its root, under the call of the task tool. */
function adopt(world: World, session: Session, parentId: string | undefined): void {
  const parent = parentId === undefined ? undefined : world.sessions.get(parentId);
  if (!parent || world.root(parent) === session) return;
  if (pendingCreation(world, parentId)) return;
  session.parent = parent;
}

/** A `POST /session` of ours with this parent is under way. */
const pendingCreation = (world: World, parentId: string | undefined): boolean =>
  [...world.requests.values()].some((r) => r.method === "POST" && r.path === "/session" && rec(r.body).parentID === parentId);

/** A `POST /session/:id/fork` of ours is under way. */
const pendingFork = (world: World): boolean =>
  [...world.requests.values()].some((r) => r.method === "POST" && r.path.endsWith("/fork"));

const METADATA = ["slug", "projectID", "directory", "version", "parentID", "metadata", "permission", "share", "workspaceID"];

function announce(session: Session, info: JsonRecord): Draft[] {
  const metadata: Record<string, unknown> = {};
  for (const key of METADATA) if (info[key] !== undefined) metadata[key] = info[key];
  const archived = num(rec(info.time).archived);
  Object.assign(metadata, timeOf("archived", archived));
  const told = toJson(Object.entries(metadata));
  const same = told === session.metadata || (session.announced && Object.keys(metadata).length === 0);
  session.metadata = told;
  return [
    ...(session.announced ? [] : [{ do: "native_session", id: session.id } as const]),
    ...(same ? [] : [{ do: "event", type: "session.updated", data: { metadata } } as const]),
  ];
}

function title(session: Session, info: JsonRecord): Draft[] {
  const title = str(info.title);
  if (title === undefined || title === session.title) return [];
  session.title = title;
  return [{ do: "event", type: "session.updated", data: { title } }];
}

function config(session: Session, info: JsonRecord): Draft[] {
  const changed: ConfigChanged = {};
  const agent = str(info.agent);
  if (agent !== undefined && agent !== session.agent) changed.agent_mode = session.agent = agent;
  const model = modelName(info.model);
  if (model !== null && model !== session.model) changed.model = session.model = model;
  const variant = str(rec(info.model).variant);
  if (variant !== undefined && variant !== session.variant) changed.variant = session.variant = variant;
  return Object.keys(changed).length === 0 ? [] : [{ do: "event", type: "config.changed", data: changed }];
}

/** Two spellings of one thing: `{id, providerID}` on sessions, `{modelID, providerID}` on messages. */
export function modelName(model: unknown): string | null {
  const { id, modelID, providerID } = rec(model);
  const name = str(id) ?? str(modelID);
  const provider = str(providerID);
  return name === undefined || provider === undefined ? null : `${provider}/${name}`;
}

function usage(session: Session, info: JsonRecord): Draft[] {
  const usage = readUsage(info.tokens, info.cost);
  if (!usage || usage.input_tokens + usage.output_tokens === 0) return [];
  const told = toJson(usage);
  if (told === session.usage) return [];
  session.usage = told;
  return [{ do: "event", type: "usage.updated", data: { scope: "session", ...usage } }];
}

export function sessionDeleted(session: Session): Draft[] {
  if (session.deleted) return [];
  session.deleted = true;
  // Its last message is never closed: the abort that follows says idle only once.
  const drafts = session.turn ? endTurn(session, { stop: "interrupted" }) : [];
  if (session.parent) return drafts;
  return [
    ...drafts,
    conversationDeleted("OpenCode", "session_deleted"),
    { do: "event", type: "agent.notice", data: { name: "session.deleted", detail: { session_id: session.id } } },
  ];
}

export function sessionCompacted(session: Session): Draft[] {
  const summary = session.summary;
  const trigger = session.turn?.compacting ?? "unknown";
  if (session.turn) session.turn.compacting = null;
  session.summary = null;
  return [
    { do: "event", type: "session.compacted", data: { trigger, ...(summary === null ? {} : { summary }) } },
    { do: "status", status: { status: "running" } },
  ];
}

/** Empty in normal runs; after a revert it carries what was undone. */
export function sessionDiff(session: Session, files: unknown): Draft[] {
  const diff = records(files);
  const told = diff.length === 0 ? "" : toJson(diff);
  if (told === session.diff) return [];
  session.diff = told;
  return [{ do: "event", type: "session.updated", data: { metadata: { diff } } }];
}

/** One list a turn, replaced as it changes; the end of the turn completes it. */
export function todoUpdated(world: World, session: Session, todos: unknown): Draft[] {
  const entries: PlanEntry[] = records(todos).map((todo) => {
    const priority = str(todo.priority);
    return {
      text: str(todo.content) ?? "",
      status: planStatus(str(todo.status)),
      ...(priority === "high" || priority === "medium" || priority === "low" ? { priority } : {}),
    };
  });
  const content = [{ type: "plan" as const, entries }];
  const root = world.root(session);
  if (session.plan !== null && session.planTurn === root.turns) return [{ do: "item.update", key: session.plan, content }];
  // Keys last as long as the session, so they hang on an id that does.
  const key = `plan:${[...session.messages.keys()].at(-1) ?? session.id}:${root.turns}`;
  const item = {
    key,
    native_item_id: null,
    parent: session.parentCall,
    kind: "status" as const,
    role: "assistant" as const,
    content,
  };
  if (!root.turn) return [{ do: "item.add", item: { ...item, key: `${key}:${toJson(entries).length}:${entries.length}` } }];
  session.plan = key;
  session.planTurn = root.turns;
  return [{ do: "item.start", item }];
}

function planStatus(status: string | undefined): PlanEntry["status"] {
  switch (status) {
    case "in_progress":
    case "completed":
    case "cancelled":
      return status;
    default:
      return "pending";
  }
}

/** A session that exists since before this process: what it said before is in the log already. */
export function resumed(session: Session, info: JsonRecord): void {
  if (session.announced || session.messages.size > 0) return;
  session.knownUntil = num(rec(info.time).updated) ?? 0;
}
