#!/usr/bin/env node
// The mock agent: a real child process that speaks NDJSON on its pipes and acts out what it is asked to do. For demos, tests and benchmarks; it runs nothing.
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Ending, type Stage, say } from "./acts/stage.ts";
import { acts, help, tour } from "./acts.ts";
import type { MockCommand, MockEvent } from "./translate/wire.ts";

class Interrupted extends Error {}

const memoryDir = process.env.MOCK_AGENT_MEMORY;
const resumed = argument("--resume");
const session = resumed && argument("--fork") === undefined ? resumed : randomUUID();
const memory = new Set<string>(resumed ? remembered(resumed) : []);

/** What a running turn waits for. */
const waiting = new Map<string, { resolve(value: never): void; reject(error: Error): void }>();
const prompts: Extract<MockCommand, { type: "prompt" }>[] = [];
let counter = 0;
let turn: AbortController | null = null;
/** A message has steered the turn. */
let steered = false;

function argument(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : (process.argv[at + 1] ?? "");
}

function remembered(id: string): string[] {
  const file = memoryDir && join(memoryDir, `${id}.json`);
  return file && existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as string[]) : [];
}

function remember(text: string): void {
  memory.add(text);
  if (!memoryDir) return;
  mkdirSync(memoryDir, { recursive: true });
  writeFileSync(join(memoryDir, `${session}.json`), JSON.stringify([...memory]));
}

const emit = (event: MockEvent): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

const interruptible = <T>(id: string, begin: (resolve: (value: T) => void) => void): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    begin(resolve);
  }).finally(() => waiting.delete(id));

const stage: Stage = {
  emit,
  raw: (line) => void process.stdout.write(line),
  stderr: (line) => void process.stderr.write(`${line}\n`),
  id: () => `${session.slice(0, 4)}-${++counter}`,
  remembered: () => [...memory],
  exit: (code) => process.exit(code),
  wait: (ms) =>
    interruptible(`wait-${++counter}`, (resolve: (value: undefined) => void) => void setTimeout(resolve, ms, undefined).unref()),
  steered: () => (steered ? Promise.resolve() : interruptible<void>(`wait-steer-${++counter}`, () => {})),
  ask: (question) => interruptible(question.id, () => emit(question)),
  answer: (question) => interruptible(question.id, () => emit(question)),
  later(ms, act) {
    setTimeout(() => void ownTurn(act), ms);
  },
  async flood(count, make) {
    const batch = 500;
    for (let i = 0; i < count; i += batch) {
      let text = "";
      for (let j = i; j < Math.min(count, i + batch); j++) text += `${JSON.stringify(make(j))}\n`;
      if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once("drain", resolve));
      if (turn?.signal.aborted) throw new Interrupted();
    }
  },
};

async function play(text: string): Promise<void> {
  for (const line of text
    .split("\n")
    .map((part) => part.trim())
    .filter(Boolean)) {
    const [name = "", ...rest] = line.split(" ");
    const act = Object.hasOwn(acts, name) ? acts[name] : undefined;
    if (name === "help") await say(stage, help());
    else if (name === "all") for (const each of tour) await acts[each]?.play(stage, "");
    else if (act) await act.play(stage, rest.join(" "));
    else await say(stage, `You said: ${line}`);
  }
}

/** One turn, with the end it comes to. */
async function inTurn(by: "client" | "self", act: () => Promise<void>): Promise<void> {
  turn = new AbortController();
  steered = false;
  emit({ type: "turn", id: `turn-${++counter}`, by });
  const usage = { input_tokens: 100, output_tokens: 20 };
  try {
    await act();
    emit({ type: "done", reason: "end_turn", usage });
  } catch (error) {
    if (error instanceof Ending)
      emit({ type: "done", reason: error.reason, usage, ...(error.code ? { code: error.code as never } : {}) });
    else if (error instanceof Interrupted) emit({ type: "done", reason: "interrupted" });
    else {
      emit({ type: "fault", message: String(error), code: "execution_error", retryable: false });
      emit({ type: "done", reason: "error", code: "execution_error" });
    }
  }
  turn = null;
  next();
}

const ownTurn = async (act: () => Promise<void>): Promise<void> => {
  if (turn) setTimeout(() => void ownTurn(act), 10);
  else await inTurn("self", act);
};

function next(): void {
  const prompt = prompts.shift();
  if (!prompt) return;
  remember(prompt.text);
  void inTurn("client", () => play(prompt.text));
}

function interrupt(): void {
  turn?.abort();
  for (const [id, { reject }] of [...waiting]) {
    if (!id.startsWith("wait-")) emit({ type: "withdrawn", id });
    reject(new Interrupted());
  }
}

function take(command: MockCommand): void {
  switch (command.type) {
    case "prompt":
      prompts.push(command);
      if (!turn) next();
      return;
    case "steer":
      remember(command.text);
      steered = true;
      void say(stage, `Steered: ${command.text}`);
      for (const [id, { resolve }] of waiting) if (id.startsWith("wait-steer-")) resolve(undefined as never);
      return;
    case "interrupt":
      return interrupt();
    case "configure": {
      const { type: _, ...change } = command;
      return emit({ type: "event", event: { type: "config.changed", data: change } });
    }
    case "permission_reply":
      return waiting.get(command.id)?.resolve({ reply: command.reply, message: command.message, input: command.input } as never);
    case "question_reply":
      return waiting.get(command.id)?.resolve(command.answers as never);
    default:
      command satisfies never;
  }
}

/** A real agent would obey its directory's settings; this one only says that it has read them. */
const settings = process.env.MOCK_AGENT_SETTINGS;
if (settings && existsSync(settings)) process.stderr.write(`mock: loaded ${settings}\n`);
emit({ type: "hello", session, resumed: resumed !== undefined, remembered: memory.size });
createInterface({ input: process.stdin })
  .on("line", (line) => {
    try {
      take(JSON.parse(line) as MockCommand);
    } catch (error) {
      process.stderr.write(`mock: not a command: ${String(error)}\n`);
    }
  })
  .on("close", () => process.exit(0));
