// When a turn begins and ends, and which errors are reported. OpenCode has no turn of its own: it has busy, idle and errors, in an order with surprises.
import type { Draft } from "../../../schema/draft.ts";
import type { StopReason, Usage } from "../../../schema/event-data.ts";
import { int, type JsonRecord, num, rec, str, timeOf } from "../../json.ts";
import { tokenCount } from "../../kit/token-count.ts";
import { retrying } from "../../translation.ts";
import { isStackTrace, type NamedError, readError } from "./errors.ts";
import { contentOf, type Message, newTurn, type Session, type Turn, type World } from "./state.ts";

/** A prompt of ours. It opens the turn at once; one that is sent into a running turn joins it. */
export function promptSent(session: Session, request: string | null, number = 0): Draft[] {
  if (session.turn) return [];
  beginTurn(session, request).after = number;
  return [{ do: "turn.start", initiator: "client", synthetic: true }];
}

/** Nobody sent anything: the agent went on by itself. */
export function agentTurn(session: Session): Draft[] {
  beginTurn(session, null).busy = true;
  return [{ do: "turn.start", initiator: "agent" }];
}

function beginTurn(session: Session, request: string | null): Turn {
  const turn = newTurn(request);
  session.turn = turn;
  session.turns += 1;
  session.told.clear();
  session.plan = null;
  return turn;
}

/** A prompt of ours that the server refused: the turn it opened is over. The message exists nowhere else, so it is reported here. */
export function promptRefused(session: Session, request: string, message: string, text: string | undefined): Draft[] {
  if (session.turn?.request !== request || session.turn.busy) return [];
  const details = { error_source: "agent" as const, native_code: "refused" };
  const drafts = tell(session, { name: "Refused", error: { message, code: "execution_error", details } });
  const item = {
    key: `refused:${[...session.messages.keys()].at(-1) ?? ""}:${session.turns}:${request}`,
    kind: "message" as const,
    role: "user" as const,
  };
  if (text)
    drafts.unshift({ do: "item.add", item: { ...item, content: [{ type: "text", text }] }, status: "failed", synthetic: true });
  return [...drafts, ...endTurn(session)];
}

export function status(world: World, session: Session, native: JsonRecord): Draft[] | null {
  const root = world.root(session);
  switch (native.type) {
    case "busy":
      return [...(session === root ? busy(session) : []), ...backToWork(root)];
    case "retry":
      return retry(root, native);
    case "idle":
      return session === root ? idle(session) : completeUserMessages(session, null);
    default:
      return null;
  }
}

function busy(session: Session): Draft[] {
  if (session.turn) {
    Object.assign(session.turn, { busy: true, absent: false });
    return [];
  }
  // Nobody asked through us: another client sent a message, or the agent goes on by itself.
  const asked = [...session.messages.values()].at(-1)?.role === "user";
  beginTurn(session, null).busy = true;
  return [{ do: "turn.start", initiator: asked ? "client" : "agent" }];
}

function backToWork(root: Session): Draft[] {
  if (!root.turn?.retrying) return [];
  root.turn.retrying = false;
  return [{ do: "status", status: { status: "running" } }];
}

function retry(root: Session, native: JsonRecord): Draft[] {
  const attempt = int(native.attempt);
  const same = root.turn?.retrying === true && root.turn.attempt === attempt;
  if (same) return [];
  if (root.turn) Object.assign(root.turn, { retrying: true, attempt });
  const detail = str(native.message) ?? str(rec(native.action).message);
  return [retrying(detail, attempt, timeOf("retry_at", num(native.next)))];
}

/**
 * After a provider's error or an abort idle comes twice, and between them the last message is closed: the first one is not the end. A message
 * that is never closed (the session was deleted) must not keep the turn open, so the second idle always is.
 */
function idle(session: Session): Draft[] {
  const turn = session.turn;
  if (!turn) return completeUserMessages(session, null);
  turn.idles += 1;
  const failed = turn.error !== null || turn.held !== null || turn.aborting;
  const unfinished = [...session.messages.values()].some(
    (message) => message.role === "assistant" && (message.started || message.announced) && !message.done,
  );
  if (failed && unfinished && turn.idles < 2 && !session.deleted) return [];
  if (!failed && hasNoAnswer(turn) && turn.idles < 2 && !session.deleted) {
    // 1.18: when it cannot even begin (its directory is gone, its instance was interrupted) idle comes first and the error after it. The connection
    // reads the messages again in a moment, so that a turn without a reason ends too.
    turn.unanswered = true;
    return [];
  }
  return endTurn(session);
}

/** A message of ours that no message of the agent answered. Nothing was done: that is not the end of a turn, it is a failure. */
const hasNoAnswer = (turn: Turn): boolean => turn.request !== null && turn.last === null && turn.compacting === null;

const noAnswer: NamedError = {
  name: "NoAnswer",
  error: {
    message:
      "OpenCode ended the turn without an answer and without a reason. Send the message again; its instance is started anew.",
    code: "execution_error",
    details: { error_source: "agent", native_code: "no_answer", retryable: true },
  },
};

/** Ends the open turn with what is known of how it went. */
export function endTurn(session: Session, forced?: { stop: StopReason; error?: NamedError }): Draft[] {
  const turn = session.turn;
  if (!turn) return [];
  const drafts = completeUserMessages(session, null);
  if (turn.held && !turn.error) drafts.push(...tell(session, turn.held));
  if (!forced && !turn.error && !turn.aborting && hasNoAnswer(turn)) drafts.push(...tell(session, noAnswer));
  if (forced?.error) drafts.push(...tell(session, forced.error));
  const stop = forced?.stop ?? stopReason(turn);
  const usage = turnUsage(session);
  drafts.push({
    do: "turn.end",
    stop_reason: stop,
    ...(stop === "error" ? { error_code: turn.error?.code ?? "unknown" } : {}),
    ...(usage ? { usage } : {}),
  });
  session.turn = null;
  session.plan = null;
  closeAll(session);
  return drafts;
}

function stopReason(turn: Turn): StopReason {
  if (turn.aborting || turn.errorName === "MessageAbortedError") return "interrupted";
  if (turn.errorName === "ContentFilterError") return "refusal";
  if (turn.errorName === "MessageOutputLengthError") return "output_length";
  if (turn.error) return "error";
  // An abort while it waits for a retry says nothing: the message ends without finish, error or content.
  if (turn.retrying && turn.last?.finish === null) return "interrupted";
  if (turn.last?.finish === "length") return "output_length";
  if (turn.last?.finish === "content-filter") return "refusal";
  return "end_turn";
}

/** The session closes what is open at the end of a turn; what comes later for these is a repetition. */
function closeAll(session: Session): void {
  for (const message of session.messages.values()) {
    if (message.role === "assistant") message.done = true;
    message.stepOpen = null;
    for (const part of message.parts.values()) if (part.kind === "tool") part.open = false;
  }
}

function turnUsage(session: Session): Usage | null {
  let sum: Usage | null = null;
  for (const message of session.messages.values()) {
    if (!message.usage) continue;
    sum = sum ? addUsage(sum, message.usage) : message.usage;
    message.usage = null;
  }
  return sum;
}

const addUsage = (a: Usage, b: Usage): Usage => ({
  input_tokens: a.input_tokens + b.input_tokens,
  output_tokens: a.output_tokens + b.output_tokens,
  reasoning_tokens: (a.reasoning_tokens ?? 0) + (b.reasoning_tokens ?? 0),
  cache_read_tokens: (a.cache_read_tokens ?? 0) + (b.cache_read_tokens ?? 0),
  cache_write_tokens: (a.cache_write_tokens ?? 0) + (b.cache_write_tokens ?? 0),
  cost_usd: roundCost((a.cost_usd ?? 0) + (b.cost_usd ?? 0)),
  ...(b.context_used === undefined ? {} : { context_used: b.context_used }),
});

/** Sums of native floats leave residues such as 1.3e-20. */
export const roundCost = (cost: number): number => Math.round(cost * 1e10) / 1e10;

/** `tokens` as OpenCode counts them: each token in one place. */
export function readUsage(tokens: unknown, cost: unknown): Usage | null {
  const t = rec(tokens);
  const cache = rec(t.cache);
  const total = num(t.total);
  if (num(t.input) === undefined && num(t.output) === undefined) return null;
  const counted = {
    input: num(t.input),
    output: num(t.output),
    reasoning: num(t.reasoning) ?? 0,
    cacheRead: num(cache.read) ?? 0,
    cacheWrite: num(cache.write) ?? 0,
  };
  return {
    ...tokenCount(counted, { cache: true, reasoning: true }),
    ...(num(cost) === undefined ? {} : { cost_usd: roundCost(num(cost) ?? 0) }),
    ...(total === undefined ? {} : { context_used: total }),
  };
}

/** `session.error`. The same fault stands on the message too, and some are said twice: it is reported once. */
export function sessionError(session: Session, native: unknown): Draft[] {
  const named = readError(native);
  const turn = session.turn;
  // The abort that a deletion causes is no news.
  if (session.deleted) return [];
  if (named.name === "ContextOverflowError" && turn) {
    turn.held = named;
    return [];
  }
  if (isStackTrace(rec(rec(native).data)) && session.told.size > 0) return turn && !turn.busy ? endTurn(session) : [];
  const drafts = tell(session, named);
  return turn?.unanswered ? [...drafts, ...endTurn(session)] : drafts;
}

/** A sub-agent's failure also stands in the result of its call. */
export function childError(session: Session, native: unknown): Draft[] {
  const { name, error } = readError(native);
  if (name === "MessageAbortedError" || session.told.has(error.message)) return [];
  session.told.add(error.message);
  return [{ do: "event", type: "agent.notice", data: { name: "subagent.error", detail: { session_id: session.id, ...error } } }];
}

/** The error on an assistant message that is final. */
export function messageError(session: Session, native: unknown): Draft[] {
  const named = readError(native);
  if (session.turn) session.turn.held = null;
  return tell(session, named);
}

function tell(session: Session, { name, error }: NamedError): Draft[] {
  if (session.turn) {
    session.turn.error = error;
    session.turn.errorName = name;
    // Somebody interrupted it: that is how the turn ends, not a fault.
    if (name === "MessageAbortedError" && session.turn.aborting) return [];
  }
  if (session.told.has(name) || session.told.has(error.message)) return [];
  session.told.add(name === "UnknownError" ? error.message : name).add(error.message);
  return [{ do: "error", error }];
}

/** A user's message is whole when it is answered: its parts come one by one, without an end mark. */
export function completeUserMessages(session: Session, upTo: string | null): Draft[] {
  const drafts: Draft[] = [];
  for (const message of session.messages.values()) {
    if (message.role === "user" && !message.done) {
      message.done = true;
      if (message.started) drafts.push({ do: "item.complete", key: message.key, content: contentOf(message) });
    }
    if (message.id === upTo) break;
  }
  return drafts;
}

export const endStep = (message: Message, reason: string | undefined, usage: Usage | null): Draft[] => {
  if (message.stepOpen === null) return [];
  const key = message.stepOpen;
  message.stepOpen = null;
  return [
    {
      do: "step.end",
      key,
      ...(reason === undefined ? {} : { finish_reason: reason }),
      ...(usage ? { usage } : {}),
      ...(usage?.cost_usd === undefined ? {} : { cost_usd: usage.cost_usd }),
    },
  ];
};
