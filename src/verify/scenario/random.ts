/**
 * Scenarios that nobody wrote: turns of random answers, with thinking, texts, commands and files in any order, several calls at once, failures of the provider,
 * answers of a person, and interrupts. The same seed gives the same scenario. What must come of it is only what holds for every agent; that the story keeps all
 * rules, that nothing is unparsed and that the ledger gives the same story again is checked of every scenario anyway.
 */
import type { Block, Fault, LogicalTool, ModelStep, PermissionReply, Scenario, Turn } from "../../agents/scenario.ts";
import { Dice } from "../dice.ts";

const MOST_TURNS = 3;
const MOST_STEPS = 4;
const MOST_CALLS = 3;
/** Texts that have been cut, joined, escaped or trimmed by somebody. */
const TRICKY = [
  "```sh\necho 'a \"quoted\" $HOME' \\\\\n```",
  "| a | b |\n| --- | --- |\n| 1 | 漢字 |",
  "Ünïcödé 😀👩‍👩‍👧 العربية",
  "<tag attr='1'>&amp; [link](http://127.0.0.1/) {\"json\": [1, null]}",
  "line one\n\n\n    indented\n\ttabbed",
  // No word twice: Gemini takes a text that repeats itself for a loop.
  Array.from({ length: 500 }, (_, at) => `long-${at * 7919}`).join(" "),
] as const;

/** The names of so many of them; each says its seed. */
export const randomNames = (count: number, seed: number): string[] =>
  Array.from({ length: count }, (_, index) => `random-${seed + index}`);

/** Undefined: it is not the name of a random scenario. */
export function randomScenario(name: string): Scenario | undefined {
  const seed = /^random-(\d{1,9})$/.exec(name)?.[1];
  return seed === undefined ? undefined : new Draw(Number(seed)).scenario();
}

/** What is drawn for one scenario. */
class Draw {
  readonly #seed: number;
  readonly #dice: Dice;
  readonly #files: Record<string, string> = {};
  readonly #tools = new Set<LogicalTool>();
  /** Texts that must be seen, and outputs that the model must get, unless something was cut, refused or failed. */
  readonly #texts: string[] = [];
  readonly #outputs: string[] = [];
  readonly #written: Record<string, string> = {};
  #marks = 0;
  #smooth = true;

  constructor(seed: number) {
    this.#seed = seed;
    this.#dice = new Dice(`scenario ${seed}`);
  }

  scenario(): Scenario {
    const asks = this.#dice.chance(0.3);
    const turns = Array.from({ length: this.#dice.upTo(MOST_TURNS) }, (_, index) => this.#turn(index));
    const replies = asks ? { replies: { permissions: this.#replies() } } : {};
    const session = { permission_mode: asks ? ("default" as const) : ("bypass" as const), files: this.#files };
    const expect = this.#smooth
      ? {
          turns: turns.length,
          stop_reason: "end_turn" as const,
          tools: [...this.#tools],
          seen_text: this.#texts,
          model_saw: this.#outputs,
          files: this.#written,
        }
      : {};
    const name = `random-${this.#seed}`;
    return { name, title: `a random one, seed ${this.#seed}`, tags: ["long"], turns, session, ...replies, expect };
  }

  #turn(index: number): Turn {
    const steps: ModelStep[] = [];
    for (let left = this.#dice.upTo(MOST_STEPS) - 1; left > 0; left -= 1) steps.push(...this.#working());
    const last = this.#text();
    steps.push(this.#step([...this.#thinking(), last]));
    const interrupted = this.#dice.chance(0.1);
    if (interrupted) this.#smooth = false;
    return {
      prompt: `Do what comes next (${this.#mark()}).`,
      steps,
      ...(index > 0 && this.#dice.chance(0.25) ? { delivery: { mode: "queue", when: { on: "request", step: 1 } } } : {}),
      ...(interrupted ? { actions: [{ do: "interrupt", when: { on: "request", step: this.#dice.upTo(steps.length) } }] } : {}),
    };
  }

  /** An answer with calls. A file is read in an answer of its own before it is changed: some agents insist on that. */
  #working(): ModelStep[] {
    const steps: ModelStep[] = [];
    const blocks: Block[] = [...this.#thinking(), ...(this.#dice.chance(0.6) ? [this.#text()] : [])];
    for (let calls = this.#dice.upTo(MOST_CALLS); calls > 0; calls -= 1) {
      const { before, call } = this.#call();
      if (before) steps.push(this.#step([before]));
      blocks.push(call);
    }
    return [...steps, this.#step(blocks)];
  }

  #step(blocks: Block[]): ModelStep {
    const fault = this.#dice.chance(0.06) ? this.#fault() : null;
    if (fault) this.#smooth = false;
    return {
      blocks,
      ...(fault ? { fault } : {}),
      ...(this.#dice.chance(0.3) ? { chunk_delay_ms: this.#dice.upTo(8) } : {}),
      ...(this.#dice.chance(0.3) ? { usage: this.#usage() } : {}),
    };
  }

  #usage() {
    const cached = this.#dice.chance(0.5) ? { cache_read: this.#dice.upTo(5_000) } : {};
    return { input: this.#dice.upTo(9_000), output: this.#dice.upTo(900), ...cached };
  }

  #fault(): Fault {
    const times = 1;
    const after_chunks = this.#dice.upTo(3);
    return this.#dice.of<Fault>([
      { kind: "http", status: 500, times },
      { kind: "http", status: 429, headers: { "retry-after": "0" }, times },
      { kind: "cut", after_chunks, times },
      { kind: "eof", after_chunks, times },
      { kind: "sse_error", after_chunks, times },
    ]);
  }

  #replies(): PermissionReply[] {
    const rejects = this.#dice.chance(0.4);
    if (rejects) this.#smooth = false;
    return Array.from({ length: this.#dice.upTo(4) }, () => ({
      reply: rejects && this.#dice.chance(0.5) ? "reject" : this.#dice.chance(0.8) ? "once" : "always",
    }));
  }

  #thinking(): Block[] {
    return this.#dice.chance(0.35)
      ? [{ type: "thinking", text: `Thinking ${this.#mark()}. ${this.#dice.words(30).trim()}.` }]
      : [];
  }

  #text(): Block {
    const text = `${this.#mark()} ${this.#dice.chance(0.5) ? this.#dice.of(TRICKY) : this.#dice.words(40)} end.`;
    this.#texts.push(text);
    return { type: "text", text, chunks: this.#dice.upTo(20) };
  }

  /** `before`: a call that the model has to make first. */
  #call(): { before?: Block; call: Block } {
    const mark = this.#mark();
    const path = `{{cwd}}/${mark}.txt`;
    const tool = (name: LogicalTool, input: Record<string, unknown>): Block => {
      this.#tools.add(name);
      return { type: "tool", name, input, ...(this.#dice.chance(0.5) ? { chunks: this.#dice.upTo(6) } : {}) };
    };
    const existing = (): string => {
      this.#files[`${mark}.txt`] = `first ${mark}\nsecond line\nthird 漢字\n`;
      return path;
    };
    const commands = [
      `echo out-${mark}`,
      `echo out-${mark}; exit 3`,
      `printf 'out-${mark}\\nÜ 漢 😀\\n'; echo oops 1>&2`,
      `sleep 0.2; echo out-${mark}`,
      `seq 1 400; echo out-${mark}`,
    ];
    return this.#dice.of([
      () => this.#shell(tool, this.#dice.of(commands), mark),
      () => this.#shell(tool, this.#dice.of(commands), mark),
      () => {
        this.#written[`${mark}.txt`] = `new ${mark}`;
        return { call: tool("write", { path, content: `new ${mark}\nmore 漢字 "quoted"\n` }) };
      },
      () => ({ call: tool("read", { path: existing() }) }),
      () => {
        const before = tool("read", { path: existing() });
        this.#written[`${mark}.txt`] = `changed ${mark}`;
        return { before, call: tool("edit", { path, old: `first ${mark}`, new: `changed ${mark}` }) };
      },
    ])();
  }

  #shell(tool: (name: LogicalTool, input: Record<string, unknown>) => Block, command: string, mark: string): { call: Block } {
    // Codex answers before a command has ended that takes long on a busy machine.
    if (!command.startsWith("sleep")) this.#outputs.push(`out-${mark}`);
    return { call: tool("shell", { command }) };
  }

  /** A word that is nowhere else in this scenario. */
  #mark(): string {
    this.#marks += 1;
    return `m${this.#seed}x${this.#marks}`;
  }
}
