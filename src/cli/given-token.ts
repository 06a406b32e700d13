/**
 * The token a person gives the command line: a file, the environment, the keyring, or typed. An argument works too and is warned about, since every user of
 * the machine can read it. Not here: the token of the discovery file (client/discover).
 */
import { readFileSync } from "node:fs";
import { type Terminal, text, UsageError, type Values } from "./command.ts";

const WARNING =
  "dragoman: every user of this machine can read --token in the process list. Use --token-file <file> or DRAGOMAN_TOKEN instead.\n";

const CTRL_C = String.fromCharCode(3);
const CTRL_D = String.fromCharCode(4);
const BACKSPACE = String.fromCharCode(127);

/** Undefined: none was given. The first of --token-file, --token and DRAGOMAN_TOKEN counts. */
export function givenToken(values: Values, terminal: Terminal): string | undefined {
  const file = text(values, "token-file");
  if (file !== undefined) return readTokenFile(file);
  const argument = text(values, "token");
  if (argument === undefined) return terminal.env.DRAGOMAN_TOKEN || undefined;
  terminal.stderr.write(WARNING);
  return argument;
}

function readTokenFile(file: string): string {
  let token: string;
  try {
    token = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new UsageError(`--token-file ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (token === "") throw new UsageError(`--token-file ${file} is empty`);
  return token;
}

/** For a daemon that keeps no token on the disk: the keyring's, or what the person types. Undefined without a terminal. */
export async function tokenFromPerson(dataDir: string, terminal: Terminal): Promise<string | undefined> {
  return tokenFromKeyring(dataDir, terminal.env) ?? (await typedToken(terminal));
}

/** Put there with: secret-tool store --label=dragoman service dragoman data-dir <directory> */
function tokenFromKeyring(dataDir: string, env: NodeJS.ProcessEnv): string | undefined {
  const { spawnSync } = process.getBuiltinModule("node:child_process");
  const { status, stdout } = spawnSync("secret-tool", ["lookup", "service", "dragoman", "data-dir", dataDir], {
    env,
    encoding: "utf8",
    timeout: 10_000,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return status === 0 ? stdout.trim() || undefined : undefined;
}

/** Not shown while it is typed. Undefined: there is no terminal, or the person gave up. */
export async function typedToken({ stdin, stderr }: Terminal): Promise<string | undefined> {
  const { ReadStream } = await import("node:tty");
  if (!(stdin instanceof ReadStream && stderr.isTTY)) return undefined;
  // Before the question: what is pasted at once must not be shown either.
  stdin.setRawMode(true);
  stderr.write("Token of the daemon: ");
  const typed = await new Promise<string | undefined>((resolve) => {
    let text = "";
    const take = (chunk: Buffer): void => {
      for (const letter of chunk.toString()) {
        if (letter === "\r" || letter === "\n") return finish(text);
        if (letter === CTRL_C || letter === CTRL_D) return finish(undefined);
        text = letter === BACKSPACE ? text.slice(0, -1) : text + letter;
      }
    };
    const finish = (result: string | undefined): void => {
      stdin.off("data", take).pause();
      resolve(result);
    };
    stdin.on("data", take).resume();
  });
  stdin.setRawMode(false);
  stderr.write("\n");
  return typed?.trim() || undefined;
}
