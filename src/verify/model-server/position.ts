// Where a conversation is in its scenario, read from the conversation itself: which turn, and how many answers the model has given in it.
// There is no counter, so sessions, sub-agents and retries in parallel cannot disturb each other, and a resumed session goes on where it was.

import { createHash } from "node:crypto";
import { lastMarker, type Marker } from "../scenario/marker.ts";
import type { HistoryEntry, ModelRequest } from "./model-request.ts";

export interface Position {
  readonly scenario: string;
  /** Zero-based. */
  readonly turn: number;
  readonly step: number;
  /** The same for every request of one conversation; sub-agents have their own. */
  readonly conversation: string;
}

/** The position of this request; undefined when nothing names a scenario and there is no default. */
export function locate(request: ModelRequest, fallback: string | undefined): Position | undefined {
  const anchor = findAnchor(request.history, fallback);
  if (!anchor) return undefined;
  return {
    scenario: anchor.scenario,
    turn: anchor.turn,
    step: anchor.done + answersSince(request.history, anchor),
    conversation: conversationKey(request),
  };
}

interface Anchor {
  readonly scenario: string;
  readonly turn: number;
  readonly done: number;
  /** Answers after this entry belong to the turn. */
  readonly index: number;
}

function findAnchor(history: readonly HistoryEntry[], fallback: string | undefined): Anchor | undefined {
  const marks = history.map(markOf);
  const index = marks.findLastIndex((mark) => mark !== undefined);
  const mark: Marker | undefined = marks[index];
  if (!mark && fallback === undefined) return undefined;
  const scenario = mark?.scenario ?? fallback ?? "";
  if (mark?.turn !== undefined) return { scenario, turn: mark.turn, done: mark.done, index };

  const first = mark ? marks.findIndex((one) => one?.scenario === scenario) : 0;
  const prompts = history.flatMap((_, at) =>
    at >= first && (marks[at]?.scenario === scenario || isPrompt(history, at)) ? [at] : [],
  );
  return { scenario, turn: Math.max(0, prompts.length - 1), done: mark?.done ?? 0, index: prompts.at(-1) ?? index };
}

function markOf(entry: HistoryEntry): Marker | undefined {
  if (entry.role === "user") return lastMarker(withoutNotices(entry.text));
  return entry.role === "tool" ? lastMarker(entry.text.match(STEERED)?.join() ?? "") : undefined;
}

/** claude 2.1.325: a message sent while a tool runs stands inside the tool's result. */
const STEERED = /<system-reminder>\s*The user sent a new message while you were working:[\s\S]*?<\/system-reminder>/g;

/** Agents report on background work in the user's name; a marker quoted there is not a prompt. */
const withoutNotices = (text: string): string => text.replaceAll(/<task-notification>[\s\S]*?<\/task-notification>/g, "");

/** Texts the agents write themselves in the user's name; a message of nothing else is not a turn. */
const INJECTED = [
  /<(system-reminder|environment_context|user_instructions|permissions instructions|skills_instructions|session_context|task-notification|local-command-\w+|turn_aborted|user_action|hook_prompt|subagent_notification)\b[^>]*>[\s\S]*?<\/\1>/g,
  /^\s*\[Request interrupted by user[^\]]*\]/g,
  /^\s*\[Your previous response had no visible output[\s\S]*/g,
  /^\s*Output token limit hit[\s\S]*/g,
  /^\s*System: Please continue\.?\s*$/g,
  /^\s*Please continue\.?\s*$/g,
  /^\s*Continue if you have next steps[\s\S]*/g,
  /^\s*This is the Gemini CLI\.[\s\S]*?(?=\[\[|$)/g,
];

function isPrompt(history: readonly HistoryEntry[], at: number): boolean {
  const entry = history[at];
  if (entry?.role !== "user") return false;
  // Text that comes along with tool results was put there by the agent, or steers the running turn: no turn of its own.
  if (history[at - 1]?.role === "tool") return false;
  const rest = INJECTED.reduce((text, pattern) => text.replaceAll(pattern, ""), entry.text);
  return rest.trim() !== "" || (entry.images > 0 && entry.text === "");
}

/**
 * How many answers of the model stand after the anchor. Entries of one answer follow each other; tool call ids made by this server
 * say which step they belong to, which holds even where a client puts calls and results in pairs.
 */
function answersSince(history: readonly HistoryEntry[], anchor: Anchor): number {
  let answers = 0;
  let inAnswer = false;
  for (const entry of history.slice(anchor.index + 1)) {
    if (entry.role === "system") continue;
    if (entry.role !== "assistant") {
      inAnswer = false;
      continue;
    }
    const own = entry.calls.map((call) => readCallId(call.id)).findLast((id) => id?.turn === anchor.turn);
    if (own) answers = own.step + 1 - anchor.done;
    else if (!inAnswer) answers += 1;
    inAnswer = true;
  }
  return Math.max(0, answers);
}

const CALL_ID = /_t(\d+)s(\d+)b\d+n\d+$/;

/** `call_t0s2b1n17`: turn, step, block, and a number that never repeats. */
export const callId = (prefix: string, position: Pick<Position, "turn" | "step">, block: number, serial: number): string =>
  `${prefix}_t${position.turn}s${position.step}b${block}n${serial}`;

function readCallId(id: string): { turn: number; step: number } | undefined {
  const found = CALL_ID.exec(id);
  return found ? { turn: Number(found[1]), step: Number(found[2]) } : undefined;
}

function conversationKey(request: ModelRequest): string {
  const marked = request.history.find((entry) => entry.role === "user" && lastMarker(entry.text) !== undefined);
  const opening = marked ?? request.history.find((entry) => entry.role === "user");
  return createHash("sha256")
    .update(`${request.session ?? ""}\n${opening?.text ?? ""}`)
    .digest("hex")
    .slice(0, 16);
}
