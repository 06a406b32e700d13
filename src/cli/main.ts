#!/usr/bin/env node
// The command line. Finds the command, parses its options, runs it, and turns faults into a sentence and an exit code.
import { runCli } from "./run-cli.ts";

const interrupt = new AbortController();
let asked = false;
const onSignal = (): void => {
  if (asked) process.exit(130);
  asked = true;
  interrupt.abort();
};
process.on("SIGINT", onSignal);
process.on("SIGTERM", onSignal);
// A reader that goes away (`dragoman logs | head`) is no fault.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));

process.exitCode = await runCli(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
  env: process.env,
  cwd: process.cwd(),
  signal: interrupt.signal,
});
// A command that is done is done: an idle keep-alive socket must not hold the process.
process.exit();
