/** What the agent does right now, in the one line that moves while it works. Not here: what is printed for good (event-printer.ts). */
import type { UniversalEvent } from "../schema/event.ts";
import type { Paint } from "./style.ts";
import { callLine, outputTail } from "./tool-lines.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 120;
const OUTPUT_LINES = 3;
/** So much of a running command's output is looked at for its last lines. */
const OUTPUT_CHARACTERS = 2_000;

export class Activity {
  /** When the running turn began; null between turns. */
  #since: number | null = null;
  #what = "working";
  #waiting = 0;
  /** What tools that run do, by call; the last one is shown. */
  readonly #tools = new Map<string, string>();
  /** The output of running commands, by item. */
  readonly #outputs = new Map<string, string>();

  take(event: UniversalEvent): void {
    switch (event.type) {
      case "turn.started":
        this.#since = Date.parse(event.time);
        this.#what = "working";
        return;
      case "turn.ended":
      case "session.ended":
        return this.#ended();
      case "permission.requested":
      case "question.requested":
        this.#waiting += 1;
        return;
      case "permission.resolved":
      case "question.resolved":
        this.#waiting = Math.max(0, this.#waiting - 1);
        return;
      case "session.status":
        if (["retrying", "compacting", "stalled"].includes(event.data.status)) this.#what = event.data.status;
        return;
      case "item.delta":
        return this.#delta(event.data);
      case "item.started":
      case "item.updated":
      case "item.completed":
        return this.#item(event.data.item, event.type === "item.completed");
    }
  }

  /** Nothing between turns and while a person is asked. */
  lines(now: number, paint: Paint): string[] {
    if (this.#since === null || this.#waiting > 0) return [];
    const output = [...this.#outputs.values()].at(-1);
    const what = [...this.#tools.values()].at(-1) ?? this.#what;
    const frame = FRAMES[Math.floor(now / FRAME_MS) % FRAMES.length] ?? "";
    return [
      ...(output === undefined ? [] : outputTail(output, OUTPUT_LINES).map((line) => paint.dim(`    ${line}`))),
      `${paint.cyan(frame)} ${what} ${paint.dim(`· ${elapsed(now - this.#since)} · Ctrl-C stops`)}`,
    ];
  }

  #ended(): void {
    this.#since = null;
    this.#waiting = 0;
    this.#tools.clear();
    this.#outputs.clear();
  }

  #delta({ item_id, part_type, delta }: Extract<UniversalEvent, { type: "item.delta" }>["data"]): void {
    if (part_type === "tool_output")
      this.#outputs.set(item_id, `${this.#outputs.get(item_id) ?? ""}${delta}`.slice(-OUTPUT_CHARACTERS));
    if (part_type === "reasoning") this.#what = "thinking";
    if (part_type === "text") this.#what = "writing";
  }

  #item(item: Extract<UniversalEvent, { type: "item.started" }>["data"]["item"], completed: boolean): void {
    for (const part of item.content) {
      if (part.type === "tool_call" && !completed) this.#tools.set(part.call_id, callLine(part));
      if (part.type === "tool_result" && completed) {
        this.#tools.delete(part.call_id);
        this.#what = "working";
      }
    }
    if (completed) this.#outputs.delete(item.item_id);
  }
}

/** `1:05` from a minute on, `12 s` before. */
function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} min`;
}
