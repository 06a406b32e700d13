// Raw response items (`experimentalRawEvents`): the only trace of tool calls for which Codex makes no item, such as an unknown tool, bad arguments or a
// patch that does not apply. Calls that have an item are not reported twice.
import type { Draft } from "../../../schema/draft.ts";
import { type JsonRecord, rec, str, toJson } from "../../json.ts";
import { mediaPart, toolOutput } from "./parts.ts";
import type { Thread } from "./thread.ts";
import { modelToolKind } from "./tool-kinds.ts";

/** Tools that make an item when they work: without one, they did not. */
const ITEM_MAKERS = new Set(["apply_patch", "exec_command", "shell", "local_shell", "view_image"]);
const FAILED = /^(unsupported call|failed to parse|Script failed|error:)/i;

/** Undefined: this item type is not known. */
export function rawItemDrafts(thread: Thread, params: JsonRecord): Draft[] | undefined {
  const item = rec(params.item);
  const turnId = str(params.turnId) ?? "";
  switch (item.type) {
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "tool_search_call":
      called(thread, item);
      return [];
    case "function_call_output":
    case "custom_tool_call_output":
    case "tool_search_output":
      return answered(thread, turnId, item);
    case "message":
      return message(thread, turnId, item);
    case "image_generation_call":
      return image(thread, turnId, item);
    case "agent_message":
    case "reasoning":
    case "web_search_call":
    case "additional_tools":
    case "compaction":
    case "compaction_trigger":
    case "context_compaction":
    case "configuration_update":
    case "other":
      return [];
    default:
      return undefined;
  }
}

function called(thread: Thread, item: JsonRecord): void {
  const id = str(item.call_id) ?? str(item.id);
  if (id === undefined) return;
  const name = str(item.name) ?? (item.type === "tool_search_call" ? "tool_search" : "local_shell");
  const given =
    str(item.arguments) ??
    (str(item.input) === undefined ? toJson(item.arguments ?? item.action ?? {}) : toJson({ input: item.input }));
  thread.rawCalls.set(id, {
    name: str(item.namespace) ? `${str(item.namespace)}.${name}` : name,
    arguments: given,
    itemsBefore: thread.toolItems,
  });
}

function answered(thread: Thread, turnId: string, item: JsonRecord): Draft[] {
  const id = str(item.call_id) ?? "";
  const call = thread.rawCalls.get(id);
  thread.rawCalls.delete(id);
  const key = thread.keyOf(turnId, id);
  if (!call || thread.open.has(key) || thread.isClosed(key)) return [];
  // A code-mode script whose tools became items needs no item of its own. The plan is reported by turn/plan/updated.
  if ((call.name === "exec" && thread.toolItems > call.itemsBefore) || call.name === "update_plan") return [];
  const { output, parts } =
    item.type === "tool_search_output" ? { output: toJson(item.tools ?? []), parts: [] } : toolOutput(item.output);
  const failed = ITEM_MAKERS.has(call.name) || FAILED.test(output);
  const status = failed ? "failed" : "completed";
  const parent = thread.toolParent(turnId);
  const base = { native_item_id: id, ...(parent === null ? {} : { parent }) };
  const rawKey = `${turnId}/raw:${id}`;
  thread.turn?.keys.push(rawKey);
  thread.calls++;
  return [
    {
      do: "item.add",
      item: {
        key: rawKey,
        ...base,
        kind: "tool_call",
        role: "assistant",
        content: [
          {
            type: "tool_call",
            name: call.name,
            arguments: call.arguments,
            call_id: id,
            tool_kind: modelToolKind(call.name),
            title: call.name,
          },
        ],
      },
      status,
    },
    {
      do: "item.add",
      item: {
        key: `${rawKey}:result`,
        ...base,
        kind: "tool_result",
        role: "tool",
        content: [{ type: "tool_result", call_id: id, output, ...(failed ? { is_error: true } : {}) }, ...parts],
      },
      status,
    },
  ];
}

/** Messages have items. Should a version let a refusal through, it is reported here. */
function message(thread: Thread, turnId: string, item: JsonRecord): Draft[] {
  const refusals = Array.isArray(item.content) ? item.content.map(rec).filter((part) => part.type === "refusal") : [];
  if (item.role !== "assistant" || refusals.length === 0) return [];
  const native = thread.open.get(thread.keyOf(turnId, str(item.id) ?? ""));
  if (!native) return [];
  thread.close(native);
  thread.refused = true;
  const text = refusals.map((part) => str(part.refusal) ?? str(part.text) ?? "").join("\n");
  return [{ do: "item.complete", key: native.item, content: [...(thread.answer?.parts ?? []), { type: "refusal", text }] }];
}

/** codex 0.166 makes no item of a picture the provider drew. */
function image(thread: Thread, turnId: string, item: JsonRecord): Draft[] {
  const id = str(item.id) ?? "";
  const bytes = str(item.result);
  const key = thread.keyOf(turnId, id);
  if (!bytes || thread.open.has(key) || thread.isClosed(key)) return [];
  const prompt = str(item.revised_prompt) ?? "";
  const rawKey = `${turnId}/raw:${id}`;
  const base = { native_item_id: id, parent: thread.toolParent(turnId) };
  thread.turn?.keys.push(rawKey);
  thread.calls++;
  return [
    {
      do: "item.add",
      item: {
        key: rawKey,
        ...base,
        kind: "tool_call",
        role: "assistant",
        content: [
          {
            type: "tool_call",
            name: "image_generation",
            arguments: toJson({ prompt }),
            call_id: id,
            tool_kind: "other",
            title: prompt,
          },
        ],
      },
    },
    {
      do: "item.add",
      item: {
        key: `${rawKey}:result`,
        ...base,
        kind: "tool_result",
        role: "tool",
        content: [{ type: "tool_result", call_id: id, output: "" }, mediaPart("image", `data:image/png;base64,${bytes}`)],
      },
    },
  ];
}
