// The SDK's child process, started by us: in its own process group and recorded, so that it is never left behind.
import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import { type AgentProcess, type ExitInfo, ProcessRegistry, type SpawnError, spawnAgent } from "../../../transports/index.ts";
import type { SpawnedProcess, SpawnRequest } from "./sdk-module.ts";

export type ChildHandlers = {
  processDir: string;
  onStderrLine(line: string): void;
  onExit(exit: ExitInfo): void;
  onSpawnError(error: SpawnError): void;
};

export class SdkChild extends EventEmitter implements SpawnedProcess {
  readonly stdout = new PassThrough();
  readonly stdin: Writable;
  readonly process: AgentProcess;
  exitCode: number | null = null;
  signalCode: string | null = null;
  killed = false;

  constructor({ command, args, cwd, env }: SpawnRequest, handlers: ChildHandlers) {
    super();
    this.process = spawnAgent({
      command,
      args,
      env,
      ...(cwd === undefined ? {} : { cwd }),
      recorder: new ProcessRegistry(handlers.processDir),
      onStdout: (chunk) => {
        if (!this.stdout.write(chunk)) this.process.pauseStdout();
      },
      onStderrLine: handlers.onStderrLine,
      onExit: (exit) => {
        this.exitCode = exit.code;
        this.signalCode = exit.signal;
        this.stdout.end();
        this.emit("exit", exit.code, exit.signal);
        handlers.onExit(exit);
      },
      onSpawnError: (error) => {
        this.stdout.end();
        this.emit("error", error);
        handlers.onSpawnError(error);
      },
    });
    const child = this.process;
    this.stdout.on("drain", () => child.resumeStdout());
    this.stdin = new Writable({
      write(chunk: Buffer, _encoding, done) {
        child.write(chunk);
        void child.drained().then(() => done());
      },
      final(done) {
        child.endStdin();
        done();
      },
    });
  }

  kill(signal: NodeJS.Signals): boolean {
    this.killed = true;
    return this.process.kill(signal);
  }
}
