#!/usr/bin/env node
/** The command line's process: signals, the standard streams, and the exit code. Not here: what a call does (run-cli.ts). */
import { Output } from "./output.ts";
import { runCli } from "./run-cli.ts";

/** How long a command may take to clean up after the reader of its output has gone. */
const CLEAN_UP_MS = 5_000;

const stdout = new Output(process.stdout);
const stderr = new Output(process.stderr);
const interrupt = new AbortController();
let interrupted = false;
let readerGone = false;

/** The first one lets the command end as it should, the second ends the process. */
const onInterrupt = (): void => {
  if (interrupted) process.exit(130);
  interrupted = true;
  interrupt.abort();
};
process.on("SIGINT", onInterrupt);
process.on("SIGTERM", onInterrupt);

/** `dragoman run … | head`: no fault, but the command must still end its session. */
const onReaderGone = (error: NodeJS.ErrnoException): void => {
  if (error.code !== "EPIPE") process.exit(1);
  if (readerGone) return;
  readerGone = true;
  interrupt.abort();
  setTimeout(() => process.exit(0), CLEAN_UP_MS).unref();
};
process.stdout.on("error", onReaderGone);
process.stderr.on("error", onReaderGone);

process.on("uncaughtException", (error) => {
  // A command with a net of its own (serve) decides for itself.
  if (process.listenerCount("uncaughtException") > 1) return;
  stderr.write(`dragoman: ${error.stack ?? error.message}\n`);
  process.exit(1);
});

const code = await runCli(process.argv.slice(2), {
  stdout,
  stderr,
  stdin: process.stdin,
  env: process.env,
  cwd: process.cwd(),
  signal: interrupt.signal,
  interrupt: onInterrupt,
});
await Promise.all([stdout.flushed(), stderr.flushed()]);
// A command that is done is done: an idle keep-alive socket must not hold the process.
process.exit(readerGone ? 0 : code);
