/**
 * The log's side of the background work: hands calls to the thread and resolves with its answers. The thread starts with the first call. One that dies fails
 * what it was asked; the next call starts another. From the sources there is no thread: the same work is done in this one.
 */
import { Worker } from "node:worker_threads";
import { builtFile } from "../../package-root.ts";
import { LogError, type LogErrorCode } from "../log-error.ts";
import { BACKGROUND_CALLS, type BackgroundPlace, type BackgroundWork, backgroundWork } from "./background-work.ts";

type Name = (typeof BACKGROUND_CALLS)[number];
export type Call = { id: number; name: Name; args: unknown[] };
export type Answer = { id: number; value: unknown } | { id: number; error: { code: LogErrorCode; message: string } };

type Waiting = { resolve(value: unknown): void; reject(error: LogError): void };

const PROGRAM = builtFile("log/sqlite/background-thread.js");
/** Threads load JavaScript only. */
const IN_A_THREAD = import.meta.url.endsWith(".js");

export type Background = { work: BackgroundWork; threaded: boolean };

export function openBackground(place: BackgroundPlace, program: URL | null = IN_A_THREAD ? PROGRAM : null): Background {
  if (program === null) return { work: backgroundWork(place), threaded: false };
  const thread = new BackgroundThread(place, program);
  const calls = BACKGROUND_CALLS.map((name) => [name, (...args: unknown[]) => thread.call(name, args)]);
  return { work: { ...Object.fromEntries(calls), close: () => thread.close() }, threaded: true };
}

class BackgroundThread {
  readonly #place: BackgroundPlace;
  readonly #program: URL;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #calls = 0;
  #closed = false;

  constructor(place: BackgroundPlace, program: URL) {
    this.#place = place;
    this.#program = program;
  }

  call(name: Name, args: unknown[]): Promise<unknown> {
    if (this.#closed) return Promise.reject(new LogError("log_closed", "The log is closed: dragoman is stopping."));
    return this.#ask(name, args);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#worker === null) return;
    await this.#ask("close", []).catch(() => undefined);
    await this.#worker?.terminate();
  }

  #ask(name: Name, args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const worker = this.#worker ?? this.#start();
      const call: Call = { id: ++this.#calls, name, args };
      this.#waiting.set(call.id, { resolve, reject });
      // Only what somebody waits for keeps the process alive.
      worker.ref();
      worker.postMessage(call);
    });
  }

  #start(): Worker {
    const worker = new Worker(this.#program, { workerData: this.#place, execArgv: [] });
    this.#worker = worker;
    worker.on("message", (answer: Answer) => this.#answered(worker, answer));
    worker.on("error", (error) => this.#died(worker, error.message));
    worker.on("exit", () => this.#died(worker, "it ended"));
    return worker;
  }

  #answered(worker: Worker, answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) worker.unref();
    if ("error" in answer) waiting?.reject(new LogError(answer.error.code, answer.error.message));
    else waiting?.resolve(answer.value);
  }

  #died(worker: Worker, reason: string): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const error = new LogError("write_failed", `The background thread of the log failed (${reason}). It is started again.`);
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
