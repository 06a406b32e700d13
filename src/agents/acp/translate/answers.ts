// The agent's answers to our requests, by the method that was asked.
import type { Draft } from "../../../schema/draft.ts";
import type { Translation } from "../../contract.ts";
import { type JsonRecord, num, rec, str } from "../../json.ts";
import { authRequired } from "../../kit/error-table.ts";
import { mapped, noted, unparsed } from "../../translation.ts";
import { authNotice } from "./auth.ts";
import { modeChanged, modelChanged, optionsChanged, sessionSettings } from "./config.ts";
import { openingFault } from "./errors.ts";
import { detectQuirks, type Quirks } from "./quirks.ts";
import type { Answer, RpcError } from "./rpc.ts";
import type { SessionState } from "./session-state.ts";
import { onPromptAnswer, onSteered, STEER, strangeStop } from "./turns.ts";

export type SentRequest = { method: string; params: JsonRecord; address: string | null };

/** What an answer may change: the translator itself. */
export interface Conversation {
  quirks: Quirks;
  version: number;
  readonly mcpServers: ReadonlySet<string>;
  session(id: string): SessionState;
}

export function answersOf(talk: Conversation, sent: SentRequest, id: string, answer: Answer): Translation {
  if (sent.method === "session/prompt" && sent.address !== null) return promptAnswer(talk, sent, sent.address, id, answer);
  return "error" in answer ? onError(talk, sent, answer.error) : onResult(talk, sent, rec(answer.result));
}

function promptAnswer(talk: Conversation, sent: SentRequest, address: string, id: string, answer: Answer): Translation {
  const drafts = onPromptAnswer(talk.session(address), talk, id, answer);
  if ("error" in answer)
    return drafts === null ? refused(address, sent.method, answer.error) : mapped(address, `${sent.method}:error`, drafts);
  const strange = strangeStop(rec(answer.result).stopReason);
  const type = `${sent.method}:result`;
  return strange === null ? mapped(address, type, drafts ?? []) : unparsed(address, type, strange, drafts ?? []);
}

function onResult(talk: Conversation, sent: SentRequest, result: JsonRecord): Translation {
  const { method, params, address } = sent;
  const type = `${method}:result`;
  switch (method) {
    case "initialize":
      return mapped(null, type, introduce(talk, result));
    case "authenticate":
    case "auth/login":
      return mapped(null, type, [{ do: "event", type: "auth.status", data: { status: "ok" } }]);
    case "logout":
    case "auth/logout":
      return mapped(null, type, [authRequired("Signed out.")]);
    case "auth/status":
      return mapped(null, type, authNotice(result));
    case "session/new":
    case "session/fork":
      return made(talk, sent, result);
    case "session/load":
    case "session/resume":
      return address === null ? mapped(null, type) : mapped(address, type, takenUp(talk, address, method, result));
    case STEER:
      return mapped(address, type, address === null ? [] : onSteered(talk.session(address), params, result));
    default:
      return mapped(address, type, address === null ? [] : changed(talk, address, method, params, result));
  }
}

function introduce(talk: Conversation, result: JsonRecord): Draft[] {
  talk.quirks = detectQuirks(result) ?? talk.quirks;
  talk.version = num(result.protocolVersion) ?? 1;
  const info = rec(result.agentInfo ?? result.info);
  const name = str(info.name);
  if (name === undefined) return [];
  const metadata = {
    agent_name: str(info.title) ?? name,
    agent_version: str(info.version) ?? null,
    protocol: `acp/${talk.version}`,
  };
  return [{ do: "event", type: "session.updated", data: { metadata } }];
}

function made(talk: Conversation, sent: SentRequest, result: JsonRecord): Translation {
  const id = str(result.sessionId);
  const type = `${sent.method}:result`;
  if (id === undefined || sent.address === null) return mapped(sent.address, type);
  const state = talk.session(id);
  state.replaying = "no";
  return {
    ...mapped(id, type, [{ do: "native_session", id }, ...sessionSettings(state, talk, result)]),
    bind: { from: sent.address },
  };
}

/** gemini 0.61 answers session/load first and replays after it. */
function takenUp(talk: Conversation, id: string, method: string, result: JsonRecord): Draft[] {
  const state = talk.session(id);
  state.replaying = method === "session/load" && talk.quirks.lateReplay ? "until_prompt" : "no";
  return [{ do: "native_session", id }, ...sessionSettings(state, talk, result)];
}

/** Most agents do not say that a setting changed; the answer to our request does. */
function changed(talk: Conversation, id: string, method: string, params: JsonRecord, result: JsonRecord): Draft[] {
  const state = talk.session(id);
  switch (method) {
    case "session/set_mode":
      return modeChanged(state, talk, str(params.modeId) ?? "");
    case "session/set_model":
      return modelChanged(state, str(params.modelId) ?? "");
    case "session/set_config_option":
      return optionsChanged(state, talk, result.configOptions);
    case "session/set_title": {
      const title = str(result.title) ?? str(params.title);
      return title !== undefined && state.isNews("title", title)
        ? [{ do: "event", type: "session.updated", data: { title } }]
        : [];
    }
    default:
      return [];
  }
}

const refused = (address: string | null, method: string, { code, message }: RpcError): Translation =>
  noted(address, `${method}:error`, "request_failed", { method, code, message });

const OPENERS = new Set(["session/new", "session/load", "session/resume", "session/fork"]);

function onError(talk: Conversation, sent: SentRequest, error: RpcError): Translation {
  const { method, address } = sent;
  const type = `${method}:error`;
  if (method === "authenticate" || method === "auth/login") {
    return mapped(null, type, [{ do: "event", type: "auth.status", data: { status: "failed", message: error.message } }]);
  }
  if (!OPENERS.has(method)) return refused(address, method, error);
  if (address !== null && method !== "session/new" && method !== "session/fork") talk.session(address).replaying = "no";
  // No error of its own: the request's caller fails with it, and reports it once, with the message that could not be sent.
  const { code, message, details } = openingFault(error);
  const auth = code === "provider_auth" ? [authRequired(message)] : [];
  return noted(address, type, "opening_refused", { method, message, native_code: details.native_code }, auth);
}
