/** The provider's stream of one answer as drafts. It decides nothing about calls: what became of them the journal says. */
import { originOf } from "../../../openresponses/event-types.ts";
import { CallNamer, keptItems } from "../../../runtime/input-items.ts";
import type { Draft } from "../../../schema/draft.ts";
import type { DeltaPartType } from "../../../schema/event-data.ts";
import type { Repeat, Translation } from "../../contract.ts";
import { type JsonRecord, rec, str } from "../../json.ts";
import { mapped, noted, unparsed } from "../../translation.ts";
import { type AnswerItem, AnswerItems, callPart, finalParts, hostedResult, shapeOf } from "./answer-items.ts";
import type { CallTable } from "./call-table.ts";
import { SESSION } from "./wire.ts";

/** Streamed text: where it goes, and what names its part. */
const DELTAS: Readonly<Record<string, readonly [DeltaPartType, "content_index" | "summary_index" | null]>> = {
  "response.output_text.delta": ["text", "content_index"],
  "response.refusal.delta": ["refusal", "content_index"],
  "response.reasoning.delta": ["reasoning", "content_index"],
  "response.reasoning_text.delta": ["reasoning", "content_index"],
  "response.reasoning_summary_text.delta": ["reasoning", "summary_index"],
  "response.function_call_arguments.delta": ["tool_arguments", null],
  "response.mcp_call_arguments.delta": ["tool_arguments", null],
  "response.mcp_call.arguments_delta": ["tool_arguments", null],
};

const REPEAT: Repeat = { path: ["delta"], ignored: [["sequence_number"], ["obfuscation"]], say: (text) => text !== "" };

export class AnswerStream {
  readonly items: AnswerItems;
  readonly #namer: CallNamer;
  readonly #calls: CallTable;
  readonly #n: number;
  /** False for the model's summary: it is no part of the conversation. */
  readonly #shown: boolean;

  constructor(request: { n: number; attempt: number; purpose: string }, calls: CallTable) {
    this.#n = request.n;
    this.items = new AnswerItems(request.n, request.attempt);
    this.#namer = new CallNamer(request.n, request.attempt);
    this.#calls = calls;
    this.#shown = request.purpose === "step";
  }

  event(event: JsonRecord): Translation {
    const type = str(event.type) ?? "";
    const origin = originOf(type);
    if (origin === null) return unparsed(SESSION, "unknown", `unknown event type ${JSON.stringify(type.slice(0, 100))}`);
    if (origin === "extension") return noted(SESSION, "extension", type, event);
    const drafts = this.#shown ? this.#drafts(type, event) : [];
    const [said] = drafts;
    if (said?.do !== "item.delta" || drafts.length > 1) return mapped(SESSION, type, drafts);
    // The next piece of this text goes to the same place: nothing is remembered of a piece.
    return { ...mapped(SESSION, type, drafts), repeat: REPEAT };
  }

  #drafts(type: string, event: JsonRecord): Draft[] {
    const drafts: Draft[] = [];
    const delta = Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined;
    if (delta !== undefined) this.#delta(delta, event, drafts);
    else if (type === "response.output_item.added") this.items.add(event, drafts);
    else if (type === "response.output_item.done") this.#itemDone(event, drafts);
    else if (type === "response.queued") drafts.push(status("running", "queued by the provider"));
    else if (type === "response.compaction.compacting") drafts.push(status("compacting"));
    return drafts;
  }

  #delta([part_type, place]: readonly [DeltaPartType, string | null], event: JsonRecord, drafts: Draft[]): void {
    const item = this.items.find(event);
    const delta = str(event.delta) ?? "";
    if (item === undefined || item.done || delta === "") return;
    this.items.start(item, drafts);
    const part_index = place === null ? 0 : this.items.partIndex(item, `${place}:${String(event[place] ?? 0)}`);
    drafts.push({ do: "item.delta", key: item.key, part_type, delta, part_index });
  }

  #itemDone(event: JsonRecord, drafts: Draft[]): void {
    const final = rec(event.item);
    const item = this.items.find(event) ?? this.items.add(event, drafts);
    if (item.done || item.shape !== shapeOf(str(final.type) ?? "")) return;
    item.done = true;
    this.#finish(item, final, drafts);
  }

  #finish(item: AnswerItem, final: JsonRecord, drafts: Draft[]): void {
    const failed = final.status === "incomplete" || final.status === "failed";
    const state = failed ? { status: "failed" as const } : {};
    switch (item.shape) {
      case "message":
      case "reasoning": {
        const content = finalParts(final);
        if (content.length > 0) this.items.start(item, drafts);
        if (item.started)
          drafts.push({ do: "item.complete", key: item.key, ...(content.length > 0 ? { content } : {}), ...state });
        return;
      }
      case "call":
        this.#call(item, final, drafts);
        return;
      case "hosted": {
        const content = [callPart(final, item.key)];
        drafts.push({ do: "item.complete", key: item.key, content, ...state });
        this.#hostedResult(item, final, failed, drafts);
        return;
      }
      case "other":
        drafts.push({ do: "item.complete", key: item.key, content: [{ type: "json", json: final }], ...state });
        return;
      default:
        item.shape satisfies never;
    }
  }

  /** It stays open until the journal reports its outcome. */
  #call(item: AnswerItem, final: JsonRecord, drafts: Draft[]): void {
    drafts.push({ do: "item.update", key: item.key, content: [callPart(final, item.key)] });
    const [kept] = keptItems([final], this.#n);
    const call = kept === undefined ? null : this.#namer.name(kept);
    if (call === null) drafts.push({ do: "item.complete", key: item.key, status: "failed" });
    else this.#calls.announce(call, item.key, this.items.parent);
  }

  #hostedResult(item: AnswerItem, final: JsonRecord, is_error: boolean, drafts: Draft[]): void {
    const output = hostedResult(final);
    if (output === null) return;
    const call_id = str(final.call_id) ?? str(final.id) ?? item.key;
    drafts.push({
      do: "item.add",
      item: {
        key: `${item.key}/result`,
        parent: this.items.parent,
        kind: "tool_result",
        role: "tool",
        content: [{ type: "tool_result", call_id, output, is_error }],
      },
      status: is_error ? "failed" : "completed",
    });
  }

  /** The answer is void: it failed, and is asked again or left. */
  removed(reason: string): Draft[] {
    const started = this.items.all.filter((item) => item.started);
    return started.flatMap(({ key, shape }): Draft[] => [
      // A call that only reads may have its result already.
      ...(shape === "call" || shape === "hosted" ? [{ do: "item.remove" as const, key: `${key}/result`, reason }] : []),
      { do: "item.remove", key, reason },
    ]);
  }
}

const status = (name: "running" | "compacting", detail?: string): Draft => ({
  do: "status",
  status: { status: name, ...(detail === undefined ? {} : { detail }) },
});
