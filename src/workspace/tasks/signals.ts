/** Names of signals: what a request may name, and which of them a terminal sends as a key. */
import { constants } from "node:os";
import { TaskError } from "./task-error.ts";

/** Typed on the terminal, they reach the foreground job, as Ctrl-C does; sent to the group, they would reach the shell. */
export const SIGNAL_KEYS: Partial<Record<NodeJS.Signals, string>> = { SIGINT: "\u0003", SIGQUIT: "\u001c" };

/** Ends the input of a program that reads lines from a terminal. */
export const END_OF_INPUT_KEY = "\u0004";

/** `SIGTERM` or `TERM`, in any case. Numbers are no names: they differ between systems. */
export function signalNamed(name: string): NodeJS.Signals {
  const upper = name.toUpperCase();
  const full = upper.startsWith("SIG") ? upper : `SIG${upper}`;
  if (isSignal(full)) return full;
  throw new TaskError(
    "unknown_signal",
    `${JSON.stringify(name.slice(0, 40))} is no signal of this system: use a name such as SIGINT or SIGTERM.`,
  );
}

const isSignal = (name: string): name is NodeJS.Signals => Object.hasOwn(constants.signals, name);
