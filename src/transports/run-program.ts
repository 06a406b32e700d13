/**
 * Runs a program to its end and gives back what it printed: for small questions such as `--version`. Bounded in time and in bytes, recorded like every other
 * process of an agent, and nothing it started is left.
 */
import type { ProcessRecorder } from "./agent-process.ts";
import { spawnAgent } from "./child-process.ts";

const MAX_OUTPUT_BYTES = 1024 * 1024;
const STOP_GRACE_MS = 500;

/** It did not answer in time: it may be slow, not broken. */
export class ProgramTimeout extends Error {}

export interface ProgramOptions {
  args: readonly string[];
  /** Programs load files of the directory they run in: never that of a session. */
  cwd: string;
  env: NodeJS.ProcessEnv;
  recorder?: ProcessRecorder;
  timeoutMs: number;
  maxOutputBytes?: number;
}

/** Its stdout. Rejects when it cannot be started, ends with another code than 0, takes too long or prints too much. */
export function runProgram(command: string, options: ProgramOptions): Promise<string> {
  const { args, cwd, env, recorder, timeoutMs, maxOutputBytes = MAX_OUTPUT_BYTES } = options;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let failure: Error | null = null;
    const giveUp = (why: Error): void => {
      failure ??= why;
      void child.stop(STOP_GRACE_MS);
    };
    const timer = setTimeout(
      () => giveUp(new ProgramTimeout(`${command} did not answer within ${timeoutMs / 1000} s.`)),
      timeoutMs,
    );
    const child = spawnAgent({
      command,
      args,
      cwd,
      env,
      ...(recorder === undefined ? {} : { recorder }),
      onStdout: (chunk) => {
        bytes += chunk.length;
        if (bytes <= maxOutputBytes) chunks.push(chunk);
        else giveUp(new Error(`${command} printed more than ${maxOutputBytes} bytes.`));
      },
      onSpawnError: (error) => {
        clearTimeout(timer);
        reject(error);
      },
      onExit: ({ code, signal, stderr }) => {
        clearTimeout(timer);
        if (failure !== null) return reject(failure);
        if (code === 0) return resolve(Buffer.concat(chunks).toString("utf8"));
        const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
        const said = (stderr.tail ?? stderr.head ?? "").trim();
        reject(new Error(`${command} ${how}.${said === "" ? "" : ` It said: ${said}`}`));
      },
    });
    child.endStdin();
  });
}
