// Requests of the server and our answers to them. Ids are one counter for the whole process, from 0, shared by all threads.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { type JsonRecord, rec, str } from "../../json.ts";
import { mapped, noted, unparsed } from "../../translation.ts";
import { type NativePermission, type PermissionDraft, permissionOutcome, permissionRequest } from "./permissions.ts";
import { type NativeQuestion, questionOutcome, questionRequest } from "./questions.ts";
import { Thread } from "./thread.ts";
import type { Threads } from "./threads.ts";
import { idKey, type RpcId, typeName } from "./wire.ts";

type Pending = { thread: Thread | null; type: string } & (
  | { kind: "permission"; draft: PermissionDraft; native: NativePermission }
  | { kind: "question"; key: string; native: NativeQuestion }
  | { kind: "other" }
);

/** Answered by the connection itself, or with an error; nothing for a person to decide. */
const SILENT: Record<string, string> = {
  "item/tool/call": "dynamic_tool_call",
  "currentTime/read": "current_time",
  "account/chatgptAuthTokens/refresh": "auth_tokens_refresh",
  "attestation/generate": "attestation",
};

/** Ids start at 0 again in every process: the turn makes the key unique for ever. */
export function requestKey(id: RpcId, params: JsonRecord): string {
  const turn = str(params.turnId) ?? str(params.threadId) ?? str(params.conversationId) ?? "process";
  return `${turn}/request:${idKey(id)}:${str(params.itemId) ?? str(params.callId) ?? ""}`;
}

export class ServerRequests {
  readonly #threads: Threads;
  readonly #open = new Map<string, Pending>();

  constructor(threads: Threads) {
    this.#threads = threads;
  }

  clear(): void {
    this.#open.clear();
  }

  asked(id: RpcId, method: string, params: JsonRecord): Translation {
    const type = `request:${typeName(method)}`;
    const threadId = str(params.threadId) ?? str(params.conversationId);
    const thread = threadId === undefined ? null : this.#threads.get(threadId);
    if (thread) this.#threads.adopt(thread);
    const session = thread && this.#threads.address(thread);
    const of = thread ?? new Thread("");
    const key = requestKey(id, params);
    const permission = permissionRequest(of, id, method, params, key);
    if (permission) {
      this.#open.set(idKey(id), { kind: "permission", thread, type, draft: permission, native: permission.native });
      return mapped(session, type, [permission]);
    }
    const question = unverifiable(params) ? undefined : questionRequest(of, id, method, params, key);
    if (question) {
      this.#open.set(idKey(id), { kind: "question", thread, type, key, native: question.native });
      return mapped(session, type, [question]);
    }
    this.#open.set(idKey(id), { kind: "other", thread, type });
    const name = unverifiable(params) ? "user_verification" : Object.hasOwn(SILENT, method) ? SILENT[method] : undefined;
    if (name === undefined) return unparsed(session, type, `unknown server request ${typeName(method)}`);
    // A dynamic tool call has an item; that it was asked for adds nothing.
    if (method === "item/tool/call") return mapped(session, type);
    return noted(session, type, name);
  }

  answered(id: RpcId, result: unknown): Translation {
    const pending = this.#open.get(idKey(id));
    // Late, repeated, or with an id of the wrong type: the server ignores it, and so do we.
    if (!pending) return noted(null, "client:answer:unknown", "answer_ignored", { id });
    if (pending.kind !== "other") this.#open.delete(idKey(id));
    const session = pending.thread && this.#threads.address(pending.thread);
    const type = `client:answer:${pending.type.slice("request:".length)}`;
    switch (pending.kind) {
      case "permission": {
        const outcome = permissionOutcome(pending.native, result);
        if (outcome.status === "approved") markRunning(pending);
        return mapped(session, type, [{ do: "permission.resolve", key: pending.draft.key, resolved_by: "client", ...outcome }]);
      }
      case "question": {
        const outcome = questionOutcome(pending.native, result);
        return mapped(session, type, [{ do: "question.resolve", key: pending.key, resolved_by: "client", ...outcome }]);
      }
      case "other":
        this.#open.delete(idKey(id));
        return mapped(session, type);
      default:
        return pending satisfies never;
    }
  }

  /** We answered with an error. */
  refused(id: RpcId | null): Translation {
    const pending = id === null ? undefined : this.#open.get(idKey(id));
    if (!pending || id === null) return noted(null, "client:answer:unknown", "answer_ignored", { id });
    this.#open.delete(idKey(id));
    const session = pending.thread && this.#threads.address(pending.thread);
    return mapped(session, `client:answer:${pending.type.slice("request:".length)}`, close(pending, "client"));
  }

  /** The server has its answer, or does not want one any more. */
  resolved(thread: Thread, params: JsonRecord): Translation {
    const id = params.requestId;
    const known = typeof id === "string" || typeof id === "number" ? this.#open.get(idKey(id)) : undefined;
    if (known && (typeof id === "string" || typeof id === "number")) this.#open.delete(idKey(id));
    return mapped(this.#threads.address(thread), "serverRequest/resolved", known ? close(known, "agent") : []);
  }

  /** The thread, or the whole process, is gone: what it asked cannot be answered. */
  lost(thread: Thread): Draft[] {
    const lost = [...this.#open].filter(([, pending]) => pending.thread === thread);
    for (const [id] of lost) this.#open.delete(id);
    return lost.flatMap(([, pending]) => close(pending, "agent"));
  }
}

function close(pending: Pending, by: "client" | "agent"): Draft[] {
  switch (pending.kind) {
    case "permission":
      return [{ do: "permission.resolve", key: pending.draft.key, status: "denied", resolved_by: by, reply: "reject" }];
    case "question":
      return [{ do: "question.resolve", key: pending.key, status: "rejected", resolved_by: by }];
    case "other":
      return [];
    default:
      return pending satisfies never;
  }
}

/** codex 0.166 reports the process id of an approved command only at its end; from its approval on it runs. */
function markRunning(pending: Extract<Pending, { kind: "permission" }>): void {
  const key = pending.draft.item;
  const native = key ? pending.thread?.open.get(key) : undefined;
  if (native?.type === "commandExecution") native.running = true;
}

/** A passkey ceremony, which only the vendor's own clients can do. */
const unverifiable = (params: JsonRecord): boolean => rec(params).mode === "openai/userVerification";
