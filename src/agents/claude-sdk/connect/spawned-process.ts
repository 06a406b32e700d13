// The SDK's child process, started by us: in its own process group and recorded, so that it is never left behind.
import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { type ProcessEnd, type ProcessHandlers, type ProcessStart, RecordedProcess } from "../../kit/recorded-process.ts";
import type { SpawnedProcess, SpawnRequest } from "./sdk-module.ts";

/** Whom it is for. */
type Place = Pick<ProcessStart, "host" | "abandoned">;

export class SdkChild extends EventEmitter implements SpawnedProcess {
  readonly stdout = new PassThrough();
  readonly stdin: Writable;
  readonly process: RecordedProcess;
  exitCode: number | null = null;
  signalCode: string | null = null;
  killed = false;

  constructor({ command, args, cwd = ".", env }: SpawnRequest, { host, abandoned }: Place, handlers: ProcessHandlers) {
    super();
    const child = new RecordedProcess(
      { name: "The SDK's process", command, args, cwd, env, host, abandoned },
      { as: "bytes", onBytes: (chunk) => child.hold("sdk", !this.stdout.write(chunk)) },
      { ...handlers, onEnd: (end) => this.#ended(end, handlers) },
    );
    this.process = child;
    this.stdout.on("drain", () => child.hold("sdk", false));
    this.stdin = new Writable({
      write(chunk: Buffer, _encoding, done) {
        child.write(chunk);
        void child.drained().then(() => done());
      },
      final(done) {
        child.endInput();
        done();
      },
    });
  }

  #ended(end: ProcessEnd, handlers: ProcessHandlers): void {
    this.exitCode = end.exit?.code ?? null;
    this.signalCode = end.exit?.signal ?? null;
    this.stdout.end();
    if (end.exit) this.emit("exit", end.exit.code, end.exit.signal);
    else this.emit("error", end.error);
    handlers.onEnd?.(end);
  }

  kill(signal: NodeJS.Signals): boolean {
    this.killed = true;
    return this.process.kill(signal);
  }
}
