// OpenCode's traffic as drafts: one translator for one server with all its sessions. It only sorts; each concept has its file.
import type { Draft } from "../../../schema/draft.ts";
import type { NativeMessage, Translation, Translator } from "../../contract.ts";
import { type JsonRecord, rec, str } from "../../json.ts";
import { heartbeat, mapped, noted, unparsed } from "../../translation.ts";
import { readFrame, type ServerEvent } from "./frame.ts";
import { request, response, unanswered } from "./http.ts";
import { finishCopies, isStrangePart, messageUpdated, partDelta, partUpdated } from "./messages.ts";
import { nextEvent } from "./next.ts";
import { messageRemoved, partRemoved } from "./removal.ts";
import {
  forgetRequests,
  permissionAsked,
  permissionReplied,
  questionAsked,
  questionResolved,
  readAnswers,
  withdrawRequests,
} from "./requests.ts";
import { sessionCompacted, sessionDeleted, sessionDiff, sessionInfo, todoUpdated } from "./session-info.ts";
import { SILENCE } from "./silence.ts";
import { type Session, World } from "./state.ts";
import { toolStateOf } from "./tools.ts";
import { childError, endTurn, sessionError, status } from "./turns.ts";

/** Understood, of no session, and without universal meaning: shown once as `agent.notice` to the sessions of that directory. */
const NOTICES = new Set([
  "catalog.updated",
  "file.edited",
  "file.watcher.updated",
  "installation.update-available",
  "installation.updated",
  "integration.connection.updated",
  "integration.updated",
  "lsp.updated",
  "mcp.browser.open.failed",
  "mcp.tools.changed",
  "models-dev.refreshed",
  "plugin.added",
  "project.directories.updated",
  "project.updated",
  "pty.created",
  "pty.deleted",
  "pty.exited",
  "pty.updated",
  "reference.updated",
  "tui.command.execute",
  "tui.prompt.append",
  "tui.session.select",
  "tui.toast.show",
  "vcs.branch.updated",
  "workspace.failed",
  "workspace.ready",
  "workspace.status",
  "worktree.failed",
  "worktree.ready",
]);

/** The start of an instance sends some fifty of these in the middle of a turn: one notice a directory says it all. */
const SAID_ONCE = new Set(["plugin.added", "catalog.updated", "reference.updated", "integration.updated", "project.updated"]);

export class OpencodeTranslator implements Translator {
  readonly keys = "session";
  readonly silence = SILENCE;
  readonly #world = new World();

  forget(session: string): void {
    this.#world.sessions.delete(session);
  }

  translate(message: NativeMessage): Translation[] {
    const frame = readFrame(message);
    switch (frame.kind) {
      case "event":
        return this.#event(frame.event);
      case "sync":
        return this.#sync(frame.event);
      case "keepalive":
        return [heartbeat(null, "comment")];
      case "request":
        return request(this.#world, frame);
      case "response":
        return response(this.#world, frame);
      case "transport_error":
        return unanswered(this.#world, frame.id, frame.message);
      case "stream":
        return [mapped(null, frame.phase)];
      case "stderr":
        return [mapped(null, "stderr")];
      case "exit":
        return this.#exit(frame.code, frame.signal);
      case "unknown":
        return [unparsed(null, `${message.dir}/unknown`, `OpenCode sent ${frame.what}.`)];
      default:
        return frame satisfies never;
    }
  }

  #event(event: ServerEvent): Translation[] {
    const type = typeOf(event);
    if (!this.#world.first(event.id)) return [{ ...mapped(this.#address(event), type), silent: "another stream said it before" }];
    return (
      this.#known(event, type) ?? [unparsed(this.#address(event), type, `OpenCode sent an event that is not known: ${type}.`)]
    );
  }

  /** A repetition, unless the event itself was lost: `/global/event` starts listening only after it says that it is connected. */
  #sync(event: ServerEvent): Translation[] {
    const type = `sync:${typeOf(event)}`;
    if (event.id === null || !this.#world.first(event.id)) return [mapped(this.#address(event), type)];
    return (
      this.#known(event, type) ?? [unparsed(this.#address(event), type, `OpenCode synced an event that is not known: ${type}.`)]
    );
  }

  #address(event: ServerEvent): string | null {
    const session = this.#world.sessions.get(str(event.data.sessionID) ?? "");
    return session ? this.#world.root(session).id : null;
  }

  #known(event: ServerEvent, type: string): Translation[] | null {
    if (event.type === "server.heartbeat") return [heartbeat(null, type)];
    if (event.type === "server.connected") return [mapped(null, type)];
    if (event.type === "server.instance.disposed" || event.type === "global.disposed") return this.#disposed(event, type);
    if (NOTICES.has(event.type)) return this.#notice(event, type);
    if (event.type.startsWith("session.next.")) return this.#next(event, type);
    return this.#ofSession(event, type);
  }

  #notice({ type: name, data, directory }: ServerEvent, type: string): Translation[] {
    return this.#world.inDirectory(directory).map((session) => {
      const key = `${name} ${session ?? directory ?? ""}`;
      if (!SAID_ONCE.has(name)) return noted(session, type, name, data);
      if (this.#world.noticed.has(key)) return mapped(session, type);
      this.#world.noticed.set(key, "");
      return noted(session, type, name, data);
    });
  }

  #next(event: ServerEvent, type: string): Translation[] | null {
    const id = str(event.data.sessionID);
    if (id === undefined) return null;
    const session = this.#world.session(id);
    const drafts = nextEvent(session, event.type.slice("session.next.".length), event.data);
    return drafts && [told(this.#world.root(session).id, type, drafts)];
  }

  #ofSession({ type: name, data }: ServerEvent, type: string): Translation[] | null {
    const world = this.#world;
    if (name === "session.created" || name === "session.updated") {
      if (str(rec(data.info).id) === undefined) return null;
      const { session, drafts } = sessionInfo(world, rec(data.info));
      return [mapped(world.root(session).id, type, drafts)];
    }
    const id = str(data.sessionID) ?? str(rec(data.part).sessionID) ?? str(rec(data.info).sessionID) ?? str(rec(data.info).id);
    if (!isSessionEvent(name)) return null;
    // By the schema it may be of no session.
    if (id === undefined) return name === "session.error" ? [noted(null, type, name, data)] : null;
    // Idle is said even for a session that does not exist (an abort of an unknown id).
    if ((name === "session.status" || name === "session.idle") && !world.sessions.has(id)) return [mapped(null, type)];
    const session = world.session(id);
    const open = world.root(session).turn;
    const drafts = this.#drafts(name, session, data);
    if (open && world.root(session).turn === null) forgetRequests(world, world.root(session));
    const part = rec(data.part);
    if (drafts && name === "message.part.updated" && isStrangePart(part))
      return [unparsed(world.root(session).id, type, `OpenCode sent a part that is not known: ${part.type}.`, drafts)];
    return drafts && [told(world.root(session).id, type, drafts)];
  }

  #drafts(name: SessionEvent, session: Session, data: JsonRecord): Draft[] | null {
    const world = this.#world;
    switch (name) {
      case "session.deleted":
        return [...withdrawRequests(world, session), ...sessionDeleted(session)];
      case "session.status": {
        const resting = session.turn === null && rec(data.status).type === "idle";
        const drafts = status(world, session, rec(data.status));
        return drafts && [...(resting ? finishCopies(session, null) : []), ...drafts];
      }
      case "session.idle":
        // The deprecated twin of status idle, always right after it.
        return [];
      case "session.error":
        return session.parent ? childError(session, data.error) : sessionError(session, data.error);
      case "session.diff":
        return session.parent ? [] : sessionDiff(session, data.diff);
      case "session.compacted":
        return session.parent ? [] : sessionCompacted(session);
      case "message.updated":
        return messageUpdated(world, session, rec(data.info));
      case "message.removed":
        return messageRemoved(session, str(data.messageID));
      case "message.part.updated":
        return partUpdated(world, session, rec(data.part));
      case "message.part.delta":
        return partDelta(session, data);
      case "message.part.removed":
        return partRemoved(session, str(data.messageID), str(data.partID));
      case "permission.asked":
        return permissionAsked(world, session, data, 1);
      case "permission.v2.asked":
        return permissionAsked(world, session, data, 2);
      case "permission.replied":
      case "permission.v2.replied":
        return permissionReplied(world, str(data.requestID), data.reply);
      case "question.asked":
        return questionAsked(world, session, data, 1);
      case "question.v2.asked":
        return questionAsked(world, session, data, 2);
      case "question.replied":
      case "question.v2.replied":
        return questionResolved(world, str(data.requestID), readAnswers(data.answers));
      case "question.rejected":
      case "question.v2.rejected":
        return questionResolved(world, str(data.requestID), null);
      case "todo.updated":
        return todoUpdated(world, session, data.todos);
      case "command.executed":
        return [{ do: "event", type: "agent.notice", data: { name, detail: { name: data.name, arguments: data.arguments } } }];
      default:
        return name satisfies never;
    }
  }

  /** The instance of a directory is gone, and with it whatever ran there. */
  #disposed(event: ServerEvent, type: string): Translation[] {
    const directory = str(event.data.directory) ?? event.directory;
    const said = [noted(null, type, event.type, event.data)];
    for (const session of this.#world.sessions.values()) {
      if (!session.turn || session.parent || (directory !== null && session.directory !== directory)) continue;
      said.push(mapped(session.id, type, endTurn(session, { stop: "interrupted" })));
    }
    return said;
  }

  /** Nothing is said when the server dies: turns that ran are over, sessions live on in its store. */
  #exit(code: number | null, signal: string | null): Translation[] {
    const said: Translation[] = [];
    for (const session of this.#world.sessions.values()) {
      if (!session.turn || session.parent) continue;
      const how = signal === null ? `with code ${code ?? "unknown"}` : `by ${signal}`;
      const message = `The OpenCode server ended ${how} in the middle of a turn. The session goes on with the next message.`;
      const details = { error_source: "agent" as const, native_code: signal ?? code };
      const error = { name: "ServerExit", error: { message, code: "execution_error" as const, details } };
      said.push(mapped(session.id, "exit", endTurn(session, { stop: "error", error })));
    }
    for (const session of this.#world.sessions.values()) forgetRequests(this.#world, session);
    this.#world.requests.clear();
    return said.length > 0 ? said : [mapped(null, "exit")];
  }
}

const SESSION_EVENTS = [
  "session.deleted",
  "session.status",
  "session.idle",
  "session.error",
  "session.diff",
  "session.compacted",
  "message.updated",
  "message.removed",
  "message.part.updated",
  "message.part.delta",
  "message.part.removed",
  "permission.asked",
  "permission.replied",
  "permission.v2.asked",
  "permission.v2.replied",
  "question.asked",
  "question.replied",
  "question.rejected",
  "question.v2.asked",
  "question.v2.replied",
  "question.v2.rejected",
  "todo.updated",
  "command.executed",
] as const;
type SessionEvent = (typeof SESSION_EVENTS)[number];
const names: ReadonlySet<string> = new Set(SESSION_EVENTS);
const isSessionEvent = (name: string): name is SessionEvent => names.has(name);

const told = (session: string, type: string, drafts: Draft[]): Translation => ({
  ...mapped(session, type, drafts),
  disposition: drafts.some((draft) => draft.do === "event" && draft.type === "agent.notice") ? "noted" : "mapped",
});

/** Bounded in number: unknown part types and tool states are data of the wire, so only their known values stand in the name. */
function typeOf({ type, data }: ServerEvent): string {
  if (type === "message.updated") return `${type}:${rec(data.info).role === "user" ? "user" : "assistant"}`;
  if (type !== "message.part.updated") return type;
  const part = rec(data.part);
  return part.type === "tool" ? `${type}:tool/${toolStateOf(part)}` : `${type}:${str(part.type) ?? "unknown"}`;
}
