/**
 * One pseudo-terminal: its master is read and written here, its slave is held open until everything was read. Without that, Node 20 takes the hang-up at the
 * end of the program for the end of the data and loses what was not read yet (libuv before 1.52). It starts no process.
 */

import { randomInt } from "node:crypto";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { ReadStream } from "node:tty";
import type { TerminalSize } from "../../schema/task.ts";
import { releaseDescriptor, withholdDescriptor } from "../../transports/index.ts";
import { ptyModule } from "./pty-module.ts";

/** A terminal informs nobody when its input has room again: it is tried anew after this time. */
const RETRY_MS = 10;
/** Output that was stopped (Ctrl-S) takes no marker: after this long without a byte, nothing more is in the line. */
const QUIET_MS = 1_000;
const NOTHING = Buffer.alloc(0);

export class PtyLine {
  /** Path of the slave. */
  readonly path: string;
  readonly #fd: number;
  readonly #master: ReadStream;
  readonly #slave: number;
  readonly #onData: (bytes: Buffer) => void;
  #input: Buffer[] = [];
  #inputBytes = 0;
  #retry: NodeJS.Timeout | null = null;
  #paused = false;
  #ending: Ending | null = null;
  #state: "open" | "lost" | "closed" = "open";

  /** The slave is ours alone at first: nobody can hang up before a program has it too. */
  constructor({ rows, cols }: TerminalSize, onData: (bytes: Buffer) => void) {
    this.#onData = onData;
    const { master, slave, pty } = ptyModule().open(cols, rows);
    withholdDescriptor(master);
    this.#fd = master;
    this.path = pty;
    try {
      // O_NOCTTY: a daemon that leads a session would get the task's terminal as its own. Opened by Node, it is close-on-exec.
      this.#slave = openSync(pty, constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK);
      this.#master = new ReadStream(master);
    } catch (error) {
      releaseDescriptor(master);
      closeSync(master);
      throw error;
    } finally {
      closeSync(slave);
    }
    this.#master.on("data", (bytes: Buffer) => this.#received(bytes));
    this.#master.on("error", () => this.#lost());
    this.#master.on("end", () => this.#lost());
  }

  get inputBacklog(): number {
    return this.#inputBytes;
  }

  /** Queues what the line does not take at once. Written with plain system calls: libuv would block on a program that does not read. */
  write(data: Buffer): boolean {
    if (this.#state !== "open" || this.#ending !== null) return false;
    this.#input.push(data);
    this.#inputBytes += data.length;
    this.#flush();
    return true;
  }

  resize({ rows, cols }: TerminalSize): void {
    if (this.#state === "open") ptyModule().resize(this.#fd, cols, rows);
  }

  pause(): void {
    this.#paused = true;
    this.#master.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#ending?.heard();
    this.#master.resume();
  }

  /**
   * Resolves when all that was written to the terminal was handed out. A marker is written behind it and read up to: what comes before the marker is all there
   * is. Call it when no program has the terminal any more.
   */
  drain(): Promise<void> {
    this.#dropInput();
    if (this.#state !== "open") return Promise.resolve();
    return new Promise((resolve) => {
      this.#ending = new Ending({
        write: (bytes) => writeSync(this.#slave, bytes),
        isPaused: () => this.#paused,
        finished: () => {
          const rest = this.#ending?.held ?? NOTHING;
          if (rest.length > 0) this.#onData(rest);
          resolve();
        },
      });
      this.#ending.start();
    });
  }

  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#dropInput();
    this.#ending?.finish();
    releaseDescriptor(this.#fd);
    this.#master.destroy();
    closeSync(this.#slave);
  }

  #received(bytes: Buffer): void {
    if (this.#state === "closed") return;
    const told = this.#ending === null ? bytes : this.#ending.received(bytes);
    if (told.length > 0) this.#onData(told);
    this.#ending?.finishIfFound();
  }

  /** Somebody hung the line up (vhangup): nothing more can be read. */
  #lost(): void {
    if (this.#state !== "open") return;
    this.#state = "lost";
    this.#dropInput();
    this.#ending?.finish();
  }

  #flush(): void {
    if (this.#retry !== null) return;
    for (let first = this.#input[0]; first !== undefined; first = this.#input[0]) {
      const taken = writeSome(this.#fd, first);
      if (taken === null) return this.#dropInput();
      this.#inputBytes -= taken;
      if (taken === first.length) this.#input.shift();
      else this.#input[0] = first.subarray(taken);
      if (taken > 0) continue;
      this.#retry = setTimeout(() => {
        this.#retry = null;
        this.#flush();
      }, RETRY_MS);
      return;
    }
  }

  #dropInput(): void {
    this.#input = [];
    this.#inputBytes = 0;
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
  }
}

/** 0: no room now. Null: the line is gone. */
function writeSome(fd: number, bytes: Buffer): number | null {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EAGAIN" ? 0 : null;
  }
}

/** The search for the marker at the end of the output. */
class Ending {
  /** Bytes that may be the beginning of the marker. */
  held: Buffer = NOTHING;
  /** Digits only: whatever the terminal does to output, it leaves digits as they are. */
  readonly #marker = Buffer.from(Array.from({ length: 24 }, () => String(randomInt(10))).join(""));
  readonly #line: { write(bytes: Buffer): number; isPaused(): boolean; finished(): void };
  #unwritten = this.#marker;
  #lastHeard = performance.now();
  #timer: NodeJS.Timeout | null = null;
  #found = false;
  #done = false;

  constructor(line: { write(bytes: Buffer): number; isPaused(): boolean; finished(): void }) {
    this.#line = line;
  }

  start(): void {
    this.#writeMarker();
    this.#timer = setInterval(() => this.#tick(), RETRY_MS);
  }

  heard(): void {
    this.#lastHeard = performance.now();
  }

  /** What of it surely is output. */
  received(bytes: Buffer): Buffer {
    this.heard();
    const all = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
    const at = all.indexOf(this.#marker);
    this.#found = at !== -1;
    const end = this.#found ? at : Math.max(0, all.length - this.#marker.length + 1);
    this.held = this.#found ? NOTHING : Buffer.from(all.subarray(end));
    return all.subarray(0, end);
  }

  finishIfFound(): void {
    if (this.#found) this.finish();
  }

  finish(): void {
    if (this.#done) return;
    this.#done = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#line.finished();
  }

  #tick(): void {
    if (this.#unwritten.length > 0) this.#writeMarker();
    if (!this.#line.isPaused() && performance.now() - this.#lastHeard > QUIET_MS) this.#giveUp();
  }

  /** After a blocked event loop timers run before pending reads: one turn lets those happen first. */
  #giveUp(): void {
    const { held } = this;
    setImmediate(() => {
      if (held === this.held && performance.now() - this.#lastHeard > QUIET_MS) this.finish();
    });
  }

  #writeMarker(): void {
    try {
      this.#unwritten = this.#unwritten.subarray(this.#line.write(this.#unwritten));
    } catch (error) {
      const full = error instanceof Error && "code" in error && error.code === "EAGAIN";
      if (!full) this.finish();
    }
  }
}
