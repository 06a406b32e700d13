/**
 * Opens a file in the person's browser. Only ever a file: a program's arguments can be read by every user of the machine, so no link with a token may stand
 * there. Best effort: the link is printed anyway.
 */
import { existsSync } from "node:fs";

/** Does nothing for a file that is not on this machine. */
export function openBrowser(file: string | null): void {
  if (file === null || !existsSync(file)) return;
  const { spawn } = process.getBuiltinModule("node:child_process");
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  spawn(program, [file], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
