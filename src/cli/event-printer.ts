/**
 * Prints a session's events for people: the answer as it streams, each tool with what it does and the end of its output, changes as diffs, plans as they move
 * on, the work of sub-agents indented. Not here: what must not reach a terminal (output.ts), what moves while the agent works (activity.ts), asking (ask.ts).
 */
import type { PlanEntry, ToolKind } from "../schema/content.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import { exact, exactLine, type Output } from "./output.ts";
import { type Paint, paintFor } from "./style.ts";
import { LineStream, PlainStream, type TextStream } from "./text-stream.ts";
import { callLine, diffLines, hasFailed, isComplete, planLine, resultLines, type ToolCall } from "./tool-lines.ts";

type Target = Pick<Output, "write" | "isTTY">;

export type PrinterOptions = {
  /** Which messages of people are shown; default none: they have them before their eyes. */
  showUser?: (text: string) => boolean;
  /** Permissions and questions too, with their answers: for reading afterwards. */
  showRequests?: boolean;
  /** How an answer is printed; default as it comes. */
  answers?: () => TextStream;
  /** Lines of a diff that are shown; default all. */
  diffLines?: number;
};

/** A message that is being written. */
type Message = { depth: number; answer: TextStream; thinking: TextStream; thought: boolean };

export class EventPrinter {
  readonly #out: Target;
  readonly #err: Target;
  readonly #paint: Paint;
  readonly #options: PrinterOptions;
  /** Text and notes stand apart where text is laid out. */
  readonly #spaced: boolean;
  /** How deep in sub-agents an item is, whether items below it are one deeper, and which item it belongs to. */
  readonly #depths = new Map<string, { depth: number; spawns: boolean; parent: string | null }>();
  readonly #messages = new Map<string, Message>();
  /** Calls that are not announced yet because their arguments are not all there, by item. */
  readonly #unannounced = new Map<string, ToolCall>();
  /** Kinds of tools whose result is still to come, by call. */
  readonly #running = new Map<string, ToolKind | undefined>();
  /** Plans as they were last shown, by item. */
  readonly #plans = new Map<string, readonly PlanEntry[]>();
  /** The stream whose last line is not ended yet. */
  #open: "out" | "err" | null = null;
  #last: "text" | "note" | null = null;

  /** Answers go to stdout, everything about how they came to be to stderr. Give the same for both to get one transcript. */
  constructor(terminal: { stdout: Target; stderr: Target; env: NodeJS.ProcessEnv }, options: PrinterOptions = {}) {
    this.#out = terminal.stdout;
    this.#err = terminal.stderr;
    this.#paint = paintFor(terminal.stderr, terminal.env);
    this.#options = options;
    this.#spaced = options.answers !== undefined;
  }

  /** What was said of an answer and cannot be printed yet. */
  get tail(): string {
    return [...this.#messages.values()].findLast(({ answer }) => answer.tail !== "")?.answer.tail ?? "";
  }

  print(event: UniversalEvent): void {
    switch (event.type) {
      case "item.started":
        return this.#started(event.data.item);
      case "item.updated":
        this.#plan(event.data.item);
        return this.#call(event.data.item, false);
      case "item.delta":
        return this.#delta(event.data.item_id, event.data.part_type, event.data.delta);
      case "item.completed":
        return this.#completed(event.data.item);
      case "session.status":
        if (event.data.status === "retrying" || event.data.status === "stalled" || event.data.status === "compacting")
          this.note(this.#paint.yellow(`${event.data.status}${event.data.detail ? `: ${exactLine(event.data.detail)}` : ""}`));
        return;
      case "error":
        return this.note(this.#paint.red(`${event.data.code}: ${exact(event.data.message)}`));
      case "agent.unparsed":
        return this.note(this.#paint.yellow(`not understood: ${exactLine(event.data.error)}`));
      case "session.ended":
        if (event.data.reason === "error") this.note(this.#paint.red(`session ended: ${exact(event.data.message ?? "error")}`));
        return;
      default:
        return this.#request(event);
    }
  }

  /** A line on stderr. */
  note(text: string, depth = 0): void {
    this.#text("err", `${indented(text, "  ".repeat(depth))}\n`, "note");
  }

  endLine(): void {
    if (this.#open !== null) (this.#open === "out" ? this.#out : this.#err).write("\n");
    this.#open = null;
  }

  #text(to: "out" | "err", text: string, kind: "text" | "note"): void {
    if (text === "") return;
    if (this.#open !== null && (this.#open !== to || kind === "note")) this.endLine();
    const apart = this.#spaced && this.#last !== null && this.#last !== kind ? "\n" : "";
    (to === "out" ? this.#out : this.#err).write(apart + text);
    this.#last = kind;
    this.#open = text.endsWith("\n") ? null : to;
  }

  #request(event: UniversalEvent): void {
    if (event.type === "permission.requested") {
      // What is asked for is known by now, whatever becomes of it.
      for (const [itemId, call] of this.#unannounced) this.#announce(itemId, call);
      if (this.#options.showRequests) this.note(this.#paint.yellow(`? ${exactLine(event.data.action)}`));
    }
    if (!this.#options.showRequests) return;
    if (event.type === "permission.resolved")
      this.note(this.#paint.dim(`  ${event.data.status}: ${exactLine(event.data.action)}`));
    if (event.type === "question.requested") this.note(this.#paint.yellow(`? ${exactLine(event.data.prompt)}`));
    if (event.type === "question.resolved")
      this.note(this.#paint.dim(`  ${event.data.status}${event.data.response ? `: ${exactLine(event.data.response)}` : ""}`));
  }

  #started(item: Item): void {
    const parent = item.parent_id === null ? undefined : this.#depths.get(item.parent_id);
    const depth = parent ? parent.depth + (parent.spawns ? 1 : 0) : 0;
    this.#depths.set(item.item_id, { depth, spawns: item.kind === "tool_call", parent: item.parent_id });
    if (item.kind === "message" && item.role !== "user") this.#messages.set(item.item_id, this.#message(depth));
    this.#plan(item);
    this.#call(item, false);
  }

  #message(depth: number): Message {
    const margin = "  ".repeat(depth);
    const thinking = new LineStream((line) => this.#paint.dim(`${margin}    ${line}`));
    const answer = depth === 0 ? (this.#options.answers?.() ?? new PlainStream()) : new LineStream((line) => margin + line);
    return { depth, answer, thinking, thought: false };
  }

  #delta(itemId: string, partType: string, delta: string): void {
    const message = this.#messages.get(itemId);
    if (!message) return;
    if (partType === "reasoning") {
      if (!message.thought) this.note(this.#paint.dim("• thinking"), message.depth);
      message.thought = true;
      return this.#text("err", message.thinking.push(delta), "note");
    }
    this.#text("err", message.thinking.end(), "note");
    // What a sub-agent says is no answer to the person.
    if (message.depth > 0) this.#text("err", message.answer.push(delta), "note");
    else this.#text("out", message.answer.push(delta), "text");
  }

  #completed(item: Item): void {
    const depth = this.#depth(item);
    this.#messageEnded(item);
    if (item.kind === "message" && item.role === "user" && item.parent_id === null) this.#user(item);
    this.#call(item, true);
    this.#plan(item);
    for (const part of item.content) {
      if (part.type === "tool_result") this.#result(part, depth);
      if (part.type === "file_ref" && part.diff) {
        const lines = diffLines(
          { path: part.path, diff: part.diff },
          this.#paint,
          this.#options.diffLines ?? Number.POSITIVE_INFINITY,
        );
        this.note(lines.map((line) => `    ${line}`).join("\n"), depth);
      }
      if (part.type === "image" || part.type === "audio") this.note(`[${part.type}: ${exactLine(part.path)}]`, depth);
    }
  }

  #messageEnded({ item_id }: Item): void {
    this.#saidSoFar(item_id);
    if (this.#messages.delete(item_id)) this.endLine();
  }

  /** What is held back of a message until its line or paragraph is whole. */
  #saidSoFar(itemId: string): void {
    const message = this.#messages.get(itemId);
    if (!message) return;
    this.#text("err", message.thinking.end(), "note");
    if (message.depth > 0) this.#text("err", message.answer.end(), "note");
    else this.#text("out", message.answer.end(), "text");
  }

  /** Items that come whole have no start of their own here. */
  #depth(item: Item): number {
    return this.#depths.get(item.item_id)?.depth ?? 0;
  }

  /** Says what a tool does as soon as that is known, once. `last`: nothing more will come. */
  #call(item: Item, last: boolean): void {
    const call = item.content.find((part) => part.type === "tool_call");
    if (item.kind !== "tool_call" || call?.type !== "tool_call") return;
    if (!this.#unannounced.has(item.item_id) && this.#running.has(call.call_id)) return;
    this.#unannounced.set(item.item_id, call);
    this.#running.set(call.call_id, call.tool_kind);
    if (last || isComplete(call)) this.#announce(item.item_id, call);
  }

  #announce(itemId: string, call: ToolCall): void {
    this.#unannounced.delete(itemId);
    const { depth, parent = null } = this.#depths.get(itemId) ?? {};
    // Its message may end only after the call.
    if (parent !== null) this.#saidSoFar(parent);
    this.note(this.#paint.cyan(`• ${callLine(call)}`), depth);
  }

  /** The whole plan when it is new; then only the entries that moved on. */
  #plan(item: Item): void {
    const plan = item.content.find((part) => part.type === "plan");
    if (plan?.type !== "plan") return;
    const before = this.#plans.get(item.item_id);
    this.#plans.set(item.item_id, plan.entries);
    const same = before?.length === plan.entries.length && before.every(({ text }, at) => plan.entries[at]?.text === text);
    const changed = same ? plan.entries.filter(({ status }, at) => before[at]?.status !== status) : plan.entries;
    if (changed.length === 0) return;
    const lines = changed.map((entry) => `  ${planLine(entry, this.#paint)}`);
    this.note([...(same ? [] : [this.#paint.cyan("• plan")]), ...lines].join("\n"), this.#depth(item));
  }

  #result(part: Parameters<typeof resultLines>[0], depth: number): void {
    for (const [itemId, call] of this.#unannounced) if (call.call_id === part.call_id) this.#announce(itemId, call);
    const colour = hasFailed(part) ? this.#paint.red : this.#paint.dim;
    for (const line of resultLines(part, this.#running.get(part.call_id))) this.note(colour(`    ${line}`), depth);
    this.#running.delete(part.call_id);
  }

  #user(item: Item): void {
    const said = item.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (said !== "" && this.#options.showUser?.(said)) this.note(this.#paint.bold(`> ${exact(said)}`));
  }
}

const indented = (text: string, margin: string): string => (margin === "" ? text : margin + text.replaceAll("\n", `\n${margin}`));
