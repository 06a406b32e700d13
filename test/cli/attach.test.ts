// `dragoman attach` in a real terminal: what a person sees, types and interrupts.

import { stripVTControlCharacters } from "node:util";
import { type IPty, spawn } from "@lydell/node-pty";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { SessionHandle } from "../../src/client/session-handle.ts";
import { CLI, cleanEnv, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { runProgram } from "./run-program.ts";

let dataDir: string;
let daemon: DaemonProcess;
const open = new Set<IPty>();
beforeAll(async () => {
  dataDir = temporaryDir("attach");
  daemon = await startDaemonProcess(dataDir);
}, 120_000);
afterEach(() => {
  for (const pty of open) pty.kill();
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

class Screen {
  readonly pty: IPty;
  readonly exit: Promise<number>;
  #text = "";
  #seen = 0;
  #waiting: (() => void)[] = [];

  constructor(session: SessionHandle, args: string[] = []) {
    this.pty = spawn(process.execPath, [CLI, "attach", session.id, ...args], {
      cols: 80,
      rows: 24,
      cwd: dataDir,
      env: { ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir, TERM: "xterm" },
    });
    open.add(this.pty);
    this.pty.onData((chunk) => {
      this.#text += chunk;
      for (const wake of this.#waiting.splice(0)) wake();
    });
    this.exit = new Promise((resolve) =>
      this.pty.onExit(({ exitCode }) => {
        open.delete(this.pty);
        resolve(exitCode);
      }),
    );
  }

  /** Waits until the words come, after those that were waited for last. */
  async sees(words: string): Promise<void> {
    for (;;) {
      const at = stripVTControlCharacters(this.#text).indexOf(words, this.#seen);
      if (at >= 0) {
        this.#seen = at + words.length;
        return;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  type(keys: string): void {
    this.pty.write(keys);
  }
}

const LEAVE = "\u0004";
const INTERRUPT = "\u0003";
const newSession = () => daemon.client.createSession({ agent: "mock", directory: dataDir });

describe("dragoman attach", { timeout: 60_000 }, () => {
  it("shows what was said, streams what comes, and leaves the session as it is", async () => {
    const session = await newSession();
    await session.prompt("say something old");
    const screen = new Screen(session);
    await screen.sees("> say something old");
    await screen.sees("something old");
    await screen.sees("Ctrl-D leaves");
    screen.type("say a brand new answer\r");
    await screen.sees("a brand new answer");
    await screen.sees("a brand new answer");
    screen.type(LEAVE);
    expect(await screen.exit).toBe(0);
    expect((await session.get()).status).toBe("idle");
  });

  it("asks permissions and questions, and keeps the half-typed message", async () => {
    const session = await newSession();
    await session.prompt("say ready");
    const screen = new Screen(session);
    await screen.sees("ready");
    await screen.sees("Ctrl-D");
    screen.type("say half");
    await screen.sees("say half");
    await session.send("ask touch b.txt");
    await screen.sees("Permission: Run: touch b.txt");
    await screen.sees("or type why not:");
    screen.type("y\r");
    await screen.sees("I ran it (once)");
    screen.type(" typed\r");
    await screen.sees("half typed");
    await session.send("question");
    await screen.sees("Which colour?");
    screen.type("2\r");
    await screen.sees("Which toppings?");
    screen.type("1, 2\r");
    await screen.sees("You chose Blue; Cheese and Basil.");
    screen.type(LEAVE);
    expect(await screen.exit).toBe(0);
  });

  it("takes a question back that was answered elsewhere", async () => {
    const session = await newSession();
    const screen = new Screen(session);
    await screen.sees("Ctrl-D");
    screen.type("ask\r");
    await screen.sees("or type why not:");
    const [permission] = (await session.pending()).permissions;
    await session.replyPermission(permission?.permission_id ?? "", { reply: "reject" });
    await screen.sees("Answered elsewhere.");
    await screen.sees("You said no.");
    screen.type(LEAVE);
    expect(await screen.exit).toBe(0);
  });

  it("interrupts the turn with Ctrl-C, and ends with the session", async () => {
    const session = await newSession();
    const screen = new Screen(session);
    await screen.sees("Ctrl-D");
    screen.type("hang\r");
    for await (const event of session.events()) if (event.type === "turn.started") break;
    await screen.sees("hang");
    screen.type(INTERRUPT);
    await screen.sees("Interrupting.");
    await screen.sees("The turn ended: interrupted.");
    screen.type(INTERRUPT);
    await screen.sees("Nothing runs.");
    await session.terminate();
    expect(await screen.exit).toBe(0);
  });

  it("[21] lets no escape sequence of the agent reach the terminal", async () => {
    const session = await newSession();
    const screen = new Screen(session);
    await screen.sees("Ctrl-D");
    await session.prompt("say \u001b]0;stolen\u0007safe");
    await screen.sees("safe");
    screen.type(LEAVE);
    expect(await screen.exit).toBe(0);
  });

  it("takes messages from a pipe, one a line", async () => {
    const session = await newSession();
    const env = { ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir };
    const ran = await runProgram(["attach", session.id], env, { input: "say one\nsay two\n" });
    expect(ran).toMatchObject({ code: 0, out: "one\ntwo\n" });
  });
});
