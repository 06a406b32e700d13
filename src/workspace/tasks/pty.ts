/**
 * A task in a pseudo-terminal. The process is started like any other of the daemon, as the leader of a session; a shell then opens the terminal, which becomes
 * the session's own, and gives its place to the program.
 */

import type { TerminalSize } from "../../schema/task.ts";
import { spawnAgent } from "../../transports/index.ts";
import { PtyLine } from "./pty-line.ts";
import { END_OF_INPUT_KEY, SIGNAL_KEYS } from "./signals.ts";
import { SHELL } from "./start-request.ts";
import type { Launch, ProcessListener, TaskProcess } from "./task-process.ts";

/** `<` opens it first: the first terminal that a session leader opens is the controlling one. */
const ENTER_TERMINAL = 'line=$1; shift; exec "$@" <"$line" >"$line" 2>&1';
/** Interactive shells ignore SIGTERM. When it did not help, they get what a closed terminal sends: they end and pass it on to their jobs. */
const HANGUP_MS = 200;

export interface PtyProcess extends TaskProcess {
  resize(size: TerminalSize): void;
}

/** Throws `pty_unavailable`. */
export function startPty(launch: Launch, listener: ProcessListener, size: TerminalSize): PtyProcess {
  const line = new PtyLine(size, (bytes) => listener.onOutput("pty", bytes));
  const child = spawnAgent({
    command: SHELL,
    args: ["-c", ENTER_TERMINAL, SHELL, line.path, ...launch.argv],
    cwd: launch.cwd,
    env: launch.env,
    recorder: launch.recorder,
    entersGroup: true,
    // Only what the shell says when it cannot open the terminal.
    onStdout: () => {},
    onStderr: (bytes) => listener.onOutput("pty", bytes),
    onExit: ({ code, signal }) => {
      void line.drain().then(() => {
        line.close();
        listener.onExit({ code, signal });
      });
    },
    onSpawnError: (error) => {
      line.close();
      listener.onSpawnError(error);
    },
  });
  child.endStdin();
  const press = (key: string): boolean => line.write(Buffer.from(key));
  return {
    pid: child.pid,
    get inputBacklog() {
      return line.inputBacklog;
    },
    write: (data) => line.write(data),
    endInput: () => void press(END_OF_INPUT_KEY),
    pause: () => line.pause(),
    resume: () => line.resume(),
    resize: (to) => line.resize(to),
    signal: (name) => {
      const key = SIGNAL_KEYS[name];
      return key === undefined ? child.kill(name) : press(key);
    },
    stop: (graceMs) => {
      void child.stop(graceMs);
      setTimeout(() => child.kill("SIGHUP"), HANGUP_MS).unref();
    },
  };
}
