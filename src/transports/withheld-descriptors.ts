/**
 * Descriptors of ours that no child process may inherit although they are not close-on-exec: the native pseudo-terminal module opens its masters without that
 * flag, and Node has no call that sets it. Every child would hold every terminal: it could read and write them, and none would close the connection when the daemon dies.
 * So a child gets `/dev/null` in their place. Not for descriptors that Node opened itself: those are close-on-exec.
 */
import type { StdioOptions } from "node:child_process";
import { closeSync, openSync } from "node:fs";

const withheld = new Set<number>();
let nothing: number | null = null;

/** From now on children do not get this descriptor. Call `releaseDescriptor` right before it is closed: its number will be used again. */
export function withholdDescriptor(fd: number): void {
  nothing ??= openSync("/dev/null", "r+");
  withheld.add(fd);
}

export function releaseDescriptor(fd: number): void {
  withheld.delete(fd);
  if (withheld.size > 0 || nothing === null) return;
  closeSync(nothing);
  nothing = null;
}

/** The `stdio` option of a child with these three streams. */
export function childStdio(streams: readonly ["pipe" | "ignore", "pipe" | "ignore", "pipe" | "ignore"]): StdioOptions {
  if (nothing === null) return [...streams];
  // "ignore" leaves a number above 2 as it is, which closes it when it is close-on-exec.
  const stdio: ("pipe" | "ignore" | number)[] = [...streams];
  for (let fd = streams.length; fd <= Math.max(...withheld); fd++) stdio.push(withheld.has(fd) ? nothing : "ignore");
  return stdio;
}
