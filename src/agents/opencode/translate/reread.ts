// Messages read over HTTP, after a gap in the stream or because a route answers with them.
import type { Draft } from "../../../schema/draft.ts";
import { type JsonRecord, num, rec, records, str } from "../../json.ts";
import { messageUpdated, partUpdated } from "./messages.ts";
import type { Session, World } from "./state.ts";

/** What was missed is reported now, what is known is not reported again. */
export function readMessage(world: World, session: Session, native: JsonRecord): Draft[] {
  const info = rec(native.info);
  const id = str(info.id);
  if (id === undefined) return [];
  const created = num(rec(info.time).created) ?? 0;
  if (created > session.knownUntil || session.messages.has(id)) return reread(world, session, native, info, id);
  // Reported by an earlier process: it is only remembered, so that it can be removed and come back.
  const { turn } = session;
  session.turn = null;
  reread(world, session, native, info, id);
  const message = session.messages.get(id);
  if (message) Object.assign(message, { usage: null, done: true });
  session.turn = turn;
  return [];
}

/** The message first, as if in progress, then its parts, then its end: the order of the stream. */
function reread(world: World, session: Session, native: JsonRecord, info: JsonRecord, id: string): Draft[] {
  const { completed, ...time } = rec(info.time);
  const drafts = session.messages.has(id) ? [] : (messageUpdated(world, session, { ...info, time }) ?? []);
  for (const part of records(native.parts)) drafts.push(...(partUpdated(world, session, part) ?? []));
  if (num(completed) !== undefined || info.role === "user") drafts.push(...(messageUpdated(world, session, info) ?? []));
  return drafts;
}
