// Native items that are not tools: what was sent, what the model said and thought, plans, and marks in the transcript.
import type { PlanEntry } from "../../../schema/content.ts";
import type { Draft, DraftPart, ItemDraft } from "../../../schema/draft.ts";
import { arr, type JsonRecord, records, str } from "../../json.ts";
import { inputPart } from "./parts.ts";
import type { NativeItem, Thread } from "./thread.ts";
import { strings } from "./wire.ts";

type MessageItem = {
  /** The universal item, and its content as far as it is known at the start. */
  start(item: JsonRecord, native: NativeItem, thread: Thread): Pick<ItemDraft, "kind" | "role" | "content">;
  /** The final content, and what else it means. */
  complete(item: JsonRecord, native: NativeItem, thread: Thread): { content?: DraftPart[]; more?: Draft[] };
};

const userMessage: MessageItem = {
  start: (item) => ({ kind: "message", role: "user", content: records(item.content).map(inputPart) }),
  complete: (item) => ({
    content: records(item.content).map(inputPart),
    more: records(item.content)
      .filter((input) => input.type === "skill")
      .map((input) => ({ do: "event", type: "skill.invoked", data: { name: str(input.name) ?? "", mode: "manual" } })),
  }),
};

/** Done-only messages, review results and asynchronous questions have their whole text at the start already. */
function agentText(item: JsonRecord): DraftPart[] {
  const text: DraftPart = { type: "text", text: str(item.text) ?? "" };
  const asked = arr(item.questions);
  return asked.length === 0 ? [text] : [text, { type: "json", json: { delivery: item.delivery ?? null, questions: asked } }];
}

const agentMessage: MessageItem = {
  start: (item) => ({ kind: "message", role: "assistant", ...(str(item.text) ? { content: agentText(item) } : {}) }),
  complete(item, native, thread) {
    thread.lastText = str(item.text) ?? "";
    const { phase, memoryCitation } = item;
    const facts = { ...(str(phase) ? { phase } : {}), ...(memoryCitation ? { memory_citation: memoryCitation } : {}) };
    const more: Draft[] =
      Object.keys(facts).length === 0
        ? []
        : [
            {
              do: "event",
              type: "agent.notice",
              data: { name: "message_phase", detail: { native_item_id: native.id, ...facts } },
            },
          ];
    return { content: agentText(item), more };
  },
};

/** Summaries are meant to be shown, raw reasoning is the model's own. */
const reasoning: MessageItem = {
  start: () => ({ kind: "message", role: "assistant" }),
  complete(item, native) {
    const texts = new Map<string, string>();
    strings(item.summary).forEach((text, index) => void texts.set(`s${index}`, text));
    strings(item.content).forEach((text, index) => void texts.set(`c${index}`, text));
    const order = [...native.slots, ...[...texts.keys()].filter((slot) => !native.slots.includes(slot))];
    const parts = order.map(
      (slot): DraftPart => ({
        type: "reasoning",
        text: texts.get(slot) ?? "",
        visibility: slot.startsWith("s") ? "public" : "private",
      }),
    );
    // Encrypted reasoning without a summary: it happened, and there is nothing to read.
    return { content: parts.length > 0 ? parts : [{ type: "reasoning", text: "", visibility: "private" }] };
  },
};

const LIST_LINE = /^\s*(?:\d+[.)]|[-*+])\s+(?:\[([ xX])\]\s+)?(.+)$/;

/** The steps of a plan that is written as Markdown. */
export function planEntries(markdown: string): PlanEntry[] {
  const entries = markdown.split("\n").flatMap((line): PlanEntry[] => {
    const found = LIST_LINE.exec(line);
    return found?.[2] ? [{ text: found[2].trim(), status: found[1]?.toLowerCase() === "x" ? "completed" : "pending" }] : [];
  });
  if (entries.length > 0) return entries;
  const text = markdown.trim();
  return text === "" ? [] : [{ text, status: "pending" }];
}

const plan: MessageItem = {
  start: () => ({ kind: "status", role: "assistant" }),
  complete(item) {
    const text = str(item.text) ?? "";
    return {
      content: [
        { type: "text", text },
        { type: "plan", entries: planEntries(text) },
      ],
    };
  },
};

const hookText = (item: JsonRecord): DraftPart[] =>
  records(item.fragments).map((fragment) => ({ type: "text", text: str(fragment.text) ?? "" }));

const hookPrompt: MessageItem = {
  start: (item) => ({ kind: "system", role: "system", content: hookText(item) }),
  complete: (item) => ({ content: hookText(item) }),
};

const mark = (label: string): MessageItem => {
  const content = (item: JsonRecord): DraftPart[] => [{ type: "status", label, detail: str(item.review) ?? null }];
  return {
    start: (item) => ({ kind: "status", role: null, content: content(item) }),
    complete: (item) => ({ content: content(item) }),
  };
};

const MESSAGES: Record<string, MessageItem> = {
  userMessage,
  agentMessage,
  reasoning,
  plan,
  hookPrompt,
  enteredReviewMode: mark("Review started"),
  exitedReviewMode: mark("Review finished"),
};

export const messageItem = (type: string): MessageItem | undefined =>
  Object.hasOwn(MESSAGES, type) ? MESSAGES[type] : undefined;
