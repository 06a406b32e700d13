/** Helpers for the tests of this room: real child processes, and waiting for what they do. Not part of the product. */
import { setTimeout as delay } from "node:timers/promises";
import type { AgentProcess, ExitInfo, SpawnAgentOptions } from "./agent-process.ts";
import { spawnAgent } from "./child-process.ts";
import { type ProcessRow, readProcess, signalSame } from "./process-table.ts";
import type { SpawnError } from "./spawn-error.ts";

export interface Started {
  child: AgentProcess;
  exits: ExitInfo[];
  exited: Promise<ExitInfo>;
  failed: Promise<SpawnError>;
  stdout(): string;
  /** Resolves when stdout so far matches. */
  said(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Starts `node -e script`. */
export function startNode(script: string, options: Partial<SpawnAgentOptions> = {}): Started {
  return start({ command: process.execPath, args: ["-e", script], ...options });
}

export function start(options: Partial<SpawnAgentOptions> & { command: string }): Started {
  let text = "";
  let listener: () => void = () => {};
  const exits: ExitInfo[] = [];
  let onExited: (exit: ExitInfo) => void = () => {};
  let onFailed: (error: SpawnError) => void = () => {};
  const exited = new Promise<ExitInfo>((resolve) => {
    onExited = resolve;
  });
  const failed = new Promise<SpawnError>((resolve) => {
    onFailed = resolve;
  });
  const child = spawnAgent({
    args: [],
    onStdout: (chunk) => {
      text += chunk.toString("latin1");
      listener();
    },
    onExit: (exit) => {
      exits.push(exit);
      onExited(exit);
    },
    onSpawnError: (error) => onFailed(error),
    ...options,
  });
  if (child.pid !== null) noteStrays(child.pid);
  const said = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve) => {
      listener = () => {
        const match = pattern.exec(text);
        if (match === null) return;
        if (pattern === PIDS) noteStrays(Number(match[1]), Number(match[2]));
        resolve(match);
      };
      listener();
    });
  return { child, exits, exited, failed, stdout: () => text, said };
}

const strays: ProcessRow[] = [];

/** Processes to end after the test, should it fail to. */
export function noteStrays(...pids: number[]): void {
  strays.push(...pids.flatMap((pid) => readProcess(pid) ?? []));
}

export function endStrays(): void {
  for (const row of strays.splice(0)) signalSame(row, "SIGKILL");
}

export function isAlive(pid: number): boolean {
  const row = readProcess(pid);
  return row !== null && !row.zombie;
}

/** Fails by the test's own time limit. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await delay(5);
}

/** Matches once both processes of `withGrandchild` are up; captures their pids. */
export const PIDS = /^(?=[\s\S]*up\n)[\s\S]*pids (\d+) (\d+)\n/;

/** A program that starts a grandchild which ignores SIGTERM and holds the pipes, prints `pids <own> <grandchild>`, then does `rest`. */
export function withGrandchild(rest: string, spawnOptions = '{ stdio: "inherit" }'): string {
  const grandchild = 'process.on("SIGTERM", () => {}); process.stdout.write("up\\n"); setInterval(() => {}, 1000)';
  return `
    const { spawn } = require("node:child_process");
    const inner = spawn(process.execPath, ["-e", ${JSON.stringify(grandchild)}], ${spawnOptions});
    process.stdout.write("pids " + process.pid + " " + inner.pid + "\\n");
    ${rest}`;
}
