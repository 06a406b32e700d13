// Claude Code's stream-json in universal words: the dispatch over directions and frame types. Also reads what the Agent SDK yields, which is
// the same; a second copy of this mapping must never exist.
import type { Draft } from "../../../schema/draft.ts";
import type { NativeMessage, Translation, Translator } from "../../contract.ts";
import { arr, asText, isRecord, type JsonRecord, rec, str } from "../../json.ts";
import { heartbeat, mapped, noted, unparsed } from "../../translation.ts";
import { assistant, systemItem } from "./assistant.ts";
import { answerFromAgent, cancelFromAgent, requestFromAgent } from "./control.ts";
import { inbound, lifecycle } from "./inbound.ts";
import { HEARTBEAT_FRAMES, NOTED_FRAMES } from "./internal-frames.ts";
import { rateLimit } from "./limits.ts";
import { streamEvent } from "./messages.ts";
import { exited, result } from "./results.ts";
import { retract } from "./retraction.ts";
import { sdkOutbound } from "./sdk-rows.ts";
import { SILENCE } from "./silence.ts";
import { ADDRESS, ClaudeState } from "./state.ts";
import { system } from "./system.ts";
import { rest, toolProgress } from "./tasks.ts";
import { openTurn, takeMessages } from "./turns.ts";
import { user } from "./user.ts";

const NOTED = new Set(NOTED_FRAMES);
const HEARTBEATS = new Set(HEARTBEAT_FRAMES);
/** stderr kept for the message of a crash. */
const STDERR_LINES = 20;

export class ClaudeTranslator implements Translator {
  readonly silence = SILENCE;
  readonly #state = new ClaudeState();

  translate(message: NativeMessage): Translation[] {
    const state = this.#state;
    switch (message.dir) {
      case "in":
        return [inbound(state, message.data)];
      case "out":
        return [this.#outbound(message.data)];
      case "err":
        return [stderrLine(state, message.data)];
      case "exit":
        return [exited(state, message.data)];
      case "http":
      case "sse":
        return [unparsed(ADDRESS, message.dir, "Claude Code speaks over stdio only")];
      default:
        message.dir satisfies never;
        return [unparsed(ADDRESS, "unknown", "unknown direction")];
    }
  }

  #outbound(data: unknown): Translation {
    const state = this.#state;
    if (typeof data === "string") return plainLine(state, data);
    if (!isRecord(data)) return unparsed(ADDRESS, "unknown", "not a JSON object");
    state.sawFrame = true;
    if (data.$sdk !== undefined) return sdkOutbound(state, data);
    if (isRepeated(state, data)) return mapped(ADDRESS, "repeated");
    const translation = frame(state, data);
    const id = str(data.session_id);
    // A refused --resume answers with an id of a session that does not exist.
    const real = data.type !== "result" || state.sawInit;
    if (id && real && id !== state.nativeSession && data.type !== "conversation_reset") {
      state.nativeSession = id;
      translation.drafts.unshift({ do: "native_session", id });
    }
    return translation;
  }
}

/** Frames whose ids are remembered: the same one again is not far behind. */
const REMEMBERED_FRAMES = 500;

/** A frame has an id of its own: with the same one it is the same frame. Pieces of a stream come too often to be remembered. */
function isRepeated({ frames }: ClaudeState, data: JsonRecord): boolean {
  const uuid = data.type === "stream_event" ? undefined : str(data.uuid);
  if (uuid === undefined) return false;
  if (frames.has(uuid)) return true;
  frames.add(uuid);
  for (const oldest of frames) {
    if (frames.size <= REMEMBERED_FRAMES) break;
    frames.delete(oldest);
  }
  return false;
}

function frame(state: ClaudeState, data: JsonRecord): Translation {
  const type = str(data.type) ?? "";
  const drafts: Draft[] = [];
  switch (type) {
    case "system":
      return system(state, data);
    case "assistant":
      return assistant(state, data);
    case "user":
      return user(state, data);
    case "stream_event":
      return streamEvent(state, data);
    case "result":
      takeMessages(state, { user_message_uuids: arr(data.user_message_uuids) });
      return result(state, data);
    case "control_request":
      return requestFromAgent(state, data);
    case "control_response":
      return answerFromAgent(state, data);
    case "control_cancel_request":
      return cancelFromAgent(state, data);
    case "command_lifecycle":
      return lifecycle(state, data);
    case "rate_limit_event":
      return rateLimit(data);
    case "auth_status":
      return authStatus(data);
    case "tool_progress":
      return toolProgress(state, data);
    case "tool_use_summary":
      systemItem(state, str(data.summary) ?? "", str(data.uuid), "", drafts);
      return mapped(ADDRESS, type, drafts);
    case "conversation_reset":
      return noted(ADDRESS, type, type, rest(data));
    case "transcript_mirror":
      return noted(ADDRESS, type, type, { file: str(data.filePath) ?? "", entries: arr(data.entries).length });
    case "tombstone":
      retract(state, [str(rec(data.message).uuid)], drafts);
      return mapped(ADDRESS, type, drafts);
    default:
      if (NOTED.has(type)) return noted(ADDRESS, type, type, rest(data));
      if (HEARTBEATS.has(type)) return heartbeat(ADDRESS, type);
      return unparsed(ADDRESS, "unknown", `unknown frame type ${type || "(none)"}`);
  }
}

function authStatus(data: JsonRecord): Translation {
  const error = str(data.error);
  const message = [...arr(data.output).map(asText), ...(error ? [error] : [])].join("\n");
  const status = data.isAuthenticating === true ? "in_progress" : error ? "failed" : "ok";
  return mapped(ADDRESS, "auth_status", [
    { do: "event", type: "auth.status", data: { status, ...(message ? { message } : {}) } },
  ]);
}

/** `--output-format text`: the answer is plain lines and nothing else. Among frames, a plain line is garbage. */
function plainLine(state: ClaudeState, line: string): Translation {
  if (state.sawFrame) return unparsed(ADDRESS, "not_json", "a line on stdout is not JSON");
  const drafts: Draft[] = [];
  openTurn(state, {}, drafts);
  if (!state.plain) {
    state.plain = state.newKey("plain");
    drafts.push({ do: "item.start", item: { key: state.plain, kind: "message", role: "assistant" } });
  }
  drafts.push({
    do: "item.delta",
    key: state.plain,
    part_type: "text",
    delta: line.endsWith("\n") ? line : `${line}\n`,
    part_index: 0,
  });
  return mapped(ADDRESS, "text", drafts);
}

function stderrLine(state: ClaudeState, data: unknown): Translation {
  state.stderr.push(asText(data));
  if (state.stderr.length > STDERR_LINES) state.stderr.shift();
  return mapped(ADDRESS, "stderr");
}
