/**
 * The sameness rules U1 to U15 of SPEC.md: the same thing looks the same from every agent. The grammar checks them in strict mode, which replay and
 * `verify` use; a file that is imported may come from an older version and only has to obey the grammar. It judges and never changes a stream.
 */
import type { UniversalEvent } from "./event.ts";
import type { PermissionOption } from "./event-data.ts";
import type { Item } from "./item.ts";
import type { SessionProjection } from "./projection/session-projection.ts";
import { isCamelCase, OWN_WORDS } from "./snake-case.ts";

export type SamenessRule = `U${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15}`;

type Blame = (rule: SamenessRule, message: string) => void;

/** In this order a person finds them with every agent. */
export const OPTION_ORDER: readonly PermissionOption["kind"][] = ["allow_once", "allow_always", "reject_once", "reject_always"];

/** What a call came to. */
type Call = { item: string; status: Item["status"]; result: boolean };

/** What was reported since the open turn began. */
type Told = { errors: string[]; user: boolean; answered: boolean; message: boolean };

/** `message`: the turn belongs to a message that was queued, so its text is known. */
const newTold = (message: boolean): Told => ({ errors: [], user: false, answered: false, message });

export class Sameness {
  /** Native ids of all items that there were. */
  readonly #native = new Map<string, string | null>();
  readonly #kinds = new Map<string, Item["kind"]>();
  readonly #done = new Set<string>();
  readonly #calls = new Map<string, Call>();
  /** Native messages that started an item, by item. */
  readonly #startedBy = new Map<string, number>();
  readonly #skills = new Set<string>();
  #told = newTold(false);
  #auth = false;
  /** The item of the synthetic delta just before. */
  #synthetic: string | null = null;

  /** `native`: number of the native message it was made from, null when none, undefined when that is not known. */
  check(event: UniversalEvent, before: SessionProjection, blame: Blame, native?: number | null): void {
    this.#neighbours(event, blame);
    keysOf(event, blame);
    if (native === null && event.source === "agent") blame("U12", "the agent said it, but no native message is named");
    this.#event(event, before, blame, native ?? null);
  }

  #event(event: UniversalEvent, before: SessionProjection, blame: Blame, native: number | null): void {
    switch (event.type) {
      case "turn.started":
        this.#told = newTold(event.data.message_id !== undefined);
        return;
      case "turn.ended":
        return this.#turnEnded(event.data.stop_reason, blame);
      case "auth.status":
        this.#auth = event.data.status === "required";
        return;
      case "error":
        return this.#error(event.data, blame);
      case "permission.requested": {
        const ranks = event.data.metadata.options.map(({ kind }) => OPTION_ORDER.indexOf(kind));
        if (ranks.some((rank, index) => rank < (ranks[index - 1] ?? 0)))
          blame("U9", "options stand in the order allow once, allow always, reject once, reject always");
        return this.#messageDone(event.data.metadata.item_id, before, blame);
      }
      case "skill.invoked":
        this.#skills.add(event.data.name);
        return;
      case "item.started":
        return this.#started(event.data.item, before, blame, event.source === "agent" ? native : null);
      case "item.updated":
        this.#native.set(event.data.item.item_id, event.data.item.native_item_id);
        return;
      case "item.completed":
        return this.#completed(event.data.item, blame, event.source === "agent" ? native : null);
      case "item.removed": {
        const known = this.#native.get(event.data.item_id) ?? null;
        if (known !== event.data.native_item_id)
          blame("U7", `item ${event.data.item_id} was ${known}, its removal says ${event.data.native_item_id}`);
        for (const [id, call] of this.#calls) if (call.item === event.data.item_id) this.#calls.delete(id);
        return;
      }
      default:
        return;
    }
  }

  /** U8: the text of an agent without deltas comes as one delta, and nothing stands between it and the end of its item. */
  #neighbours(event: UniversalEvent, blame: Blame): void {
    const open = this.#synthetic;
    this.#synthetic = null;
    if (event.type === "item.delta" && event.source === "daemon") {
      if (event.data.part_type !== "tool_output" && event.data.part_type !== "tool_arguments")
        this.#synthetic = event.data.item_id;
    }
    if (open === null || itemOf(event) === open) return;
    blame("U8", `a synthetic delta of ${open} is followed by ${event.type}`);
  }

  #started(item: Item, before: SessionProjection, blame: Blame, native: number | null): void {
    this.#native.set(item.item_id, item.native_item_id);
    this.#kinds.set(item.item_id, item.kind);
    if (native !== null) this.#startedBy.set(item.item_id, native);
    if (item.parent_id === null && before.turn) {
      if (this.#told.message && item.role === "user" && !this.#told.user && this.#told.answered)
        blame("U2", "the message of a turn is reported after its answer began");
      this.#told.user ||= item.role === "user";
      this.#told.answered ||= item.role === "assistant" && item.kind !== "status";
    }
    if (item.kind !== "tool_call" && item.kind !== "tool_result") return;
    if (item.parent_id === null) blame("U1", `${item.kind} ${item.item_id} has no parent`);
    if (item.kind === "tool_result") this.#messageDone(item.item_id, before, blame, item.parent_id);
    for (const part of item.content)
      if (part.type === "tool_call") this.#calls.set(part.call_id, { item: item.item_id, status: "in_progress", result: false });
      else if (part.type === "tool_result") {
        const call = this.#calls.get(part.call_id);
        if (call) call.result = true;
      }
  }

  /** U6: a message is done before one of its calls is asked about or answered. */
  #messageDone(itemId: string | null, before: SessionProjection, blame: Blame, parent?: string | null): void {
    const of = parent ?? (itemId === null ? null : (before.items.get(itemId)?.parent_id ?? null));
    const message = of === null ? undefined : before.items.get(of);
    if (message?.kind === "message") blame("U6", `message ${of} is open while its call runs`);
  }

  #completed(item: Item, blame: Blame, native: number | null): void {
    this.#done.add(item.item_id);
    if (native !== null && this.#startedBy.get(item.item_id) === native)
      blame("U5", `item ${item.item_id} starts and ends with one native message, so its start is the daemon's`);
    this.#startedBy.delete(item.item_id);
    const plan = item.content.some((part) => part.type === "plan");
    if (plan && (item.kind !== "status" || item.role !== "assistant"))
      blame("U10", `a plan is a status item of the assistant, not ${item.kind} ${item.role}`);
    if (!plan && item.kind === "status" && item.role !== null && item.content.some((part) => part.type === "status"))
      blame("U10", `a status is nobody's, not of ${item.role}`);
    for (const part of item.content) {
      if (part.type === "tool_call") this.#callDone(item, part, blame);
      if (part.type !== "tool_result") continue;
      if ((part.exit_code ?? 0) < 0) blame("U4", `result ${part.call_id} has exit code ${part.exit_code}, which is none`);
      if (part.is_error === true && part.exit_code === 0) blame("U4", `result ${part.call_id} failed with exit code 0`);
      if ((part.is_error === true) !== (item.status === "failed"))
        blame("U3", `result ${part.call_id} is ${item.status} and is_error is ${part.is_error === true}`);
      const call = this.#calls.get(part.call_id);
      if (call && call.status !== "in_progress" && call.status !== item.status && this.#done.has(call.item))
        blame("U3", `call ${part.call_id} is ${call.status}, its result ${item.status}`);
      if (call && call.status !== "in_progress") this.#calls.delete(part.call_id);
    }
  }

  #callDone(item: Item, part: Extract<Item["content"][number], { type: "tool_call" }>, blame: Blame): void {
    const call = this.#calls.get(part.call_id);
    if (call) call.status = item.status;
    if (part.tool_kind !== "skill" || item.status === "failed") return;
    if (this.#skills.size === 0) blame("U11", `call ${part.call_id} used a skill that skill.invoked did not name`);
  }

  #error(error: Extract<UniversalEvent, { type: "error" }>["data"], blame: Blame): void {
    this.#told.errors.push(error.code);
    if (error.code === "provider_auth" && !this.#auth) blame("U14", "auth.status required stands before an error provider_auth");
    const expected = BY_STATUS.get(String(error.details.native_code));
    if (expected !== undefined && error.details.error_source === "provider" && error.code !== expected)
      blame("U14", `HTTP ${error.details.native_code} is ${expected}, not ${error.code}`);
  }

  #turnEnded(stop: string, blame: Blame): void {
    const { errors, message, user } = this.#told;
    if (stop === "interrupted" && errors.includes("aborted")) blame("U13", "an interrupt is no error");
    if (stop === "output_length" && !errors.includes("output_length"))
      blame("U13", "an answer over the limit has an error output_length");
    if (stop === "error" && errors.at(-1) === "output_length") blame("U13", "an answer over the limit ends with output_length");
    if (message && !user) blame("U2", "the message of a client was not reported in its turn");
    for (const [id, call] of this.#calls)
      if (call.status !== "in_progress" && !call.result) {
        this.#calls.delete(id);
        blame("U3", `call ${id} ended without a result`);
      }
    this.#told = newTold(false);
  }
}

const BY_STATUS: ReadonlyMap<string, string> = new Map([
  ["401", "provider_auth"],
  ["402", "api_error"],
  ["403", "provider_auth"],
  ["413", "context_overflow"],
  ["429", "rate_limit"],
  ["billing_error", "api_error"],
]);

function itemOf(event: UniversalEvent): string | null {
  switch (event.type) {
    case "item.delta":
    case "item.removed":
      return event.data.item_id;
    case "item.updated":
    case "item.completed":
      return event.data.item.item_id;
    default:
      return null;
  }
}

/** U15: `data` has snake_case keys. */
function keysOf(event: UniversalEvent, blame: Blame): void {
  if (event.type === "item.delta") return;
  const found = camelKey(event.data);
  if (found) blame("U15", `${found} is not snake_case`);
}

function camelKey(value: unknown): string | undefined {
  if (Array.isArray(value)) {
    for (const entry of value) {
      const found = camelKey(entry);
      if (found) return found;
    }
    return undefined;
  }
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, entry] of Object.entries(value)) {
    if (isCamelCase(key)) return key;
    const found = OWN_WORDS.has(key) ? undefined : camelKey(entry);
    if (found) return found;
  }
  return undefined;
}
