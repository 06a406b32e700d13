// The ACP translator: JSON-RPC in both directions to drafts, addressed by session. Serves every agent that speaks the protocol, v1 and v2.
// It pairs answers with requests (ids of the two sides are separate: both count from 0) and knows which session each belongs to.
import type { Draft } from "../../../schema/draft.ts";
import type { NativeMessage, Translation, Translator } from "../../contract.ts";
import { isRecord, type JsonRecord, num, rec, records, str } from "../../json.ts";
import { mapped, noted, unparsed } from "../../translation.ts";
import { answersOf, type SentRequest } from "./answers.ts";
import { authNotice, strangeAuth } from "./auth.ts";
import { type OpenElicitation, onElicitation, onElicitationAnswer, strangeMode } from "./elicitation.ts";
import { type Meaning, means } from "./meaning.ts";
import {
  needsPerson,
  type OpenPermission,
  onPermissionAnswer,
  onPermissionRequest,
  strangeRequest,
  withdraw,
} from "./permissions.ts";
import { PLAIN, type Quirks } from "./quirks.ts";
import { type Answer, idKey, type RpcId, readRpc } from "./rpc.ts";
import { SessionState, type Surroundings } from "./session-state.ts";
import { SILENCE } from "./silence.ts";
import { type Child, onSubagentUpdate } from "./subagents.ts";
import { adoptTerminal, onClientExit, onClientOutput } from "./terminals.ts";
import { diffPaths } from "./tools.ts";
import { onProcessGone, onPromptSent } from "./turns.ts";
import { onUpdate, VARIANTS } from "./updates.ts";
import { onVendor } from "./vendor.ts";

type AskedRequest = { method: string; params: JsonRecord; session: string | null; open: OpenPermission | OpenElicitation | null };

export type TranslatorOptions = {
  quirks?: Quirks;
};

const CLIENT_METHODS = new Set([
  "fs/read_text_file",
  "fs/write_text_file",
  "terminal/create",
  "terminal/output",
  "terminal/wait_for_exit",
  "terminal/kill",
  "terminal/release",
  "mcp/message",
]);

/** Made once: every text of a message has one. */
const UPDATE_TYPES: ReadonlyMap<string, string> = new Map(Object.keys(VARIANTS).map((name) => [name, `session/update:${name}`]));

export class AcpTranslator implements Translator, Surroundings {
  readonly silence = SILENCE;
  quirks: Quirks;
  version = 1;
  readonly mcpServers = new Set<string>();
  readonly sessions = new Map<string, SessionState>();
  readonly #children = new Map<string, Child>();
  readonly #sent = new Map<string, SentRequest>();
  readonly #asked = new Map<string, AskedRequest>();
  #process = 1;
  #requests = 0;

  constructor(options: TranslatorOptions = {}) {
    this.quirks = options.quirks ?? PLAIN;
  }

  translate(message: NativeMessage): Translation[] {
    switch (message.dir) {
      case "in":
        return Array.isArray(message.data) && message.data.length > 0
          ? message.data.flatMap((each) => this.#onSent(each))
          : this.#onSent(message.data);
      case "out":
        return Array.isArray(message.data) && message.data.length > 0
          ? asOneMessage(message.data.flatMap((each) => this.#onSaid(each)))
          : this.#onSaid(message.data);
      case "err":
        return [mapped(null, "stderr")];
      case "exit":
        return this.#onExit(rec(message.data));
      default:
        return [unparsed(null, message.dir, `ACP has no messages of direction ${message.dir}`)];
    }
  }

  session(id: string): SessionState {
    const known = this.sessions.get(id) ?? this.#children.get(id)?.state;
    if (known) return known;
    const state = new SessionState(id, this.#process > 1 ? `p${this.#process}:` : "");
    // opencode 1.18 replays the history of a fork before it says the fork's id.
    if ([...this.#sent.values()].some((sent) => sent.method === "session/fork")) state.replaying = "until_answer";
    this.sessions.set(id, state);
    return state;
  }

  forget(session: string): void {
    this.sessions.delete(session);
  }

  /** Output and exit of a terminal the client runs: no message says it, the connection does. */
  clientTerminal(
    sessionId: string,
    terminalId: string,
    said: { data: string } | { exitCode: number | null; signal: string | null },
  ): Draft[] {
    const state = this.session(sessionId);
    if ("data" in said) return onClientOutput(state, terminalId, said.data, "append");
    onClientExit(state, terminalId, said);
    return [];
  }

  /** The key under which a request of the agent was reported, while it waits for its answer. */
  keyOf(id: RpcId): string | null {
    return this.#asked.get(idKey(id))?.open?.key ?? null;
  }

  /** What a request for permission is about, with what was said of its call before. Null: it is no such request, or a person must decide about it. */
  change(id: RpcId): { kind: string | undefined; paths: string[] } | null {
    const open = this.#asked.get(idKey(id))?.open;
    if (open?.type !== "permission" || needsPerson(open)) return null;
    const call = this.session(open.session).calls.get(open.callId ?? "");
    return { kind: call?.kind, paths: call === undefined ? [] : [...call.paths, ...call.content.flatMap(diffPaths)] };
  }

  // What we wrote.

  #onSent(data: unknown): Translation[] {
    const message = readRpc(data);
    switch (message.kind) {
      case "request":
        return [this.#onSentRequest(message.id, message.method, message.params)];
      case "notification":
        return [this.#onSentNotification(message.method, message.params)];
      case "result":
        return [this.#onAnswerSent(message.id, { result: message.result })];
      case "error":
        return [this.#onAnswerSent(message.id, { error: message.error })];
      case "invalid":
        return [noted(null, "sent:invalid", "invalid_message_sent", message.why)];
    }
  }

  #onSentRequest(id: RpcId, method: string, params: JsonRecord): Translation {
    const makesSession = method === "session/new" || method === "session/fork";
    const address = makesSession ? `req:${this.#process}:${idKey(id)}` : (str(params.sessionId) ?? null);
    this.#sent.set(idKey(id), { method, params, address });
    for (const { name } of records(params.mcpServers)) if (typeof name === "string" && name !== "") this.mcpServers.add(name);
    if (address === null || makesSession) return mapped(address, method);
    const state = this.session(address);
    if (method === "session/prompt")
      return mapped(address, method, asOurs(onPromptSent(state, this, `${this.#process}:${idKey(id)}`, params)));
    if (method === "session/load" || method === "session/resume") state.replaying = "until_answer";
    return mapped(address, method);
  }

  #onSentNotification(method: string, params: JsonRecord): Translation {
    const session = str(params.sessionId) ?? null;
    if (method === "session/cancel" && session !== null) this.session(session).cancelSent = this.session(session).turn !== "none";
    return mapped(session, method);
  }

  #onAnswerSent(id: RpcId, answer: Answer): Translation {
    const asked = this.#asked.get(idKey(id));
    if (asked === undefined) return noted(null, "sent:answer", "answer_to_nobody");
    this.#asked.delete(idKey(id));
    const type = `${asked.method}:${"error" in answer ? "refused" : "answered"}`;
    if (asked.session === null)
      return mapped(null, type, asked.open?.type === "elicitation" ? asOurs(onElicitationAnswer(asked.open, answer)) : []);
    return mapped(this.address(asked.session), type, asOurs(this.#answerDrafts(asked, asked.session, answer)));
  }

  #answerDrafts(asked: AskedRequest, sessionId: string, answer: Answer): Draft[] {
    const state = this.session(sessionId);
    if (asked.open?.type === "permission") return onPermissionAnswer(state, asked.open, answer);
    if (asked.open?.type === "elicitation") return onElicitationAnswer(asked.open, answer);
    if ("error" in answer) return [];
    const result = rec(answer.result);
    const terminal = str(asked.params.terminalId) ?? "";
    switch (asked.method) {
      case "terminal/create":
        return adoptTerminal(state, str(result.terminalId) ?? "", asked.params);
      case "terminal/output":
        if (isRecord(result.exitStatus)) onClientExit(state, terminal, result.exitStatus);
        return onClientOutput(state, terminal, str(result.output) ?? "", "all");
      case "terminal/wait_for_exit":
        onClientExit(state, terminal, result);
        return [];
      default:
        return [];
    }
  }

  // What the agent wrote.

  #onSaid(data: unknown): Translation[] {
    const message = readRpc(data);
    switch (message.kind) {
      case "request":
        return [this.#onRequest(message.id, message.method, message.params)];
      case "notification":
        return [this.#onNotification(message.method, message.params)];
      case "result":
        return this.#onAnswer(message.id, { result: message.result });
      case "error":
        return this.#onAnswer(message.id, { error: message.error });
      case "invalid":
        return [unparsed(null, "invalid", message.why)];
    }
  }

  #onAnswer(id: RpcId, answer: Answer): Translation[] {
    const sent = this.#sent.get(idKey(id));
    if (sent === undefined) {
      // An error without a request is about a line the agent could not read; a result for nobody is nothing we know.
      if ("error" in answer)
        return [noted(null, "error:unasked", "protocol_error", { code: answer.error.code, message: answer.error.message })];
      return [unparsed(null, "result:unasked", "answer to a request that was never sent")];
    }
    this.#sent.delete(idKey(id));
    return [answersOf(this, sent, `${this.#process}:${idKey(id)}`, answer)];
  }

  #onRequest(id: RpcId, method: string, params: JsonRecord): Translation {
    const session = str(params.sessionId) ?? null;
    const asked: AskedRequest = { method, params, session, open: null };
    this.#asked.set(idKey(id), asked);
    this.#requests += 1;
    const key = `p${this.#process}:ask:${this.#requests}`;
    if (method === "session/request_permission") {
      if (session === null) return unparsed(null, method, "permission request without sessionId");
      const { drafts, open } = onPermissionRequest(this.session(session), this, id, params, key, this.#callOf(session));
      asked.open = open;
      return understood(this.address(session), method, strangeRequest(params), drafts);
    }
    if (method === "elicitation/create") {
      const item = session === null ? null : (this.session(session).calls.get(str(params.toolCallId) ?? "")?.key ?? null);
      const { drafts, open } = onElicitation(id, params, key, item);
      asked.open = open;
      return understood(this.#addressOf(session), method, strangeMode(params.mode), drafts);
    }
    if (CLIENT_METHODS.has(method)) return mapped(this.#addressOf(session), method);
    return this.#vendor(method, params);
  }

  #onNotification(method: string, params: JsonRecord): Translation {
    switch (method) {
      case "session/update":
        return this.#onUpdate(params);
      case "$/cancel_request":
        return this.#onWithdrawn(params);
      case "elicitation/complete":
        return this.#onElicitationComplete(params);
      case "auth/status_update":
      case "_auth/status_update":
        return authTold(method, params);
      default:
        return this.#vendor(method, params);
    }
  }

  #onUpdate(params: JsonRecord): Translation {
    const id = str(params.sessionId);
    const update = rec(params.update);
    const variant = str(update.sessionUpdate) ?? "";
    if (id === undefined) return unparsed(null, "session/update:?", "session update without sessionId");
    const state = this.session(id);
    const address = this.address(id);
    if (variant === "subagent_update") {
      const meaning =
        state.replaying === "no"
          ? onSubagentUpdate(state, update, this.#children, (child, space) => new SessionState(child, space))
          : means();
      return addressed(address, "session/update:subagent_update", meaning);
    }
    return addressed(address, UPDATE_TYPES.get(variant) ?? "session/update:?", onUpdate(state, this, update, this.#callOf(id)));
  }

  #onWithdrawn(params: JsonRecord): Translation {
    const id = params.requestId;
    const asked = typeof id === "string" || typeof id === "number" ? this.#asked.get(idKey(id)) : undefined;
    if (asked?.open?.type === "permission") {
      return mapped(this.address(asked.open.session), "$/cancel_request", [
        withdraw(this.session(asked.open.session), asked.open),
      ]);
    }
    if (asked?.open?.type === "elicitation") {
      return mapped(this.#addressOf(asked.session), "$/cancel_request", [
        { do: "question.resolve", key: asked.open.key, status: "rejected", resolved_by: "agent" },
      ]);
    }
    return mapped(this.#addressOf(asked?.session ?? null), "$/cancel_request");
  }

  #onElicitationComplete(params: JsonRecord): Translation {
    const id = str(params.elicitationId);
    const asked = [...this.#asked.values()].find(
      (each) => each.open?.type === "elicitation" && each.open.elicitationId === id && id !== undefined,
    );
    if (!asked?.open) return mapped(null, "elicitation/complete");
    return mapped(this.#addressOf(asked.session), "elicitation/complete", [
      { do: "question.resolve", key: asked.open.key, status: "answered", resolved_by: "agent" },
    ]);
  }

  #vendor(method: string, params: JsonRecord): Translation {
    const session = str(params.sessionId);
    return session === undefined
      ? onVendor(this, method, params, null, null)
      : onVendor(this, method, params, this.session(session), this.address(session));
  }

  #onExit(exit: JsonRecord): Translation[] {
    const how = str(exit.signal) ?? `code ${num(exit.code) ?? "unknown"}`;
    const open = [...this.sessions.values()].map((state) => ({ id: state.id, drafts: onProcessGone(state, this, how) }));
    this.sessions.clear();
    this.#children.clear();
    this.#sent.clear();
    this.#asked.clear();
    this.#process += 1;
    const told = open.filter((each) => each.drafts.length > 0).map((each) => mapped(each.id, "exit", each.drafts));
    return told.length > 0 ? told : [mapped(null, "exit")];
  }

  /** The call of the sub-agent whose session this is. */
  #callOf(id: string): string | null {
    return this.#children.get(id)?.key ?? null;
  }

  #addressOf(id: string | null): string | null {
    return id === null ? null : this.address(id);
  }

  /** A sub-agent's updates belong to its parent's session. */
  address(id: string): string {
    const child = this.#children.get(id);
    return child === undefined ? id : this.address(child.parent.id);
  }
}

const understood = (address: string | null, method: string, strange: string | null, drafts: Draft[]): Translation =>
  strange === null ? mapped(address, method, drafts) : unparsed(address, method, strange, drafts);

function authTold(method: string, params: JsonRecord): Translation {
  const strange = strangeAuth(params);
  return strange === null ? mapped(null, method, authNotice(params)) : unparsed(null, method, strange);
}

/** U5: what begins and ends in one batch began and ended with one message. */
function asOneMessage(told: Translation[]): Translation[] {
  const drafts = told.flatMap((each) => each.drafts);
  const ended = new Set(drafts.flatMap((draft) => (draft.do === "item.complete" ? draft.key : [])));
  const asBegun = (draft: Draft): Draft =>
    draft.do === "item.start" && ended.has(draft.item.key) ? { ...draft, synthetic: true } : draft;
  return told.map((each) => ({ ...each, drafts: each.drafts.map(asBegun) }));
}

const asOurs = (drafts: Draft[]): Draft[] => drafts.map((draft) => ({ ...draft, synthetic: true }));

function addressed(session: string, type: string, meaning: Meaning): Translation {
  switch (meaning.kind) {
    case "mapped":
      return meaning.repeat
        ? { session, type, disposition: "mapped", drafts: meaning.drafts, repeat: meaning.repeat }
        : mapped(session, type, meaning.drafts);
    case "noted":
      return noted(session, type, meaning.name, meaning.detail, meaning.drafts);
    case "unparsed":
      return unparsed(session, type, meaning.error, meaning.drafts);
  }
}
