/** The records of the journal as drafts: turns, steps, calls, what was compacted, what failed. */
import { callsOf, keptItems } from "../../../runtime/input-items.ts";
import type { RecordOf, TokenCount } from "../../../runtime/records.ts";
import type { PlanEntry } from "../../../schema/content.ts";
import type { Draft } from "../../../schema/draft.ts";
import type { StopReason, Usage } from "../../../schema/event-data.ts";
import { own, str, timeOf } from "../../json.ts";
import { authRequired } from "../../kit/error-table.ts";
import { ASKED_AGAIN, retrying } from "../../translation.ts";
import { AnswerStream } from "./answer-stream.ts";
import { CallTable } from "./call-table.ts";
import { childDrafts, childPermission, childQuestion, childResolved } from "./child-drafts.ts";
import { errorCode, errorData, type Failure } from "./errors.ts";
import { permissionDraft, questionDraft, withdrawn } from "./requests.ts";
import type { Spoken } from "./wire.ts";

const NO_TOKENS: TokenCount = { input: 0, output: 0, cached: 0, reasoning: 0 };
const RUNNING: Draft = { do: "status", status: { status: "running" } };

export class JournalDrafts {
  /** The answer that is being streamed. */
  stream: AnswerStream | null = null;
  readonly #calls = new CallTable();
  #window: number | null = null;
  #turnUsage = NO_TOKENS;
  #turnId = "";
  /** The attempt that failed last, unless one succeeded since. */
  #failure: (Failure & { message: string }) | null = null;
  #settings: { model: string; mode: string; effort: string | null } | null = null;

  drafts(spoken: Exclude<Spoken, { type: "notice" | "child.started" }>): Draft[] {
    switch (spoken.type) {
      case "session.opened":
        return [{ do: "native_session", id: spoken.session_id }, ...this.#configured(spoken.settings)];
      case "settings.changed":
        return this.#configured(spoken.settings);
      case "session.resumed":
        return this.#resumed(spoken);
      case "session.facts": {
        const { models, tools, commands, endpoint } = spoken;
        const data = { tools, commands: commands.map((name) => ({ name })), options: [{ id: "endpoint", value: endpoint }] };
        const known = models.length === 0 ? {} : { models: models.map((id) => ({ id })) };
        return [{ do: "event", type: "config.changed", data: { ...data, ...known } }];
      }
      case "turn.started":
        return this.#turnStarted(spoken.turn_id, "client");
      case "turn.ended":
        return this.#turnEnded(spoken);
      case "request.sent":
        return this.#requestSent(spoken);
      case "response.failed":
        return this.#failed(spoken);
      case "response.ended":
        return this.#answered(spoken);
      case "call.started":
        return this.#calls.started(spoken);
      case "call.output":
        return this.#calls.output(spoken);
      case "call.finished":
        return this.#calls.finished(spoken);
      case "call.file":
        return this.#calls.file(spoken);
      case "child.ended":
        if (spoken.usage !== null) this.#turnUsage = sum(this.#turnUsage, spoken.usage);
        return [];
      case "skill.used":
        return skillDrafts(spoken);
      case "mcp.servers":
        return [{ do: "event", type: "config.changed", data: { mcp_servers: spoken.servers, tools: spoken.tools } }];
      case "child.event":
        return childDrafts(spoken, this.#calls.itemKey(spoken.call));
      case "child.permission":
        return [childPermission(spoken, this.#calls.itemKey(spoken.call))];
      case "child.question":
        return [childQuestion(spoken, this.#calls.itemKey(spoken.call))];
      case "child.resolved":
        return childResolved(spoken);
      case "plan.updated":
        return [this.#plan(spoken.entries)];
      case "compacted":
        return [compactedDraft(spoken), RUNNING];
      case "permission.asked":
        return [permissionDraft(spoken, this.#calls.itemKey(spoken.call))];
      case "question.asked":
        return [questionDraft(spoken, this.#calls.known(spoken.call))];
      case "task.started": {
        const { id, command, cwd, title } = spoken;
        return [{ do: "task.start", key: id, tool_name: "bash", command, cwd, title, native: { id } }];
      }
      case "task.output":
        return [{ do: "task.output", key: spoken.id, text: spoken.text, stream: spoken.stream }];
      case "task.ended": {
        const { id, exit_code, stopped } = spoken;
        return [{ do: "task.end", key: id, ...(stopped ? { status: "stopped" } : { status: "exited", exit_code }) }];
      }
      case "request.withdrawn":
        return withdrawn(spoken.id);
      case "command.ended":
        return this.#end(spoken.outcome, spoken.error_code, spoken.message);
      case "runtime.failed":
        return this.#end("error", "execution_error", spoken.message);
      // The bytes come as messages of their own.
      case "received":
      case "input.added":
      case "message.queued":
      case "message.removed":
      case "call.accepted":
      case "call.approved":
        return [];
      default:
        return spoken satisfies never;
    }
  }

  #configured({ model, mode, reasoning_effort, context_window }: RecordOf<"session.opened">["settings"]): Draft[] {
    const before = this.#settings;
    this.#window = context_window;
    this.#settings = { model, mode, effort: reasoning_effort };
    if (before?.model === model && before.mode === mode && before.effort === reasoning_effort) return [];
    return [{ do: "event", type: "config.changed", data: { model, permission_mode: mode, variant: reasoning_effort } }];
  }

  #resumed({ session_id, turn_id, calls }: Extract<Spoken, { type: "session.resumed" }>): Draft[] {
    const drafts: Draft[] = [{ do: "native_session", id: session_id }];
    if (turn_id !== null) drafts.push(...this.#turnStarted(turn_id, "agent"));
    for (const call of calls) drafts.push(...this.#calls.begin(call));
    return drafts;
  }

  #turnStarted(turn_id: string, initiator: "client" | "agent"): Draft[] {
    this.#turnId = turn_id;
    this.#turnUsage = NO_TOKENS;
    this.#failure = null;
    return [{ do: "turn.start", initiator, native_turn_id: turn_id }];
  }

  #requestSent({ n, attempt, purpose }: RecordOf<"request.sent">): Draft[] {
    // An answer that failed before is void, also when it is not asked again but another request follows.
    const void_ = this.#failure === null || this.stream === null ? [] : this.stream.removed(ASKED_AGAIN);
    this.stream = new AnswerStream({ n, attempt, purpose }, this.#calls);
    if (purpose === "step") return [...void_, { do: "step.start", key: String(n) }];
    return [...void_, { do: "status", status: { status: "compacting" } }];
  }

  #failed({ code, message, retryable, wait_ms, attempt, time }: RecordOf<"response.failed">): Draft[] {
    this.#failure = { code, message, retryable };
    const removed = wait_ms === null ? [] : (this.stream?.removed(ASKED_AGAIN) ?? []);
    if (wait_ms !== null) {
      this.stream = null;
      return [...removed, retrying(message, attempt, timeOf("retry_at", time + wait_ms))];
    }
    return code === "auth" ? [authRequired(message)] : [];
  }

  #answered(record: RecordOf<"response.ended">): Draft[] {
    this.#failure = null;
    const drafts: Draft[] = [];
    // A server that streams no items reports its calls only here.
    const kept = keptItems(record.items, record.n);
    for (const call of callsOf({ kind: "response", n: record.n, attempt: record.attempt, items: kept }))
      if (this.#calls.itemKey(call.key) === null && this.stream?.items.all.every(({ shape }) => shape !== "call"))
        drafts.push(...this.#calls.begin(call));
    const finish_reason = record.reason ?? (kept.some((item) => str(item.type)?.endsWith("_call")) ? "tool_calls" : "stop");
    const usage = record.usage === null ? {} : { usage: usageOf(record.usage, this.#window) };
    drafts.push({ do: "step.end", key: String(record.n), finish_reason, ...usage });
    if (record.usage !== null) {
      this.#turnUsage = sum(this.#turnUsage, record.usage);
      drafts.push({ do: "event", type: "usage.updated", data: { scope: "step", ...usageOf(record.usage, this.#window) } });
    }
    this.stream = null;
    return drafts;
  }

  #plan(entries: readonly Record<string, unknown>[]): Draft {
    const plan = entries.map(
      (entry): PlanEntry => ({ text: str(entry.text) ?? "", status: own(PLAN_STATUS, str(entry.status) ?? "") ?? "pending" }),
    );
    const content = [{ type: "plan" as const, entries: plan }];
    return { do: "item.start", item: { key: `plan:${this.#turnId}`, kind: "status", role: null, content } };
  }

  #turnEnded({ reason, error_code, message }: RecordOf<"turn.ended">): Draft[] {
    return this.#end(reason, error_code, message);
  }

  #end(reason: string, code: string | null, message: string | null): Draft[] {
    const stop_reason: StopReason = own(STOP_REASONS, reason) ?? "error";
    const failure = reason === "error" ? this.#failure : null;
    const used = this.#turnUsage === NO_TOKENS ? {} : { usage: usageOf(this.#turnUsage, null) };
    this.stream = null;
    this.#failure = null;
    if (stop_reason !== "error" && code === null) return [{ do: "turn.end", stop_reason, ...used }];
    const error_code = reason === "loop" ? "execution_error" : errorCode(code);
    const error = errorData(error_code, message ?? "The turn failed.", failure);
    return [
      { do: "error", error },
      { do: "turn.end", stop_reason, error_code, ...used },
    ];
  }
}

/** What a person used, the session has reported already. */
function skillDrafts({ by, name, path, digest, allowed }: RecordOf<"skill.used">): Draft[] {
  if (by === "person") return [];
  const frontmatter = allowed.length === 0 ? {} : { "allowed-tools": allowed.join(" ") };
  return [{ do: "event", type: "skill.loaded", data: { name, path, digest, frontmatter } }];
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "end_turn",
  output_length: "output_length",
  refusal: "refusal",
  interrupted: "interrupted",
  max_turns: "max_turns",
  max_budget: "max_budget",
};

const PLAN_STATUS: Readonly<Record<string, PlanEntry["status"]>> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
};

function compactedDraft({ trigger, pre_tokens, post_tokens, method, items }: RecordOf<"compacted">): Draft {
  const [first] = items;
  const [part] = Array.isArray(first?.content) ? first.content : [];
  const summary = method === "summary" ? str((part as { text?: unknown } | undefined)?.text) : undefined;
  return {
    do: "event",
    type: "session.compacted",
    data: {
      trigger: trigger === "request" ? "manual" : "auto",
      pre_tokens,
      post_tokens,
      ...(summary === undefined ? {} : { summary }),
    },
  };
}

const sum = (a: TokenCount, b: TokenCount): TokenCount => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cached: a.cached + b.cached,
  reasoning: a.reasoning + b.reasoning,
});

const usageOf = (tokens: TokenCount, window: number | null): Usage => ({
  input_tokens: tokens.input,
  output_tokens: tokens.output,
  cache_read_tokens: tokens.cached,
  reasoning_tokens: tokens.reasoning,
  ...(window === null ? {} : { context_used: tokens.input + tokens.output, context_window: window }),
});
