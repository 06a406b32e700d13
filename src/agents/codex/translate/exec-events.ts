// The other stream Codex has: `codex exec --json`, also spoken by the vendor's SDK. We do not run it, but its recordings translate.
// Whole items, no deltas, no user message, no permissions.
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import type { Usage } from "../../../schema/event-data.ts";
import type { NativeDirection, Translation } from "../../contract.ts";
import { isRecord, type JsonRecord, num, own, rec, records, str } from "../../json.ts";
import { mapped, retrying, unparsed } from "../../translation.ts";
import { errorData, processLost, retryAttempt } from "./errors.ts";
import { newItem } from "./thread.ts";
import { toolCall, toolOutcome } from "./tool-items.ts";
import { typeName } from "./wire.ts";

const EVENTS = new Set([
  "thread.started",
  "turn.started",
  "item.started",
  "item.updated",
  "item.completed",
  "turn.completed",
  "turn.failed",
  "error",
]);

/** snake_case item types and the app-server's items they equal. */
const TOOLS: Record<string, string> = {
  command_execution: "commandExecution",
  file_change: "fileChange",
  mcp_tool_call: "mcpToolCall",
  web_search: "webSearch",
};

export class ExecEvents {
  #process = 0;
  #session: string | null = null;
  #address = "exec:0";
  #turnOpen = false;
  #turn = 0;
  #told = false;

  /** A command line or a call of the SDK, or an event of the stream. The app-server has no `type` at the top. */
  static owns(data: unknown): boolean {
    if (!isRecord(data) || "method" in data || "id" in data) return false;
    return Array.isArray(data.argv) || typeof data.call === "string" || EVENTS.has(str(data.type) ?? "");
  }

  translate(dir: NativeDirection, data: unknown): Translation[] {
    if (dir === "in") return [this.#started(rec(data))];
    const event = rec(data);
    const type = str(event.type) ?? "";
    if (!EVENTS.has(type)) return [unparsed(this.#session ?? this.#address, "exec:unknown", "not an event of codex exec")];
    return this.#event(type, event);
  }

  /** Item ids begin again in every process. */
  #started(data: JsonRecord): Translation {
    this.#process++;
    this.#address = `exec:${this.#process}`;
    this.#session = null;
    const argv = Array.isArray(data.argv) ? data.argv : [];
    const prompt = str(data.prompt) ?? str(argv.at(-1)) ?? "";
    this.#turnOpen = true;
    this.#turn++;
    const key = `exec${this.#process}/prompt`;
    const content: DraftPart[] = [{ type: "text", text: prompt }];
    return mapped(this.#address, "exec:start", [
      { do: "turn.start", initiator: "client" },
      { do: "item.add", item: { key, kind: "message", role: "user", content }, synthetic: true },
    ]);
  }

  #event(type: string, event: JsonRecord): Translation[] {
    const at = this.#session ?? this.#address;
    switch (type) {
      case "thread.started":
        return [this.#threadStarted(str(event.thread_id) ?? this.#address)];
      case "turn.started":
        this.#turnOpen = true;
        this.#told = false;
        return [mapped(at, "exec:turn.started", [{ do: "turn.start", initiator: "client" }])];
      case "turn.completed":
        this.#turnOpen = false;
        return [mapped(at, "exec:turn.completed", [...usage(rec(event.usage)), { do: "turn.end", stop_reason: "end_turn" }])];
      case "turn.failed": {
        const error = errorData(event.error);
        this.#turnOpen = false;
        const told: Draft[] = this.#told ? [] : [{ do: "error", error }];
        return [mapped(at, "exec:turn.failed", [...told, { do: "turn.end", stop_reason: "error", error_code: error.code }])];
      }
      case "error":
        return [mapped(at, "exec:error", this.#error(event))];
      default:
        return [this.#item(at, type, rec(event.item))];
    }
  }

  #threadStarted(id: string): Translation {
    const from = this.#address;
    this.#session = id;
    const translation = mapped(id, "exec:thread.started", [{ do: "native_session", id }]);
    return id === from ? translation : { ...translation, bind: { from } };
  }

  /** A retry has the same event as a failure; only its words distinguish them. */
  #error(event: JsonRecord): Draft[] {
    const message = str(event.message) ?? "";
    if (/^Reconnecting/i.test(message)) {
      return [retrying(message, retryAttempt(message))];
    }
    this.#told = true;
    return [{ do: "error", error: errorData({ message }) }];
  }

  #item(at: string, type: string, item: JsonRecord): Translation {
    const kind = str(item.type) ?? "unknown";
    const name = `exec:${type}:${typeName(kind)}`;
    const key = `exec${this.#process}.${this.#turn}/${str(item.id) ?? ""}`;
    const tool = own(TOOLS, kind);
    if (tool !== undefined) return mapped(at, name, toolDrafts(tool, key, type, item));
    const base = { key, native_item_id: str(item.id) ?? null };
    switch (kind) {
      case "agent_message":
        return mapped(
          at,
          name,
          whole(type, { ...base, kind: "message", role: "assistant", content: [{ type: "text", text: str(item.text) ?? "" }] }),
        );
      case "reasoning":
        return mapped(
          at,
          name,
          whole(type, {
            ...base,
            kind: "message",
            role: "assistant",
            content: [{ type: "reasoning", text: str(item.text) ?? "", visibility: "public" }],
          }),
        );
      case "error":
        return mapped(
          at,
          name,
          whole(type, {
            ...base,
            kind: "status",
            role: "system",
            content: [{ type: "status", label: "error", detail: str(item.message) ?? null }],
          }),
        );
      case "todo_list":
        return mapped(at, name, [
          {
            do: "item.start",
            item: { ...base, kind: "status", role: "assistant", content: [{ type: "plan", entries: todos(item) }] },
          },
        ]);
      default:
        return unparsed(at, name, `unknown item type ${typeName(kind)}`);
    }
  }

  exited(how: string): Translation[] {
    if (!this.#turnOpen) return [];
    this.#turnOpen = false;
    const error = processLost(`codex exec ended (${how}) before the turn did`, false);
    return [
      mapped(this.#session ?? this.#address, "exit", [
        { do: "error", error },
        { do: "turn.end", stop_reason: "error", error_code: error.code },
      ]),
    ];
  }
}

/** Messages come whole, at their completion. */
const whole = (type: string, item: Extract<Draft, { do: "item.add" }>["item"]): Draft[] =>
  type === "item.completed" ? [{ do: "item.add", item }] : [{ do: "item.start", item: { ...item, content: [] } }];

const todos = (item: JsonRecord) =>
  records(item.items).map((entry) => ({
    text: str(entry.text) ?? "",
    status: entry.completed === true ? ("completed" as const) : ("pending" as const),
  }));

function toolDrafts(tool: string, key: string, type: string, given: JsonRecord): Draft[] {
  const item: JsonRecord = {
    ...given,
    aggregatedOutput: given.aggregated_output,
    exitCode: given.exit_code,
    status: given.status === "in_progress" ? "inProgress" : given.status,
  };
  const id = str(given.id) ?? "";
  const native = newItem({ key, id, callId: key, type: tool, turnId: "", parent: null, shown: item, callsBefore: 0 });
  const start: Draft = {
    do: "item.start",
    item: {
      key,
      native_item_id: native.id,
      kind: "tool_call",
      role: "assistant",
      content: [toolCall(item, native)],
    },
  };
  if (type !== "item.completed") return [start];
  const { parts, failed } = toolOutcome(item, native);
  const status = failed ? "failed" : "completed";
  return [
    start,
    { do: "item.complete", key, status },
    {
      do: "item.add",
      item: { key: `${key}:result`, native_item_id: native.id, kind: "tool_result", role: "tool", content: parts },
      status,
    },
  ];
}

/** Counts up over the whole thread. */
function usage(value: JsonRecord): Draft[] {
  const input = num(value.input_tokens);
  if (input === undefined) return [];
  const data: Usage = {
    input_tokens: input,
    output_tokens: num(value.output_tokens) ?? 0,
    reasoning_tokens: num(value.reasoning_output_tokens) ?? 0,
    cache_read_tokens: num(value.cached_input_tokens) ?? 0,
    cache_write_tokens: num(value.cache_write_input_tokens) ?? 0,
  };
  return [{ do: "event", type: "usage.updated", data: { scope: "session", ...data } }];
}
