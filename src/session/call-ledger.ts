/**
 * What is known of tool calls: which item a call is, whether it has a result, since when it runs and how long a person was asked meanwhile. Bounded: a
 * session may have any number of calls. Not here: events, which the item ledger makes.
 */
import type { ContentPart } from "../schema/content.ts";
import type { ItemKey } from "../schema/draft.ts";
import type { ItemStatus } from "../schema/item.ts";
import { BoundedMap } from "./bounded-map.ts";

/** How many calls stay known: enough for late results of any real turn. */
const REMEMBERED = 20_000;

type ToolResult = Extract<ContentPart, { type: "tool_result" }>;

/** How a result can end. */
type ResultStatus = Exclude<ItemStatus, "in_progress">;

type KnownCall = {
  key: ItemKey;
  item_id: string;
  parent_id: string | null;
  answered: boolean;
  /** When its arguments were last reported. */
  ready: number;
  /** Milliseconds since then in which it waited for a person. */
  waited: number;
};

export class CallLedger {
  readonly #calls = new BoundedMap<string, KnownCall>(REMEMBERED);
  /** Item → call. */
  readonly #ids = new BoundedMap<string, string>(REMEMBERED);

  has(callId: string): boolean {
    return this.#calls.has(callId);
  }

  keyOf(callId: string): ItemKey | undefined {
    return this.#calls.get(callId)?.key;
  }

  parentOf(callId: string): string | null {
    return this.#calls.get(callId)?.parent_id ?? null;
  }

  answered(callId: string): boolean {
    return this.#calls.get(callId)?.answered ?? false;
  }

  /** A call with these arguments: the same again changes nothing but the time from which it runs. */
  told(parts: readonly ContentPart[], key: ItemKey, item: { item_id: string; parent_id: string | null }, now: string): void {
    for (const part of parts) {
      if (part.type !== "tool_call") continue;
      const { item_id, parent_id } = item;
      const known = this.#calls.get(part.call_id);
      // A call of the same id in another item is another call: it has no result yet.
      const another = known !== undefined && known.item_id !== item_id && this.#ids.get(known.item_id) === part.call_id;
      const answered = known !== undefined && !another && known.answered;
      this.#calls.set(part.call_id, { key, item_id, parent_id, answered, ready: Date.parse(now), waited: 0 });
      this.#ids.set(item_id, part.call_id);
    }
  }

  /** A result of this call was announced. `fallback`: for a call that was open when the daemon stopped and is known by its result alone. */
  answer(callId: string, fallback?: { key: ItemKey; item_id: string; parent_id: string | null }): void {
    const call = this.#calls.get(callId);
    if (call) call.answered = true;
    else if (fallback) this.#calls.set(callId, { ...fallback, answered: true, ready: Number.NaN, waited: 0 });
  }

  /** How long it ran is not known: nobody saw its end. */
  unclock(callId: string): void {
    const call = this.#calls.get(callId);
    if (call) call.ready = Number.NaN;
  }

  /** A person was asked about this call. */
  waited(itemId: string, ms: number): void {
    const call = this.#calls.get(this.#ids.get(itemId) ?? "");
    if (call && Number.isFinite(ms)) call.waited += ms;
  }

  /**
   * The result with how long the tool ran: as the agent reported it, or as measured between its arguments and its result; without the wait for a person.
   * A result that the daemon made has none.
   */
  timed(result: ToolResult, now: string): ToolResult {
    const call = this.#calls.get(result.call_id);
    if (!call || !Number.isFinite(call.ready)) return result;
    const span = Math.max(0, Date.parse(now) - call.ready);
    const told = result.duration_ms;
    if (told === undefined) return { ...result, duration_ms: Math.max(0, span - call.waited) };
    // opencode 1.18 counts the wait for a permission as running, codex 0.166 does not: what it reported and the wait together do not fit into the span.
    const counted = call.waited > 0 && told > span - call.waited / 2;
    return counted ? { ...result, duration_ms: Math.max(0, told - call.waited) } : result;
  }

  /** U3, U4: a result that failed says so in all three places, and has no exit code that says otherwise; one below 0 stands for none. */
  resultEnd(parts: readonly ContentPart[], status: ResultStatus, now: string): { content: ContentPart[]; status: ResultStatus } {
    const failed = status === "failed" || parts.some((part) => part.type === "tool_result" && part.is_error === true);
    const content = parts.map((part): ContentPart => {
      if (part.type !== "tool_result") return part;
      const { exit_code, ...rest } = this.timed(part, now);
      const isNone = exit_code === undefined || (exit_code ?? 0) < 0 || (failed && exit_code === 0);
      const exit = isNone ? {} : { exit_code };
      return { ...rest, ...exit, is_error: failed };
    });
    return { content, status: failed ? "failed" : "completed" };
  }
}
