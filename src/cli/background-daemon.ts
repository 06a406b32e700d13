/**
 * The daemon in the background: started by a command that needs one, left running when the command ends, stopped by `dragoman stop`. What it says goes to
 * `daemon.log` in its data directory. Not here: the daemon in the foreground (commands/serve.ts).
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { discover } from "../client/discover.ts";
import { DragomanError } from "../client/error.ts";
import { processStart } from "../discovery/process-start.ts";
import { builtFile } from "../package-root.ts";

/** How much of the log of a daemon that did not start is shown. */
const TOLD_BYTES = 2_000;
/** How long another process that starts a daemon at the same moment may take. */
const OTHERS_START_MS = 20_000;
const LOOK_MS = 50;
/** A daemon that ends stops its agents first. */
const STOP_MS = 20_000;

export type RunningDaemon = { url: string; pid: number; started: boolean };

/** `args`: further options of `serve`. Resolves when a daemon answers, whoever started it. */
export async function startInBackground(dataDir: string, env: NodeJS.ProcessEnv, args: string[] = []): Promise<RunningDaemon> {
  const there = await discover(dataDir);
  if (there) return { url: there.url, pid: there.pid, started: false };
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const logFile = join(dataDir, "daemon.log");
  const log = openSync(logFile, "a", 0o600);
  const { spawn } = await import("node:child_process");
  const child = spawn(
    process.execPath,
    [fileURLToPath(builtFile("cli/main.js")), "serve", "--json", "--no-open", "--data-dir", dataDir, ...args],
    // It outlives this command and its terminal, and holds no directory of the person's.
    { detached: true, cwd: existsSync(homedir()) ? homedir() : dataDir, env, stdio: ["ignore", "pipe", log] },
  );
  closeSync(log);
  const line = await firstLine(child.stdout);
  child.stdout?.destroy();
  child.unref();
  if (line !== null) {
    const { url, pid } = JSON.parse(line) as { url: string; pid: number };
    return { url, pid, started: true };
  }
  // Two commands at once: the daemon of the other one has the data directory.
  const other = await until(
    () => discover(dataDir),
    OTHERS_START_MS,
    () => tailOf(logFile).includes("in use"),
  );
  if (other) return { url: other.url, pid: other.pid, started: false };
  throw new DragomanError("no_daemon", `The daemon did not start. ${tailOf(logFile) || "It said nothing."}\nIts log: ${logFile}`);
}

/** False when none runs. Resolves when its process is gone. */
export async function stopInBackground(dataDir: string): Promise<boolean> {
  const there = await discover(dataDir);
  if (!there) return false;
  process.kill(there.pid, "SIGTERM");
  const gone = await until(async () => (processStart(there.pid) === there.started ? undefined : true), STOP_MS);
  if (!gone) throw new DragomanError("unreachable", `The daemon (process ${there.pid}) did not end within ${STOP_MS / 1000} s.`);
  return true;
}

/** Null when it ends without one. */
async function firstLine(stream: Readable | null): Promise<string | null> {
  let text = "";
  for await (const chunk of stream ?? []) {
    text += String(chunk);
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end);
  }
  return null;
}

async function until<T>(
  look: () => Promise<T | undefined>,
  ms: number,
  worthwhile = (): boolean => true,
): Promise<T | undefined> {
  for (let waited = 0; waited < ms && worthwhile(); waited += LOOK_MS) {
    const found = await look();
    if (found !== undefined) return found;
    await delay(LOOK_MS);
  }
  return undefined;
}

function tailOf(file: string): string {
  try {
    return readFileSync(file, "utf8").slice(-TOLD_BYTES).trim();
  } catch {
    return "";
  }
}
