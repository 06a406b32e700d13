/**
 * Prints a session's events for people: the answer as it streams, each tool with what it does and the end of its output, thinking dimmed. Not here: what
 * must not reach a terminal (output.ts), asking (ask.ts).
 */
import type { ToolKind } from "../schema/content.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import { exact, exactLine, type Output } from "./output.ts";
import { type Paint, paintFor } from "./style.ts";
import { callLine, isComplete, resultLines, type ToolCall } from "./tool-lines.ts";

type Target = Pick<Output, "write" | "isTTY">;

export type PrinterOptions = {
  /** Which messages of people are shown; default none: they have them before their eyes. */
  showUser?: (text: string) => boolean;
  /** Permissions and questions too, with their answers: for reading afterwards. */
  showRequests?: boolean;
};

export class EventPrinter {
  readonly #out: Target;
  readonly #err: Target;
  readonly #paint: Paint;
  readonly #options: PrinterOptions;
  readonly #kinds = new Map<string, Item["kind"] | "user">();
  /** Calls that are not announced yet because their arguments are not all there, by item. */
  readonly #unannounced = new Map<string, ToolCall>();
  /** Kinds of tools whose result is still to come, by call. */
  readonly #running = new Map<string, ToolKind | undefined>();
  /** The stream whose last line is not ended yet. */
  #open: "out" | "err" | null = null;

  /** Answers go to stdout, everything about how they came to be to stderr. Give the same for both to get one transcript. */
  constructor(terminal: { stdout: Target; stderr: Target; env: NodeJS.ProcessEnv }, options: PrinterOptions = {}) {
    this.#out = terminal.stdout;
    this.#err = terminal.stderr;
    this.#paint = paintFor(terminal.stderr, terminal.env);
    this.#options = options;
  }

  print(event: UniversalEvent): void {
    switch (event.type) {
      case "item.started":
        this.#kinds.set(event.data.item.item_id, event.data.item.role === "user" ? "user" : event.data.item.kind);
        return this.#call(event.data.item, false);
      case "item.updated":
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

  #request(event: UniversalEvent): void {
    if (event.type === "permission.requested") {
      // What is asked for is known by now, whatever becomes of it.
      this.#announceAll();
      if (this.#options.showRequests) this.note(this.#paint.yellow(`? ${exactLine(event.data.action)}`));
    }
    if (!this.#options.showRequests) return;
    if (event.type === "permission.resolved")
      this.note(this.#paint.dim(`  ${event.data.status}: ${exactLine(event.data.action)}`));
    if (event.type === "question.requested") this.note(this.#paint.yellow(`? ${exactLine(event.data.prompt)}`));
    if (event.type === "question.resolved")
      this.note(this.#paint.dim(`  ${event.data.status}${event.data.response ? `: ${exactLine(event.data.response)}` : ""}`));
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
    this.note(this.#paint.cyan(`• ${callLine(call)}`));
  }

  #announceAll(): void {
    for (const [itemId, call] of this.#unannounced) this.#announce(itemId, call);
  }

  #delta(itemId: string, partType: string, delta: string): void {
    if (this.#kinds.get(itemId) !== "message") return;
    const to = partType === "reasoning" ? "err" : "out";
    if (this.#open !== null && this.#open !== to) this.endLine();
    if (to === "err") this.#err.write(this.#paint.dim(delta));
    else this.#out.write(delta);
    this.#open = delta.endsWith("\n") ? null : to;
  }

  #completed(item: Item): void {
    if (item.kind === "message" && item.role !== "user") this.endLine();
    if (item.kind === "message" && item.role === "user" && item.parent_id === null) this.#user(item);
    this.#call(item, true);
    for (const part of item.content) {
      if (part.type === "tool_result") this.#result(part);
      if (part.type === "file_ref" && part.diff) this.note(exact(part.diff));
      if (part.type === "plan")
        this.note(part.entries.map((entry) => `${entry.status === "completed" ? "✔" : "▢"} ${exactLine(entry.text)}`).join("\n"));
      if (part.type === "image" || part.type === "audio") this.note(`[${part.type}: ${exactLine(part.path)}]`);
    }
    this.#kinds.delete(item.item_id);
  }

  #result(part: Parameters<typeof resultLines>[0]): void {
    for (const [itemId, call] of this.#unannounced) if (call.call_id === part.call_id) this.#announce(itemId, call);
    const failed = part.is_error === true || (part.exit_code != null && part.exit_code !== 0);
    const colour = failed ? this.#paint.red : this.#paint.dim;
    for (const line of resultLines(part, this.#running.get(part.call_id))) this.note(colour(`    ${line}`));
    this.#running.delete(part.call_id);
  }

  #user(item: Item): void {
    const said = item.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (said !== "" && this.#options.showUser?.(said)) this.note(this.#paint.bold(`> ${exact(said)}`));
  }

  /** A line on stderr. */
  note(line: string): void {
    this.endLine();
    this.#err.write(`${line}\n`);
  }

  endLine(): void {
    if (this.#open === "out") this.#out.write("\n");
    if (this.#open === "err") this.#err.write("\n");
    this.#open = null;
  }
}
