// Turns of one thread: opened by our requests or by the server, ended by the server or by its death, with everything left open in them.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import type { ErrorData, StopReason, Usage } from "../../../schema/event-data.ts";
import { isRecord, type JsonRecord, own, rec, records, str } from "../../json.ts";
import { retrying } from "../../translation.ts";
import { errorData, processLost, retryAttempt, withoutReason } from "./errors.ts";
import { askedAgain, closeCut, endAnswer, resultKey, toBackground } from "./items.ts";
import type { NativeItem, OpenTurn, Thread } from "./thread.ts";

const newTurn = (id: string | null) => ({ id, usage: null, error: null, keys: [] });

/** A request of ours that makes the server work. While a turn runs it joins that one. */
export function turnRequested(thread: Thread): Draft[] {
  thread.awaited++;
  if (thread.turn !== null || thread.child !== null) return [];
  thread.turn = newTurn(null);
  return [{ do: "turn.start", initiator: "client" }];
}

/** The answer names the turn: a new one, or the running one that was steered. */
export function turnAnswered(thread: Thread, turnId: string | undefined): Draft[] {
  thread.awaited = Math.max(0, thread.awaited - 1);
  if (turnId === undefined) return [];
  if (thread.hasEnded(turnId)) return [];
  thread.clientTurns.add(turnId);
  if (thread.turn?.id === null) {
    thread.turn.id = turnId;
    return [{ do: "turn.start", initiator: "client", native_turn_id: turnId }];
  }
  return [];
}

/** The request was refused. A turn that only we believed in is over. */
export function turnRefused(thread: Thread, error: ReturnType<typeof errorData>): Draft[] {
  thread.awaited = Math.max(0, thread.awaited - 1);
  const drafts: Draft[] = [{ do: "error", error }];
  if (thread.turn?.id === null && thread.awaited === 0) {
    thread.endTurn(null, []);
    drafts.push({ do: "turn.end", stop_reason: "error", error_code: error.code });
  }
  return drafts;
}

export function turnStarted(thread: Thread, turn: JsonRecord): Draft[] {
  const id = str(turn.id) ?? null;
  const root = str(turn.rootTurnId);
  const open = thread.turn;
  if (id !== null && thread.hasEnded(id)) return [];
  // codex 0.166: a review announces an inner turn whose root is the one it answered with; all items carry the root.
  if (open?.id && root === open.id && id !== open.id) return [];
  if (open && (open.id === id || open.id === null)) {
    open.id = id;
    return begin(thread, id, true);
  }
  const drafts = open ? endOpenItems(thread, false) : [];
  if (open) thread.endTurn(open.id, open.keys);
  thread.turn = newTurn(id);
  return [...drafts, ...begin(thread, id, false)];
}

function begin(thread: Thread, id: string | null, ours: boolean): Draft[] {
  if (thread.child !== null) return [];
  const client = ours || (id !== null && thread.clientTurns.has(id)) || thread.awaited > 0;
  const start: Draft = {
    do: "turn.start",
    initiator: client ? "client" : "agent",
    ...(id === null ? {} : { native_turn_id: id }),
  };
  if (!ours || !thread.compactRequested) return [start];
  // codex 0.166 echoes what is sent to the model, and this is not.
  const content: DraftPart[] = [{ type: "text", text: "/compact" }];
  const item = { key: `${id ?? thread.id}/command`, kind: "message", role: "user", content } as const;
  return [start, { do: "item.add", item, synthetic: true }];
}

/** An item or delta of a turn nobody announced, as after joining a running thread. */
export function implicitTurn(thread: Thread, turnId: string | undefined): Draft[] {
  if (turnId === undefined || turnId === "" || thread.hasEnded(turnId)) return [];
  if (thread.turn !== null) {
    if (thread.turn.id === null) thread.turn.id = turnId;
    return [];
  }
  thread.turn = newTurn(turnId);
  return begin(thread, turnId, false);
}

export function turnCompleted(thread: Thread, turn: JsonRecord): Draft[] {
  const id = str(turn.id) ?? null;
  const open = thread.turn;
  if (open === null || (open.id !== null && id !== null && open.id !== id)) {
    if (id !== null) thread.endTurn(id, []);
    thread.turn = open;
    return [];
  }
  const finished = turn.status === "completed";
  const failure = isRecord(turn.error) ? errorData(turn.error) : open.error === null ? unexplained(turn.status) : null;
  const refused = finished ? refusal(thread) : [];
  const drafts: Draft[] = [...refused, ...endOpenItems(thread, finished)];
  const refusedAloud = finished && thread.refused;
  thread.endTurn(id, open.keys);
  thread.retrying = false;
  thread.compactRequested = false;
  thread.failure = failure?.message ?? null;
  if (thread.child !== null) return drafts;
  if (failure && open.error === null) drafts.push({ do: "error", error: failure });
  const code = failure?.code ?? open.error;
  const stop = refused.length > 0 || refusedAloud ? "refusal" : stopReason(turn.status, code);
  drafts.push({
    do: "turn.end",
    stop_reason: stop,
    ...(stop === "error" ? { error_code: code ?? "unknown" } : {}),
    ...(open.usage ? { usage: open.usage } : {}),
  });
  return drafts;
}

/** A turn that neither came to its end nor was interrupted, and does not say why. */
const unexplained = (status: unknown): ErrorData | null =>
  status === "completed" || status === "interrupted" ? null : withoutReason(str(status));

function stopReason(status: unknown, code: string | null): StopReason {
  if (status === "completed") return "end_turn";
  if (status === "interrupted") return "interrupted";
  if (code === "output_length") return "output_length";
  if (code === "max_budget") return "max_budget";
  return "error";
}

/**
 * codex 0.166 drops refusals: all that is left is a message that was started, has no text, and is never completed, in a turn that completed.
 */
function refusal(thread: Thread): Draft[] {
  const dangling = [...thread.open.values()].filter(
    ({ type, streamed, shown }) => type === "agentMessage" && streamed === "" && !str(shown.text),
  );
  return dangling.flatMap((native): Draft[] => {
    thread.close(native);
    const content: DraftPart[] = [...(thread.answer?.parts ?? []), { type: "refusal", text: REFUSED }];
    return [{ do: "item.complete", key: native.item, content, synthetic: true }];
  });
}

const REFUSED = "The model refused. Codex does not pass on its words.";

/** What is still open when a turn ends. The session closes the rest of the main thread's items itself. */
function endOpenItems(thread: Thread, finished: boolean): Draft[] {
  return [
    ...endAnswer(thread, finished ? "completed" : "failed"),
    ...[...thread.open.values()].flatMap((native): Draft[] => {
      if (outlives(native)) return keepOpen(native);
      if (thread.child === null) {
        thread.close(native);
        return [];
      }
      if (!finished) return closeCut(thread, native);
      thread.close(native);
      return [{ do: "item.complete", key: native.item, synthetic: true }];
    }),
  ];
}

/** A started command goes on as a background terminal after its turn (its end comes later); so does a sub-agent. */
const outlives = (native: NativeItem): boolean =>
  (native.type === "commandExecution" && native.running) || native.type === "subAgentActivity";

function keepOpen(native: NativeItem): Draft[] {
  const drafts: Draft[] = [{ do: "item.update", key: native.key, outlives_turn: true }];
  if (native.resultStarted) drafts.push({ do: "item.update", key: resultKey(native.key), outlives_turn: true });
  return [...drafts, ...toBackground(native)];
}

/**
 * The main turn ends while a sub-agent works on. Its tools go on; its message cannot, because no message outlives its turn: what comes after is a
 * message of its own.
 */
export function leaveChild(child: Thread): Draft[] {
  return [
    ...endAnswer(child),
    ...[...child.open.values()].flatMap((native): Draft[] => {
      if (native.type !== "agentMessage" && native.type !== "reasoning") return keepOpen(native);
      child.close(native);
      child.answer = null;
      child.nextGeneration(native.turnId, native.id);
      return [{ do: "item.complete", key: native.item, synthetic: true }];
    }),
  ];
}

/** Nothing of this thread will be ended by the server any more: not its items, and not the turn, if it is one of the session. */
function abandon(thread: Thread): { drafts: Draft[]; turn: OpenTurn | null } {
  const drafts = [...endAnswer(thread, "failed"), ...[...thread.open.values()].flatMap((native) => closeCut(thread, native))];
  const open = thread.turn;
  if (open) thread.endTurn(open.id, open.keys);
  thread.awaited = 0;
  thread.retrying = false;
  return { drafts, turn: thread.child === null ? open : null };
}

/** The server does not have the thread any more (deleted, archived, unloaded). Somebody wanted that: it is no failure of a turn that ran. */
export function threadGone(thread: Thread): Draft[] {
  const { drafts, turn } = abandon(thread);
  if (!turn) return drafts;
  const usage = turn.usage ? { usage: turn.usage } : {};
  return [...drafts, { do: "turn.end", synthetic: true, stop_reason: "interrupted", ...usage }];
}

/** The process is gone. */
export function threadLost(thread: Thread, message: string): Draft[] {
  const { drafts, turn: open } = abandon(thread);
  if (!open) return drafts;
  drafts.push({
    do: "error",
    error: processLost(message, true),
    synthetic: true,
  });
  drafts.push({
    do: "turn.end",
    synthetic: true,
    stop_reason: "error",
    error_code: "execution_error",
    ...(open.usage ? { usage: open.usage } : {}),
  });
  return drafts;
}

/** The `error` notification: a retry is progress, the last one is the failure that turn/completed repeats. */
export function errorNotified(thread: Thread, params: JsonRecord): Draft[] {
  const error = errorData(params.error);
  if (params.willRetry === true) {
    thread.retrying = true;
    const why = str(rec(params.error).additionalDetails);
    const detail = why ? `${error.message} (${why})` : error.message;
    return [...askedAgain(thread), ...endStep(thread, null), retrying(detail, retryAttempt(error.message))];
  }
  if (thread.turn) thread.turn.error = error.code;
  return [{ do: "error", error }];
}

/** The model begins an answer, with whatever comes of it first. Codex says only when it is over, see `tokenUsage`. */
export function beginStep(thread: Thread, turnId = thread.turn?.id ?? null): Draft[] {
  if (thread.turn === null || thread.turn.id !== turnId || thread.step !== null) return [];
  thread.step = `${thread.turn.id ?? thread.id}/step:${++thread.steps}`;
  return [{ do: "step.start", key: thread.step }];
}

/** `usage` null: the answer was cut. */
export function endStep(thread: Thread, usage: Usage | null): Draft[] {
  const key = thread.step;
  thread.step = null;
  return key === null ? [] : [{ do: "step.end", key, ...(usage === null ? {} : { usage }) }];
}

const PLAN_STATUS: Record<string, "pending" | "in_progress" | "completed"> = {
  pending: "pending",
  inProgress: "in_progress",
  in_progress: "in_progress",
  completed: "completed",
};

/** The whole list each time: one status item a turn. */
export function planUpdated(thread: Thread, params: JsonRecord): Draft[] {
  const explanation = str(params.explanation);
  const key = `${str(params.turnId) ?? ""}/todo`;
  const entries = records(params.plan).map((step) => ({
    text: str(step.step) ?? "",
    status: own(PLAN_STATUS, str(step.status) ?? "") ?? ("pending" as const),
  }));
  thread.turn?.keys.push(key);
  // A code-mode script that did this needs no item of its own.
  thread.toolItems++;
  return [
    {
      do: "item.start",
      item: {
        key,
        kind: "status",
        role: "assistant",
        ...(thread.child?.spawnKey ? { parent: thread.child.spawnKey } : {}),
        content: [
          { type: "plan", entries },
          ...(explanation ? [{ type: "status" as const, label: "plan", detail: explanation }] : []),
        ],
      },
    },
  ];
}
