// Token counts: of a model response, of the turn, and of the session with its sub-agents.
import type { Draft } from "../../../schema/draft.ts";
import type { Usage } from "../../../schema/event-data.ts";
import { type JsonRecord, num, rec } from "../../json.ts";
import { endAnswer } from "./items.ts";
import type { Thread } from "./thread.ts";
import type { Threads } from "./threads.ts";
import { beginStep, endStep } from "./turns.ts";

const tokens = (value: JsonRecord): Usage => ({
  input_tokens: num(value.inputTokens) ?? 0,
  output_tokens: num(value.outputTokens) ?? 0,
  reasoning_tokens: num(value.reasoningOutputTokens) ?? 0,
  cache_read_tokens: num(value.cachedInputTokens) ?? 0,
  cache_write_tokens: num(value.cacheWriteInputTokens) ?? 0,
});

export const addUsage = (a: Usage | null, b: Usage): Usage => ({
  input_tokens: (a?.input_tokens ?? 0) + b.input_tokens,
  output_tokens: (a?.output_tokens ?? 0) + b.output_tokens,
  reasoning_tokens: (a?.reasoning_tokens ?? 0) + (b.reasoning_tokens ?? 0),
  cache_read_tokens: (a?.cache_read_tokens ?? 0) + (b.cache_read_tokens ?? 0),
  cache_write_tokens: (a?.cache_write_tokens ?? 0) + (b.cache_write_tokens ?? 0),
});

/** One per model response; a sub-agent's counts for the session, not for the turn of its parent. The same totals again (a resume, the second line of a compaction) are no new use. */
export function tokenUsage(thread: Thread, params: JsonRecord, threads: Threads): Draft[] {
  const { total, last, modelContextWindow } = rec(params.tokenUsage);
  const totals = JSON.stringify(total ?? null);
  // A provider that counts nothing has the same totals after each answer.
  const repeated = totals === thread.lastTotals && num(rec(last).totalTokens) !== 0;
  thread.lastTotals = totals;
  const answered = endAnswer(thread);
  thread.responseEnded();
  const used = num(rec(last).totalTokens) ?? null;
  thread.contextUsed = used;
  const window = num(modelContextWindow);
  const context = {
    ...(used === null ? {} : { context_used: used }),
    ...(window === undefined ? {} : { context_window: window }),
  };
  const step = tokens(rec(last));
  const drafts: Draft[] = answered;
  thread.total = tokens(rec(total));
  if (!repeated && thread.turn) {
    thread.turn.usage = addUsage(thread.turn.usage, step);
    // An answer that made no item, such as a compaction, is a step too.
    drafts.push(...beginStep(thread), ...endStep(thread, step));
    // How full the context of a sub-agent is says nothing of the session's.
    drafts.push({ do: "event", type: "usage.updated", data: { scope: "step", ...step, ...(thread.child ? {} : context) } });
  }
  const whole = [...threads.descendants(threads.root(thread))].reduce(
    (sum, { total }) => (total ? addUsage(sum, total) : sum),
    threads.root(thread).total,
  );
  if (whole)
    drafts.push({ do: "event", type: "usage.updated", data: { scope: "session", ...whole, ...(thread.child ? {} : context) } });
  return drafts;
}
