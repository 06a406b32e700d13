// Opens a link in the person's browser. Best effort: the link is printed anyway.
import { spawn } from "node:child_process";

export function openBrowser(link: string): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  spawn(program, [link], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
