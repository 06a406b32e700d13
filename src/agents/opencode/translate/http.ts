// What we asked over HTTP and what was answered: prompts open turns, replies resolve requests, and whatever is read again heals what was missed.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { arr, isRecord, type JsonRecord, num, rec, records, str, toJson } from "../../json.ts";
import { mapped } from "../../translation.ts";
import { type Frame, routeOf } from "./frame.ts";
import { finishCopies } from "./messages.ts";
import { permissionAsked, permissionReplied, questionAsked, questionResolved, readAnswers } from "./requests.ts";
import { readMessage } from "./reread.ts";
import { resumed, sessionInfo } from "./session-info.ts";
import type { Request, Session, World } from "./state.ts";
import { completeUserMessages, endTurn, promptRefused, promptSent, status } from "./turns.ts";

/** Requests of a session that set the agent to work. */
const PROMPTS = new Set(["prompt_async", "message", "command", "shell", "summarize", "init", "prompt"]);
const REMEMBERED_REQUESTS = 4_096;

type RequestFrame = Extract<Frame, { kind: "request" }>;
type ResponseFrame = Extract<Frame, { kind: "response" }>;

export function request(world: World, frame: RequestFrame): Translation[] {
  const parts = frame.path.split("/").filter((part) => part !== "" && part !== "api");
  const session = parts[0] === "session" ? world.sessions.get(parts[1] ?? "") : undefined;
  const sent: Request = {
    method: frame.method,
    path: frame.path,
    parts,
    body: frame.body,
    directory: frame.directory,
    session: session?.id ?? null,
    number: ++world.sent,
    working: new Set([...world.sessions.values()].flatMap(({ id, turn }) => (turn?.busy ? [id] : []))),
  };
  if (frame.id !== null) remember(world, frame.id, sent);
  const drafts = frame.method === "POST" ? posted(world, sent, session, frame.id) : [];
  // A session that does not exist yet: its answer says whose request this was.
  const address = isCreation(sent) && frame.id !== null ? `req:${frame.id}` : addressOf(world, sent);
  return [mapped(address, `${frame.method} ${routeOf(frame.path)}`, drafts)];
}

/** Of a session of its own, also as a fork of another. */
const isCreation = ({ method, parts: [first, second, third] }: Request): boolean =>
  method === "POST" && first === "session" && (second === undefined || third === "fork");

function remember(world: World, id: string, sent: Request): void {
  world.requests.set(id, sent);
  if (world.requests.size <= REMEMBERED_REQUESTS) return;
  const oldest = world.requests.keys().next().value;
  if (oldest !== undefined) world.requests.delete(oldest);
}

/** The session a request concerns: the one in its path, or the one whose question it answers. */
function addressOf(world: World, sent: Request): string | null {
  const pending = world.pending.get(requestIdOf(sent) ?? "");
  const session = world.sessions.get(pending?.session ?? sent.session ?? "");
  return session ? world.root(session).id : null;
}

function posted(world: World, sent: Request, session: Session | undefined, id: string | null): Draft[] {
  const body = rec(sent.body);
  const answered = requestIdOf(sent);
  if (answered !== null) {
    const pending = world.pending.get(answered);
    const reply = str(body.reply) ?? str(body.response) ?? null;
    if (pending) world.answers.set(answered, { session: pending.session, reply, message: str(body.message) ?? null });
    return [];
  }
  if (!session) return [];
  const action = sent.parts[2] ?? "";
  const root = world.root(session);
  if (action === "abort" || action === "interrupt") {
    if (root.turn) root.turn.aborting = true;
    return [];
  }
  if (!PROMPTS.has(action) || sent.parts.length > 3 || body.noReply === true || session !== root) return [];
  return [...finishCopies(session, null), ...promptSent(session, id, sent.number)];
}

/** The permission or question a reply answers, on any of the four routes. */
function requestIdOf({ parts, method }: Request): string | null {
  if (method !== "POST") return null;
  const [first, second, third, fourth] = parts;
  if ((first === "permission" || first === "question") && third !== undefined) return second ?? null;
  if (first === "session" && (third === "permissions" || third === "permission" || third === "question")) return fourth ?? null;
  return null;
}

export function response(world: World, frame: ResponseFrame): Translation[] {
  const sent = frame.id === null ? undefined : world.requests.get(frame.id);
  if (!sent || frame.id === null) return [mapped(null, "answer to an unknown request")];
  const type = `${sent.method} ${routeOf(sent.path)} answer`;
  const address = addressOf(world, sent);
  if (frame.status >= 400 || frame.status === 0) {
    world.requests.delete(frame.id);
    return [mapped(address, type, refused(world, sent, frame.id, failure(frame)))];
  }
  const translations = answered(world, sent, frame.id, frame.body, type);
  world.requests.delete(frame.id);
  return translations ?? [mapped(address, type, settledPrompt(world, sent, frame.body))];
}

/** No answer at all: the server is gone, or was never there. */
export function unanswered(world: World, id: string | null, message: string): Translation[] {
  const sent = id === null ? undefined : world.requests.get(id);
  if (!sent || id === null) return [mapped(null, "transport-error")];
  world.requests.delete(id);
  return [mapped(addressOf(world, sent), "transport-error", refused(world, sent, id, message))];
}

function refused(world: World, sent: Request, id: string, message: string): Draft[] {
  const session = sent.session === null ? undefined : world.sessions.get(sent.session);
  const said = records(rec(sent.body).parts).flatMap((part) => str(part.text) ?? []);
  return session ? promptRefused(session, id, message, said.join("\n") || undefined) : [];
}

function failure(frame: ResponseFrame): string {
  const body = rec(frame.body);
  return str(rec(body.data).message) ?? str(body.message) ?? str(body._tag) ?? `The server answered ${frame.status}.`;
}

/** The blocking routes answer with the message itself. */
function settledPrompt(world: World, sent: Request, body: unknown): Draft[] {
  const session = sent.session === null ? undefined : world.sessions.get(sent.session);
  if (!session) return [];
  const drafts = isRecord(body) && isRecord(body.info) ? readMessage(world, session, body) : [];
  // Nothing follows a message without a reply, so nothing else would complete it.
  if (rec(sent.body).noReply === true) drafts.push(...completeUserMessages(session, null));
  return drafts;
}

/** Answers that carry facts. null: it only says that our request was done. */
function answered(world: World, sent: Request, id: string, body: unknown, type: string): Translation[] | null {
  const [first, second, third] = sent.parts;
  const replied = requestIdOf(sent);
  if (replied !== null) return [reply(world, sent, replied, type)];
  if (sent.method === "GET" && first === "permission") return pending(world, body, type, permissionAsked);
  if (sent.method === "GET" && first === "question") return pending(world, body, type, questionAsked);
  if (first === "mcp" && isRecord(body) && second === undefined) return mcpStatus(world, sent, body, type);
  if (first === "command" && Array.isArray(body)) return commands(world, sent, body, type);
  if (first !== "session") return null;
  if (second === "status") return statuses(world, sent, rec(body), type);
  if (third === "message" && sent.method === "GET") return [messages(world, sent, body, type)];
  if (third === "children") return [children(world, sent, body, type)];
  return sessionAnswer(world, sent, id, body, type);
}

function sessionAnswer(world: World, sent: Request, id: string, body: unknown, type: string): Translation[] | null {
  const info = isRecord(body) && isRecord(body.data) ? body.data : rec(body);
  if (typeof info.id !== "string" || !info.id.startsWith("ses")) return null;
  if (sent.method === "GET") resumed(world.session(info.id), info);
  const { session, drafts } = sessionInfo(world, info, isCreation(sent));
  const answer = mapped(world.root(session).id, type, drafts);
  return [isCreation(sent) ? { ...answer, bind: { from: `req:${id}` } } : answer];
}

function reply(world: World, sent: Request, id: string, type: string): Translation {
  const address = addressOf(world, sent);
  const body = rec(sent.body);
  const drafts =
    world.pending.get(id)?.kind === "question"
      ? questionResolved(world, id, sent.parts.at(-1) === "reject" ? null : readAnswers(body.answers))
      : permissionReplied(world, id, str(body.reply) ?? str(body.response));
  return mapped(address, type, drafts ?? []);
}

type Asked = typeof permissionAsked;

function pending(world: World, body: unknown, type: string, asked: Asked): Translation[] {
  const found = records(body).flatMap((native) => {
    const id = str(native.sessionID);
    if (id === undefined || !world.sessions.has(id)) return [];
    const session = world.session(id);
    const drafts = asked(world, session, native, 1) ?? [];
    return drafts.length > 0 ? [mapped(world.root(session).id, type, drafts)] : [];
  });
  return found.length > 0 ? found : [mapped(null, type)];
}

/**
 * Idle sessions are absent from the list. One that worked and is absent has ended, but its last words may still be on their way on the stream: the
 * turn ends when the messages have been read after this.
 */
function statuses(world: World, sent: Request, body: JsonRecord, type: string): Translation[] {
  const found: Translation[] = [];
  for (const session of world.sessions.values()) {
    if (session.parent || (sent.directory !== null && session.directory !== sent.directory)) continue;
    const now = body[session.id];
    const { turn } = session;
    // One that began to work between the question and its answer is not meant by it.
    const meant = turn && turn.after < sent.number && (!turn.busy || sent.working.has(session.id));
    if (meant) turn.absent = now === undefined;
    const drafts = isRecord(now) ? (status(world, session, now) ?? []) : [];
    if (drafts.length > 0) found.push(mapped(session.id, type, drafts));
  }
  return found.length > 0 ? found : [mapped(null, type)];
}

function messages(world: World, sent: Request, body: unknown, type: string): Translation {
  const id = sent.session ?? sent.parts[1] ?? "";
  const list = isRecord(body) ? body.data : body;
  if (!world.sessions.has(id) && id.startsWith("ses")) known(world.session(id), records(list));
  const session = world.sessions.get(id);
  if (!session || session.next) return mapped(addressOf(world, sent), type);
  const drafts = records(list).flatMap((native) => readMessage(world, session, native));
  // One that has not begun is absent too.
  const { turn } = session;
  if (turn?.absent && (turn.busy || turn.last?.done)) drafts.push(...endTurn(session));
  if (session.turn === null) drafts.push(...finishCopies(session, null), ...completeUserMessages(session, null));
  return mapped(world.root(session).id, type, drafts);
}

/** The history of a session that this server has not reported yet: an earlier process reported it. */
function known(session: Session, list: JsonRecord[]): void {
  for (const { info } of list) session.knownUntil = Math.max(session.knownUntil, num(rec(rec(info).time).created) ?? 0);
}

function children(world: World, sent: Request, body: unknown, type: string): Translation {
  const drafts = records(body).flatMap((info) => sessionInfo(world, info).drafts);
  return mapped(addressOf(world, sent), type, drafts);
}

function mcpStatus(world: World, sent: Request, body: JsonRecord, type: string): Translation[] {
  const mcp_servers = Object.entries(body).map(([name, value]) => {
    const error = str(rec(value).error);
    return { name, status: str(rec(value).status) ?? "unknown", ...(error === undefined ? {} : { error }) };
  });
  return everyone(world, sent, type, [{ do: "event", type: "config.changed", data: { mcp_servers } }], toJson(mcp_servers));
}

function commands(world: World, sent: Request, body: unknown[], type: string): Translation[] {
  const commands = records(arr(body)).map((command) => {
    const description = str(command.description);
    return { name: str(command.name) ?? "", ...(description === undefined ? {} : { description }) };
  });
  const drafts: Draft[] = [{ do: "event", type: "config.changed", data: { commands } }];
  const skills = records(body).filter((command) => command.source === "skill").length;
  if (skills > 0) drafts.push({ do: "event", type: "skill.catalog_updated", data: { count: skills, roots: [] } });
  return everyone(world, sent, type, drafts, toJson(commands));
}

/** Facts of a directory go to all sessions in it, once. */
function everyone(world: World, sent: Request, type: string, drafts: Draft[], fact: string): Translation[] {
  const asker = sent.directory === null ? [null] : world.inDirectory(sent.directory);
  return asker.map((session) => {
    const name = `${type} ${session ?? ""}`;
    if (world.noticed.get(name) === fact) return mapped(session, type);
    world.noticed.set(name, fact);
    return mapped(session, type, drafts);
  });
}
