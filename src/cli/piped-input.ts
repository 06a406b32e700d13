// What is piped into a command. A shell's pipe or file is read to its end; a stdin that somebody merely left open must not hold a command that was given
// its prompt in words.
import { fstatSync } from "node:fs";
import type { Terminal } from "./command.ts";

const PATIENCE_MS = 3_000;

/** `needed`: nothing else says the prompt, so it is waited for however long it takes. */
export async function pipedInput(terminal: Terminal, needed: boolean): Promise<string> {
  const { stdin, stderr } = terminal;
  if (stdin.isTTY) return "";
  const mayLeave = !needed && !isPipeOrFile(stdin);
  let silent = true;
  let leave = (): void => {};
  const left = new Promise<"left">((resolve) => {
    leave = () => resolve("left");
  });
  const timer = setTimeout(() => {
    if (!silent) return;
    stderr.write(
      mayLeave
        ? "Nothing came on stdin: going on without it.\n"
        : "Waiting for stdin to end. Close it (</dev/null) when nothing is to come.\n",
    );
    if (mayLeave) leave();
  }, PATIENCE_MS);
  const read = async (): Promise<string> => {
    let text = "";
    for await (const chunk of stdin) {
      silent = false;
      text += String(chunk);
    }
    return text;
  };
  const text = await Promise.race([read(), left]);
  clearTimeout(timer);
  return text === "left" ? "" : text;
}

/** Programs that start others often leave them a socket nobody writes to; shells never do. */
function isPipeOrFile(stdin: Terminal["stdin"]): boolean {
  const fd = "fd" in stdin && typeof stdin.fd === "number" ? stdin.fd : undefined;
  if (fd === undefined) return true;
  try {
    const stat = fstatSync(fd);
    return stat.isFIFO() || stat.isFile();
  } catch {
    return true;
  }
}
