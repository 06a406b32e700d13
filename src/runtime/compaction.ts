/**
 * Makes a conversation short enough for the model's window. Three ways, the cheapest that works: the provider's own, old tool outputs replaced by a reference, a
 * summary by the model. The journal keeps everything; a compaction is a new view. The instructions are not touched, so the cached prefix stays valid.
 */
import { isObject, type JsonObject, textOf } from "../openresponses/json.ts";
import { balanceFault, inputItems, messageItem } from "./input-items.ts";
import type { Ledger } from "./ledger.ts";
import type { BlobStore, TaskStarter } from "./ports.ts";
import type { RecordOf } from "./records.ts";
import { summaryBody } from "./request-body.ts";
import { answerText, type Stepper } from "./step.ts";
import { estimateTokens } from "./token-estimate.ts";

type Trigger = RecordOf<"compacted">["trigger"];

/** Tokens that stay free for the answer. */
const RESERVE = 16_384;
/** Newest tool outputs that stay whole. */
const KEEP_OUTPUTS = 40_000;
/** Newest items that stay verbatim beside a summary. */
const KEEP_TAIL = 20_000;
/** What a summary gets of one tool output. */
const OUTPUT_IN_SUMMARY = 2_000;

const QUESTION = `Summarise the conversation above, so that another engineer can go on without it. Use these headings and leave none out:
Goal, Constraints, Done, In progress, Blocked, Decisions, Next steps, Critical facts, Files read, Files changed.
Quote paths, names, commands, numbers and error messages exactly. Write only the summary.`;

/** Before the list of running tasks; a replay reads them from there. */
export const RUNNING_TASKS = "Running tasks:\n";

export interface CompactorPorts {
  readonly ledger: Ledger;
  readonly stepper: Stepper;
  readonly blobs: BlobStore;
  readonly tasks: TaskStarter;
  /** The endpoint's own compaction, where it has one. Throws when it fails; then the next way is taken. */
  readonly atProvider?: (items: readonly JsonObject[], signal: AbortSignal) => Promise<readonly JsonObject[]>;
}

/** Whether the next request would not leave room for an answer. */
export function isTooLong(tokens: number, window: number | null): boolean {
  return window !== null && tokens + share(RESERVE, window, 0.25) > window;
}

/** Small windows get shares instead of the usual figures. */
const share = (figure: number, window: number | null, part: number): number =>
  window === null ? figure : Math.min(figure, Math.floor(window * part));

export class Compactor {
  readonly #ports: CompactorPorts;

  constructor(ports: CompactorPorts) {
    this.#ports = ports;
  }

  /** Null when nothing can be made shorter. Throws `ResponsesError` when the model cannot be asked. */
  async compact(trigger: Trigger, signal: AbortSignal): Promise<RecordOf<"compacted"> | null> {
    const { state } = this.#ports.ledger;
    const { settings } = state;
    const items = inputItems(state.entries, state.outcomeOf, { ...settings.endpoint, reasoning: "items" });
    const provided = await this.#atProvider(items, signal);
    if (provided !== null) return this.#record(trigger, "provider", this.#completed(provided, items));
    const window = settings.context_window;
    const pruned = await pruneOutputs(items, share(KEEP_OUTPUTS, window, 0.5), this.#ports.blobs);
    const saved = tokensOf(items) - tokensOf(pruned);
    if (trigger === "window" && saved > 0 && !isTooLong((state.contextTokens - saved) * 1.1, window)) {
      return this.#record(trigger, "pruned", pruned);
    }
    return this.#summarise(trigger, pruned, signal);
  }

  async #atProvider(items: readonly JsonObject[], signal: AbortSignal): Promise<readonly JsonObject[] | null> {
    const { ledger, atProvider } = this.#ports;
    if (!ledger.state.settings.endpoint.compact || atProvider === undefined) return null;
    return atProvider(items, signal).catch((error: unknown) => {
      if (signal.aborted) throw error;
      return null;
    });
  }

  async #summarise(trigger: Trigger, items: readonly JsonObject[], signal: AbortSignal): Promise<RecordOf<"compacted"> | null> {
    const { ledger, stepper } = this.#ports;
    const { state } = ledger;
    // At most a quarter stays verbatim: a short conversation whose window nobody knows must get shorter too.
    const tailTokens = Math.min(share(KEEP_TAIL, state.settings.context_window, 0.25), Math.floor(tokensOf(items) / 4));
    const at = splitPoint(items, tailTokens);
    const head = items.slice(0, at);
    if (head.length === 0) return null;
    const told = shortenTo(state.settings.context_window, head.map(shortOutput));
    const { ended } = await stepper.ask(summaryBody(state, told, messageItem("user", QUESTION)), "summary", signal);
    const summary = answerText(ended.items).trim();
    // Half a summary is worse than none: it looks complete.
    if (ended.outcome !== "completed" || summary === "") return null;
    const tail = items.slice(at);
    const user = tail.some(isUserMessage) ? [] : head.filter(isUserMessage).slice(-1);
    return this.#record(trigger, "summary", [messageItem("developer", this.#preface(summary, tail)), ...user, ...tail]);
  }

  /** What the provider made shorter, and what must not depend on it. */
  #completed(provided: readonly JsonObject[], before: readonly JsonObject[]): readonly JsonObject[] {
    const user = provided.some(isUserMessage) ? [] : before.filter(isUserMessage).slice(-1);
    const kept = this.#kept(provided);
    return [...provided, ...user, ...(kept.length === 0 ? [] : [messageItem("developer", kept.join("\n\n"))])];
  }

  #preface(summary: string, tail: readonly JsonObject[]): string {
    return [`The earlier conversation was replaced by this summary.\n\n${summary}`, ...this.#kept(tail)].join("\n\n");
  }

  /** What must not depend on the model's memory: the plan, skills in use, running tasks. `tail`: what is kept anyway. */
  #kept(tail: readonly JsonObject[]): string[] {
    const { plan, skills } = this.#ports.ledger.state;
    const running = this.#ports.tasks.list().filter((task) => task.running);
    const parts: string[] = [];
    if (plan.length > 0)
      parts.push(`The plan:\n${plan.map((entry) => `- [${textOf(entry.status)}] ${textOf(entry.text)}`).join("\n")}`);
    // As they were read: the journal has them, with their digest. What the tail still says is not said twice.
    const said = JSON.stringify(tail);
    for (const { text } of skills.values()) if (!said.includes(JSON.stringify(text).slice(1, -1))) parts.push(text);
    if (running.length > 0) parts.push(`${RUNNING_TASKS}${running.map((task) => `- ${task.id}: ${task.title}`).join("\n")}`);
    return parts;
  }

  #record(trigger: Trigger, method: RecordOf<"compacted">["method"], items: readonly JsonObject[]): RecordOf<"compacted"> | null {
    const { ledger } = this.#ports;
    const fault = balanceFault(items);
    if (fault !== null) throw new Error(`The compacted conversation is not balanced (${fault}): this is a bug of the runtime.`);
    const pre_tokens = ledger.state.contextTokens;
    const post_tokens = tokensOf(items);
    if (post_tokens >= pre_tokens && method !== "provider") return null;
    const view = items.map((item) => ({ ...item }));
    return ledger.append({ type: "compacted", trigger, method, items: view, pre_tokens, post_tokens }) as RecordOf<"compacted">;
  }
}

const tokensOf = (items: readonly JsonObject[]): number => estimateTokens(JSON.stringify(items));
const isUserMessage = (item: JsonObject): boolean => item.role === "user";
const isOutput = (item: JsonObject): boolean => item.type === "function_call_output" || item.type === "custom_tool_call_output";

/** Old outputs become one line that says where they are. Skills are instructions: they stay. */
export async function pruneOutputs(items: readonly JsonObject[], keep: number, blobs: BlobStore): Promise<JsonObject[]> {
  const names = new Map(items.filter((item) => !isOutput(item)).map((item) => [item.call_id, textOf(item.name)]));
  let kept = 0;
  const pruned: JsonObject[] = [];
  for (const item of items.toReversed()) {
    const text = isOutput(item) ? outputText(item) : "";
    kept += estimateTokens(text);
    const old = isOutput(item) && kept > keep && text.length > 400 && names.get(item.call_id) !== "skill";
    if (!old) pruned.push(item);
    else {
      const digest = await blobs.put(Buffer.from(text));
      pruned.push({
        ...item,
        output: `(The output was removed to save space. It is in artifact:${digest}; read it if you need it.)`,
      });
    }
  }
  return pruned.reverse();
}

const outputText = (item: JsonObject): string =>
  typeof item.output === "string" ? item.output : JSON.stringify(item.output ?? "");

/** Where the verbatim tail begins: as early as the budget allows, and never between a call and its output. */
export function splitPoint(items: readonly JsonObject[], tailTokens: number): number {
  let best = items.length;
  let tokens = 0;
  for (let at = items.length - 1; at > 0; at -= 1) {
    tokens += tokensOf([items[at] as JsonObject]);
    if (tokens > tailTokens) break;
    if (isBoundary(items, at)) best = at;
  }
  if (best < items.length) return best;
  // Not even the last exchange fits: keep nothing verbatim but what the summary's preface adds.
  return items.length;
}

/** An answer begins here: reasoning, messages and calls of one answer stay together. */
function isBoundary(items: readonly JsonObject[], at: number): boolean {
  const before = items[at - 1];
  const item = items[at];
  if (item === undefined || before === undefined || isOutput(item)) return false;
  return isUserMessage(item) || isOutput(before) || isUserMessage(before);
}

const shortOutput = (item: JsonObject): JsonObject => {
  if (!isOutput(item)) return item;
  const text = outputText(item);
  return { ...item, output: text.length <= OUTPUT_IN_SUMMARY ? text : `${text.slice(0, OUTPUT_IN_SUMMARY)}\n(cut)` };
};

/** After an overflow not even the head fits: its oldest part is left out, without breaking pairs. */
function shortenTo(window: number | null, items: readonly JsonObject[]): readonly JsonObject[] {
  if (window === null) return items;
  let from = 0;
  while (from < items.length - 1 && tokensOf(items.slice(from)) > window * 0.7) {
    from += 1;
    while (from < items.length - 1 && !isBoundary(items, from)) from += 1;
  }
  const kept = items.slice(from).filter(isObject);
  return balanceFault(kept) === null ? kept : items;
}
