// Prints a session's events for people: the answer as it streams, tools as single lines, thinking dimmed. Never lets an agent's escape codes through.
import type { UniversalEvent } from "../schema/event.ts";
import type { Item } from "../schema/item.ts";
import type { Terminal } from "./command.ts";
import { harmless, type Paint, paintFor } from "./style.ts";

export class EventPrinter {
  readonly #out: NodeJS.WritableStream;
  readonly #err: NodeJS.WritableStream;
  readonly #paint: Paint;
  readonly #kinds = new Map<string, Item["kind"] | "user">();
  /** The stream whose last line is not ended yet. */
  #open: "out" | "err" | null = null;

  readonly #showUser: ((text: string) => boolean) | undefined;

  /**
   * Answers go to stdout, everything about how they came to be to stderr, so that a pipe gets the answer alone. What people wrote is left out unless
   * `showUser` says yes to it.
   */
  constructor(terminal: Pick<Terminal, "stdout" | "stderr" | "env">, options: { showUser?: (text: string) => boolean } = {}) {
    this.#out = terminal.stdout;
    this.#err = terminal.stderr;
    this.#paint = paintFor(terminal.stderr, terminal.env);
    this.#showUser = options.showUser;
  }

  print(event: UniversalEvent): void {
    switch (event.type) {
      case "item.started":
        return this.#started(event.data.item);
      case "item.delta":
        return this.#delta(event.data.item_id, event.data.part_type, event.data.delta);
      case "item.completed":
        return this.#completed(event.data.item);
      case "session.status":
        if (event.data.status === "retrying" || event.data.status === "stalled" || event.data.status === "compacting")
          this.note(this.#paint.yellow(`${event.data.status}${event.data.detail ? `: ${harmless(event.data.detail)}` : ""}`));
        return;
      case "error":
        return this.note(this.#paint.red(`${event.data.code}: ${harmless(event.data.message)}`));
      case "agent.unparsed":
        return this.note(this.#paint.yellow(`not understood: ${harmless(event.data.error)}`));
      case "session.ended":
        if (event.data.reason === "error")
          this.note(this.#paint.red(`session ended: ${harmless(event.data.message ?? "error")}`));
        return;
      default:
        return;
    }
  }

  #started(item: Item): void {
    this.#kinds.set(item.item_id, item.role === "user" ? "user" : item.kind);
    const call = item.content.find((part) => part.type === "tool_call");
    if (item.kind === "tool_call" && call?.type === "tool_call")
      this.note(this.#paint.cyan(`• ${harmless(call.title ?? call.name)}`));
  }

  #delta(itemId: string, partType: string, delta: string): void {
    if (this.#kinds.get(itemId) !== "message") return;
    const to = partType === "reasoning" ? "err" : "out";
    if (this.#open !== null && this.#open !== to) this.endLine();
    if (to === "err") this.#err.write(this.#paint.dim(harmless(delta)));
    else this.#out.write(harmless(delta));
    this.#open = delta.endsWith("\n") ? null : to;
  }

  #completed(item: Item): void {
    if (item.kind === "message" && item.role !== "user") this.endLine();
    if (item.kind === "message" && item.role === "user" && item.parent_id === null) this.#user(item);
    for (const part of item.content) {
      if (part.type === "tool_result" && part.is_error)
        this.note(this.#paint.red(`  failed: ${harmless(part.output).split("\n")[0]?.slice(0, 200) ?? ""}`));
      if (part.type === "file_ref" && part.diff) this.note(harmless(part.diff));
      if (part.type === "plan")
        this.note(part.entries.map((entry) => `${entry.status === "completed" ? "✔" : "▢"} ${harmless(entry.text)}`).join("\n"));
      if (part.type === "image" || part.type === "audio") this.note(`[${part.type}: ${part.path}]`);
    }
    this.#kinds.delete(item.item_id);
  }

  #user(item: Item): void {
    const said = item.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (said !== "" && this.#showUser?.(said)) this.note(this.#paint.bold(`> ${harmless(said)}`));
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
