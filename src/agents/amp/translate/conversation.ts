// The messages, tool calls and results of one Amp session as drafts, and what has to be remembered between them. Not here: how a run starts and ends.
import type { Draft, DraftPart, ItemKey } from "../../../schema/draft.ts";
import type { Usage } from "../../../schema/event-data.ts";
import { arr, isRecord, type JsonRecord, num, rec, str, toJson } from "../../json.ts";
import { isRuleMessage } from "./permission-rules.ts";
import { Plan } from "./plan.ts";
import { toolKind, toolPaths, toolTitle } from "./tool-kinds.ts";
import { resultParts, type ToolCall } from "./tool-results.ts";
import { addUsage, readUsage } from "./usage.ts";

export type OpenCall = ToolCall & { key: ItemKey; parent: ItemKey };

/** A message we sent that Amp has not echoed yet. */
type Sent = { key: ItemKey; text: string; media: DraftPart[]; carried: string[] };

/** What one message gave, with what in it was not understood. */
export type Reading = { drafts: Draft[]; unknown: string[] };

export class Conversation {
  /**
   * Amp gives its messages no ids, so keys are counted, under the id of the message that began the run: a session outlives its translator, and a
   * key must never come twice in it.
   */
  #run = "run";
  #serial = 0;
  #sent: Sent[] = [];
  readonly #open = new Map<string, OpenCall>();
  readonly #plan = new Plan();
  #planKey: ItemKey | null = null;
  #turnUsage: Usage | null = null;
  /** Whether the model has said anything in this turn. */
  answered = false;

  key(kind: string): ItemKey {
    this.#serial++;
    return `${this.#run}/${kind}:${this.#serial}`;
  }

  beginTurn(): void {
    this.#planKey = null;
    this.#turnUsage = null;
    this.answered = false;
  }

  /** Open calls are the session's to close. `told`: what the end of the run says of it; the messages say it more exactly. */
  endTurn(told: unknown): Usage | null {
    const usage = this.#turnUsage ?? readUsage(told);
    this.#open.clear();
    this.beginTurn();
    return usage;
  }

  openCalls(): OpenCall[] {
    return [...this.#open.values()];
  }

  /** Remembers what we sent: the echo will be the item, but it leaves the images out. */
  sent(message: JsonRecord | string): void {
    const id = isRecord(message) ? str(message.request_id) : undefined;
    if (id !== undefined && id !== this.#run) {
      this.#run = id;
      this.#serial = 0;
    }
    const content = isRecord(message) ? rec(message.message).content : message;
    const all = typeof content === "string" ? [{ type: "text", text: content }] : arr(content).filter(isRecord);
    const carried = isRecord(message) ? (num(message.carried) ?? 0) : 0;
    const blocks = all.slice(carried);
    this.#sent.push({
      key: this.key("user"),
      carried: all.slice(0, carried).flatMap((block) => str(block.text) ?? []),
      text: blocks.flatMap((block) => str(block.text) ?? []).join("\n"),
      media: blocks.flatMap((block) => imagePart(block) ?? []),
    });
  }

  /** What was sent and never echoed: the run failed before. It was said all the same. */
  unechoed(): Draft[] {
    const sent = this.#sent;
    this.#sent = [];
    return sent.map(({ key, text, media }) => ({ ...userItem(key, [{ type: "text", text }, ...media]), synthetic: true }));
  }

  /** A `user` message: the echo of a prompt, or the results of a batch of tools. */
  user(message: JsonRecord, parent: ItemKey | null): Reading {
    const drafts: Draft[] = [];
    const { blocks, unknown } = blocksOf(message.content);
    const said: DraftPart[] = [];
    const strange: DraftPart[] = [];
    for (const block of blocks) {
      if (!isRecord(block)) unknown.push("a content block that is no object");
      else if (block.type === "tool_result") drafts.push(...this.#toolResult(block, parent));
      else {
        const part = str(block.text) === undefined ? imagePart(block) : ({ type: "text", text: str(block.text) ?? "" } as const);
        if (part) said.push(part);
        else {
          unknown.push(`content block ${str(block.type) ?? "without a type"}`);
          strange.push({ type: "json", json: block });
        }
      }
    }
    if (said.length > 0) drafts.push(this.#echo([...said, ...strange], parent));
    // Nothing that a person said.
    else if (strange.length > 0) drafts.push(unknownItem(this.key("unknown"), strange, parent));
    return { drafts, unknown };
  }

  #echo(said: DraftPart[], parent: ItemKey | null): Draft {
    const texts = said.flatMap((part) => (part.type === "text" ? part.text : []));
    const fits = (sent: Sent): boolean => texts.slice(sent.carried.length).join("\n") === sent.text;
    // Amp may trim or wrap the text: the echo of something else is then the echo of the oldest.
    const [sent] = parent === null ? this.#sent.splice(Math.max(this.#sent.findIndex(fits), 0), 1) : [];
    // What was carried along was shown in the turn it belongs to.
    const own = sent?.carried.every((text, at) => texts[at] === text) ? said.slice(sent.carried.length) : said;
    const media = said.some((part) => part.type === "media") ? [] : (sent?.media ?? []);
    return userItem(sent?.key ?? this.key("user"), [...own, ...media], parent);
  }

  /** An `assistant` message: one item for the message, one for each tool it calls. */
  assistant(message: JsonRecord, parent: ItemKey | null): Reading {
    const key = this.key("message");
    const parts: DraftPart[] = [];
    const calls: Draft[] = [];
    const { blocks, unknown } = blocksOf(message.content);
    for (const block of blocks) {
      const part = assistantPart(rec(block));
      if (part === "tool_use") calls.push(this.#toolUse(rec(block), key));
      else if (part) parts.push(part);
      else {
        unknown.push(`content block ${str(rec(block).type) ?? "without a type"}`);
        if ((block ?? null) !== null) parts.push({ type: "json", json: block });
      }
    }
    // jan, may: null means that the message did not come to its end (output limit, refusal, a signal).
    const cut = message.stop_reason === null;
    const item: Draft = {
      do: "item.add",
      item: {
        key,
        // Builds of today give none.
        native_item_id: str(message.id) ?? null,
        ...(parent === null ? {} : { parent }),
        kind: "message",
        role: "assistant",
        content: parts,
      },
      ...(cut ? { status: "failed" as const } : {}),
    };
    if (parent === null) this.answered = true;
    return { drafts: [item, ...calls, ...this.#usage(message.usage, parent)], unknown };
  }

  #toolUse(block: JsonRecord, parent: ItemKey): Draft {
    const key = this.key("call");
    const name = str(block.name) ?? "unknown";
    const input = rec(block.input);
    const call: OpenCall = { key, parent, name, input, call_id: str(block.id) ?? key };
    this.#open.set(call.call_id, call);
    const paths = toolPaths(input);
    const part: DraftPart = {
      type: "tool_call",
      name,
      arguments: toJson(block.input ?? {}),
      call_id: call.call_id,
      tool_kind: toolKind(name),
      title: toolTitle(name, input),
      ...(paths.length === 0 ? {} : { paths }),
    };
    return {
      do: "item.start",
      item: { key, native_item_id: call.call_id, parent, kind: "tool_call", role: "assistant", content: [part] },
    };
  }

  #toolResult(block: JsonRecord, parent: ItemKey | null): Draft[] {
    const id = str(block.tool_use_id) ?? "";
    const open = this.#open.get(id);
    this.#open.delete(id);
    const call: ToolCall = open ?? { name: "unknown", input: {}, call_id: id };
    const failed = block.is_error === true;
    const parts = resultParts(call, block.content, failed);
    const above = open?.parent ?? parent;
    const drafts: Draft[] = [];
    if (failed && open && isRuleMessage(str(block.content) ?? ""))
      drafts.push(...deniedBy("policy", open, str(block.content) ?? ""));
    drafts.push({
      do: "item.add",
      item: {
        key: this.key("result"),
        ...(above === null ? {} : { parent: above }),
        kind: "tool_result",
        role: "tool",
        content: parts,
      },
    });
    const bad = parts.some((part) => part.type === "tool_result" && part.is_error === true);
    return bad ? drafts : [...drafts, ...this.#planned(call, block.content)];
  }

  #planned(call: ToolCall, content: unknown): Draft[] {
    const entries = this.#plan.apply(call, content);
    if (entries === undefined) return [];
    const known = this.#planKey;
    const parts: DraftPart[] = [{ type: "plan", entries }];
    if (known !== null) return [{ do: "item.update", key: known, content: parts }];
    this.#planKey = this.key("plan");
    return [{ do: "item.start", item: { key: this.#planKey, kind: "status", role: "assistant", content: parts } }];
  }

  #usage(native: unknown, parent: ItemKey | null): Draft[] {
    const usage = readUsage(native);
    if (usage === null) return [];
    const total = this.#turnUsage;
    if (parent === null) this.#turnUsage = total === null ? usage : addUsage(total, usage);
    return [{ do: "event", type: "usage.updated", data: { scope: "step", ...usage } }];
  }
}

/** A permission that was never a dialogue: asked and denied in one breath, so that people see what was held back and why. */
export function deniedBy(by: "policy" | "agent", call: OpenCall, message: string): Draft[] {
  const key = `${call.key}/permission`;
  const title = toolTitle(call.name, call.input);
  const paths = toolPaths(call.input);
  return [
    {
      do: "permission.request",
      key,
      action: title === call.name ? call.name : `${call.name}: ${title}`,
      tool_name: call.name,
      input: call.input,
      call_id: call.call_id,
      item: call.key,
      reason: message,
      ...(paths.length === 0 ? {} : { paths }),
      options: [],
      native: null,
    },
    { do: "permission.resolve", key, status: "denied", resolved_by: by, reply: "reject", message },
  ];
}

/** A list of blocks, or a text alone. */
function blocksOf(content: unknown): { blocks: unknown[]; unknown: string[] } {
  if (typeof content === "string") return { blocks: [{ type: "text", text: content }], unknown: [] };
  return { blocks: arr(content), unknown: Array.isArray(content) ? [] : ["content that is no list"] };
}

const userItem = (key: ItemKey, content: DraftPart[], parent: ItemKey | null = null): Draft => ({
  do: "item.add",
  item: { key, ...(parent === null ? {} : { parent }), kind: "message", role: "user", content },
});

const unknownItem = (key: ItemKey, content: DraftPart[], parent: ItemKey | null): Draft => ({
  do: "item.add",
  item: { key, ...(parent === null ? {} : { parent }), kind: "unknown", role: null, content },
});

function assistantPart(block: JsonRecord): DraftPart | "tool_use" | undefined {
  switch (block.type) {
    case "text":
    case "thinking": {
      const text = str(block[block.type === "text" ? "text" : "thinking"]);
      if (text === undefined) return undefined;
      return block.type === "text" ? { type: "text", text } : { type: "reasoning", text, visibility: "public" };
    }
    case "redacted_thinking":
      return { type: "reasoning", text: "", visibility: "private" };
    case "tool_use":
      return "tool_use";
    default:
      return undefined;
  }
}

function imagePart(block: JsonRecord): DraftPart | undefined {
  const source = rec(block.source);
  const base64 = str(source.data);
  if (block.type !== "image" || base64 === undefined) return undefined;
  const name = str(block.source_path);
  return {
    type: "media",
    media: "image",
    mime: str(source.media_type) ?? "image/png",
    base64,
    ...(name === undefined ? {} : { name }),
  };
}
