/** A task on pipes: stdout and stderr apart. Process groups, marks and records are those of all processes of the daemon. */
import { spawnAgent } from "../../transports/index.ts";
import { SHELL } from "./start-request.ts";
import type { Launch, ProcessListener, TaskProcess } from "./task-process.ts";

export function startPipes(launch: Launch, listener: ProcessListener, options: { stdin: boolean }): TaskProcess {
  const [command, ...args] = launch.argv;
  let inputOpen = options.stdin;
  const child = spawnAgent({
    command,
    args,
    cwd: launch.cwd,
    env: launch.env,
    recorder: launch.recorder,
    // A shell that cannot run a file as a program reads it as a script: only what is a shell already is started by one.
    entersGroup: command === SHELL,
    onStdout: (bytes) => listener.onOutput("stdout", bytes),
    onStderr: (bytes) => listener.onOutput("stderr", bytes),
    onStdinError: () => {
      inputOpen = false;
    },
    onExit: ({ code, signal }) => listener.onExit({ code, signal }),
    onSpawnError: (error) => listener.onSpawnError(error),
  });
  if (!options.stdin) child.endStdin();
  return {
    pid: child.pid,
    get inputBacklog() {
      return child.stdinBacklog;
    },
    write: (data) => {
      // The answer of `write` is about its queue, which the task measures itself.
      if (inputOpen) child.write(data);
      return inputOpen;
    },
    endInput: () => {
      inputOpen = false;
      child.endStdin();
    },
    pause: () => child.pauseStdout(),
    resume: () => child.resumeStdout(),
    signal: (name) => child.kill(name),
    stop: (graceMs) => void child.stop(graceMs),
  };
}
