// The Codex translator: one for a whole `codex app-server` process with all its threads, both directions. Pure; see the contract.
// Routes every message to its thread and its meaning; what things mean stands in the files beside.
import type { Draft } from "../../../schema/draft.ts";
import type { NativeMessage, Translation, Translator } from "../../contract.ts";
import { isRecord, type JsonRecord, own, rec, str } from "../../json.ts";
import { mapped, noted, unparsed } from "../../translation.ts";
import { rpcErrorData } from "./errors.ts";
import { ExecEvents } from "./exec-events.ts";
import { NOTIFICATION_TYPES } from "./notifications.ts";
import { OurRequests } from "./our-requests.ts";
import { ServerRequests } from "./server-requests.ts";
import { SILENCE } from "./silence.ts";
import { Thread } from "./thread.ts";
import { Threads } from "./threads.ts";
import { threadLost } from "./turns.ts";
import { classify, typeName } from "./wire.ts";

/** What a sub-agent's thread says about itself is not a fact of the session it works for. */
const OF_THE_SESSION = new Set(["config.changed", "session.updated", "session.compacted"]);

/** After these the server has no such thread. */
const GONE = new Set(["thread/archived", "thread/deleted", "thread/closed"]);

export class CodexTranslator implements Translator {
  readonly silence = SILENCE;
  readonly #threads = new Threads();
  /** State of what concerns no thread: MCP servers of the process. */
  readonly #process = new Thread("");
  readonly #ours = new OurRequests(this.#threads);
  readonly #theirs = new ServerRequests(this.#threads);
  #exec: ExecEvents | null = null;

  forget(session: string): void {
    this.#threads.forget(session);
  }

  /** The session that a thread belongs to; undefined when it is not known. */
  sessionOf(threadId: string): string | undefined {
    const thread = this.#threads.find(threadId);
    return thread && this.#threads.rootId(thread);
  }

  /** Turn ids of the app-server are unique for ever; `codex exec` counts its items anew in each process. */
  get keys(): "session" | "process" {
    return this.#exec === null ? "session" : "process";
  }

  translate(message: NativeMessage): Translation[] {
    const { dir, data } = message;
    if (dir === "err") return [mapped(null, "stderr")];
    if (dir === "exit") return this.#exited(data);
    if (ExecEvents.owns(data)) this.#exec ??= new ExecEvents();
    if (this.#exec !== null) return this.#exec.translate(dir, data);
    if (dir === "in") return this.#sent(data);
    if (dir === "out") return this.#received(data);
    return [unparsed(null, "unknown", `codex speaks over stdio only, not ${dir}`)];
  }

  #sent(data: unknown): Translation[] {
    const message = classify(data);
    switch (message.kind) {
      case "request":
        return [this.#ours.sent(message.id, message.method, message.params)];
      case "notification":
        return [mapped(null, `client:${typeName(message.method)}`)];
      case "result":
        return [this.#theirs.answered(message.id, message.result)];
      case "error":
        return [this.#theirs.refused(message.id)];
      case "garbage":
        // A client that writes what is no message is not ignored by us, but it is by Codex (0.166 logs it and goes on).
        return [noted(null, "client:garbage", "client_garbage", { error: message.error })];
      default:
        return message satisfies never;
    }
  }

  #received(data: unknown): Translation[] {
    const message = classify(data);
    switch (message.kind) {
      case "request":
        return [this.#withBind(this.#theirs.asked(message.id, message.method, message.params))];
      case "notification":
        return [this.#withBind(this.#notified(message.method, message.params))];
      case "result":
        return this.#ours.answered(message.id, message.result);
      case "error":
        return [this.#ours.failed(message.id, message.error, rpcErrorData(message.error))];
      case "garbage":
        return [unparsed(null, "garbage", message.error)];
      default:
        return message satisfies never;
    }
  }

  #notified(method: string, params: JsonRecord): Translation {
    const type = typeOf(method, params);
    const threadId = str(params.threadId) ?? str(rec(params.thread).id);
    const thread = threadId === undefined ? this.#process : this.#threadOf(method, threadId, params);
    const handler = own(NOTIFICATION_TYPES, method)?.handle;
    if (method === "serverRequest/resolved") return this.#theirs.resolved(thread, params);
    // Handled before the address is asked for: an item may show whose child this thread is.
    const unanswered = GONE.has(method) ? this.#theirs.lost(thread) : [];
    const meaning = handler?.(params, thread, this.#threads);
    const session = threadId === undefined ? null : this.#threads.address(thread);
    if (!meaning) return unparsed(session, type, `unknown notification ${typeName(method)}`);
    const told = [...unanswered, ...(meaning.drafts ?? [])];
    const drafts = thread.child === null ? told : childDrafts(told);
    if (meaning.unknown !== undefined) return unparsed(session, type, meaning.unknown, drafts);
    if (!meaning.note) return { ...mapped(session, type, drafts), ...(meaning.repeat ? { repeat: meaning.repeat } : {}) };
    const { name, detail } = meaning.note;
    return noted(session, type, name, isRecord(detail) && Object.keys(detail).length === 0 ? undefined : detail, drafts);
  }

  #threadOf(method: string, threadId: string, params: JsonRecord): Thread {
    const thread = this.#threads.get(threadId);
    if (method === "thread/started") {
      const parent = str(rec(params.thread).parentThreadId);
      if (parent !== undefined && this.#threads.find(parent)) this.#threads.link(threadId, this.#threads.get(parent), null);
      else if (thread.child === null) this.#threads.own(threadId);
      return thread;
    }
    this.#threads.adopt(thread, method === "turn/started" ? str(rec(params.turn).rootTurnId) : undefined);
    return thread;
  }

  #withBind(translation: Translation): Translation {
    const from = this.#threads.takeBind();
    return from === undefined ? translation : { ...translation, bind: { from } };
  }

  /** Nothing more comes from this process. Another one may follow in the same recording. */
  #exited(data: unknown): Translation[] {
    const { code, signal } = rec(data);
    const how = str(signal) ? `killed by ${str(signal)}` : `exit code ${typeof code === "number" ? code : "unknown"}`;
    const message = `The Codex app-server ended (${how}) while the turn was running. Send the message again to go on.`;
    const told = [...this.#threads.all()].map((thread) =>
      mapped(this.#threads.address(thread), "exit", [...this.#theirs.lost(thread), ...threadLost(thread, message)]),
    );
    const all = [...told, ...(this.#exec?.exited(how) ?? [])];
    this.#ours.clear();
    this.#theirs.clear();
    return all.length > 0 ? all : [mapped(null, "exit")];
  }
}

function childDrafts(drafts: Draft[]): Draft[] {
  return drafts.filter((draft) => {
    if (draft.do === "native_session" || draft.do === "status") return false;
    return draft.do !== "event" || !OF_THE_SESSION.has(draft.type);
  });
}

/** Item notifications are counted by variant. */
function typeOf(method: string, params: JsonRecord): string {
  const item = method.startsWith("item/") || method.startsWith("rawResponseItem/") ? str(rec(params.item).type) : undefined;
  return item === undefined ? typeName(method) : typeName(`${method}:${item}`);
}
