// Requests we send and their answers: which of them open turns or sessions, and what the answers say.
import type { Draft } from "../../../schema/draft.ts";
import type { ErrorData } from "../../../schema/event-data.ts";
import type { Translation } from "../../contract.ts";
import { type JsonRecord, num, rec, str, toJson } from "../../json.ts";
import { mapped, noted } from "../../translation.ts";
import { askedPolicies, modelsOf, settingsChanged, skillsOf } from "./config.ts";
import { itemsOfAnswer } from "./items.ts";
import type { Thread } from "./thread.ts";
import type { Threads } from "./threads.ts";
import { turnAnswered, turnRefused, turnRequested } from "./turns.ts";
import { idKey, type RpcId, strings, typeName } from "./wire.ts";

type Sent = { method: string; thread: Thread | null; address: string | null; cwds: string[]; policies: JsonRecord };

/** These make a new thread, whose id only the answer has. */
const MAKES_THREAD = new Set(["thread/start", "thread/fork"]);
/** These make the server work in a turn. */
const MAKES_TURN = new Set(["turn/start", "review/start", "thread/compact/start", "thread/shellCommand"]);

export class OurRequests {
  readonly #threads: Threads;
  readonly #open = new Map<string, Sent>();
  readonly #addresses = new Set<string>();

  constructor(threads: Threads) {
    this.#threads = threads;
  }

  clear(): void {
    this.#open.clear();
  }

  sent(id: RpcId, method: string, params: JsonRecord): Translation {
    const threadId = str(params.threadId);
    const makesThread = MAKES_THREAD.has(method);
    const thread = threadId === undefined || makesThread ? null : this.#threads.own(threadId);
    const address = makesThread ? this.#newAddress(id) : thread && this.#threads.address(thread);
    const policies = askedPolicies(params);
    if (thread) thread.policies = { ...thread.policies, ...policies };
    this.#open.set(idKey(id), { method, thread, address, cwds: strings(params.cwds), policies });
    const type = `client:${typeName(method)}`;
    if (!thread) return mapped(address, type);
    if (method === "thread/compact/start") thread.compactRequested = true;
    if (method === "thread/revert") thread.revertBefore = str(params.beforeTurnId) ?? null;
    if (method === "thread/resume") thread.cwd = str(params.cwd) ?? thread.cwd;
    return mapped(address, type, MAKES_TURN.has(method) ? turnRequested(thread) : []);
  }

  /** `req:<id>`; a client that uses an id twice gets another one for the second. */
  #newAddress(id: RpcId): string {
    let address = `req:${id}`;
    for (let n = 2; this.#addresses.has(address); n++) address = `req:${id}#${n}`;
    this.#addresses.add(address);
    return address;
  }

  answered(id: RpcId, result: unknown): Translation[] {
    const sent = this.#open.get(idKey(id));
    if (sent?.method !== "skills/list") return [this.#answered(id, result)];
    this.#open.delete(idKey(id));
    return this.#skills(sent, rec(result));
  }

  /** Skills are those of a directory: reported to the sessions that work in it. */
  #skills(sent: Sent, value: JsonRecord): Translation[] {
    const type = `answer:${typeName(sent.method)}`;
    const here = [...this.#threads.all()].filter(
      (thread) => thread.child === null && thread.cwd !== null && sent.cwds.includes(thread.cwd),
    );
    if (here.length === 0) return [mapped(null, type, sent.cwds.length === 0 ? skillsOf(value) : [])];
    return here.map((thread) => mapped(this.#threads.address(thread), type, newsOf(thread, skillsOf(value))));
  }

  #answered(id: RpcId, result: unknown): Translation {
    const sent = this.#open.get(idKey(id));
    this.#open.delete(idKey(id));
    if (!sent) return noted(null, "answer:unknown", "unknown_answer", { id });
    const type = `answer:${typeName(sent.method)}`;
    const value = rec(result);
    if (MAKES_THREAD.has(sent.method) || sent.method === "thread/resume") return this.#threadAnswered(sent, type, value);
    const { thread } = sent;
    if (thread && MAKES_TURN.has(sent.method)) {
      const turnId = turnIn(sent.method, value, thread);
      const drafts = turnAnswered(thread, turnId);
      const sentItems = turnId === undefined ? [] : itemsOfAnswer(thread, turnId, rec(value.turn));
      return mapped(sent.address, type, [...drafts, ...sentItems]);
    }
    if (sent.method === "model/list")
      return mapped(null, type, [{ do: "event", type: "config.changed", data: { models: modelsOf(value) } }]);
    return mapped(sent.address, type);
  }

  #threadAnswered(sent: Sent, type: string, value: JsonRecord): Translation {
    const native = rec(value.thread);
    const id = str(native.id);
    if (id === undefined) return noted(sent.address, type, "answer_without_thread", { method: sent.method });
    const thread = this.#threads.own(id);
    thread.cwd = str(value.cwd) ?? str(native.cwd) ?? thread.cwd;
    thread.policies = { ...thread.policies, ...sent.policies };
    const title = str(native.name);
    const drafts: Draft[] = [
      { do: "native_session", id },
      ...(title ? [{ do: "event", type: "session.updated", data: { title } } as const] : []),
      ...settingsChanged(thread, value),
    ];
    const translation = mapped(id, type, drafts);
    return sent.address !== null && sent.address !== id ? { ...translation, bind: { from: sent.address } } : translation;
  }

  failed(id: RpcId | null, error: JsonRecord, data: ErrorData): Translation {
    const sent = id === null ? undefined : this.#open.get(idKey(id));
    if (id !== null) this.#open.delete(idKey(id));
    if (!sent) return noted(null, "answer:unknown", "unknown_answer", { id, message: data.message });
    const type = `answer:${typeName(sent.method)}`;
    const { thread } = sent;
    if (thread && MAKES_TURN.has(sent.method)) {
      if (sent.method === "thread/compact/start") thread.compactRequested = false;
      return mapped(sent.address, type, turnRefused(thread, data));
    }
    if (thread && sent.method === "thread/revert") thread.revertBefore = null;
    // Messages of unknown methods list all methods there are: six kilobytes nobody needs twice.
    const detail = { method: sent.method, code: num(error.code) ?? null, message: data.message.slice(0, 500) };
    return noted(sent.address, type, "request_failed", detail);
  }
}

/** A detached review works in a thread of its own: the turn that was opened here is not its. */
function turnIn(method: string, value: JsonRecord, thread: Thread): string | undefined {
  const elsewhere = method === "review/start" && (str(value.reviewThreadId) ?? thread.id) !== thread.id;
  return elsewhere ? undefined : str(rec(value.turn).id);
}

/** The list is asked for by every session of the directory; each is reported once. */
function newsOf(thread: Thread, drafts: Draft[]): Draft[] {
  const text = toJson(drafts);
  if (thread.config.get("skills") === text) return [];
  thread.config.set("skills", text);
  return drafts;
}
