// `dragoman attach` in a real terminal: what a person sees, types and interrupts.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { SessionHandle } from "../../src/client/session-handle.ts";
import { cleanEnv, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { runProgram } from "./run-program.ts";
import { closeTerminals, INTERRUPT, LEAVE, TestTerminal } from "./terminal.ts";

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("attach");
  daemon = await startDaemonProcess(dataDir);
});
afterEach(closeTerminals);
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

class Screen extends TestTerminal {
  constructor(session: SessionHandle, args: string[] = []) {
    super(dataDir, ["attach", session.id, ...args]);
  }
}

const newSession = () => daemon.client.createSession({ agent: "mock", directory: dataDir });

describe("dragoman attach", () => {
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

  it("completes @path with the files of the directory", async () => {
    const session = await newSession();
    await session.prompt("say ready");
    await session.files.write("unmistakable-name.txt", "x");
    const screen = new Screen(session);
    await screen.sees("Ctrl-D");
    screen.type("say @unmis\t");
    await screen.sees("say @unmistakable-name.txt ");
    screen.type("is there\r");
    await screen.sees("@unmistakable-name.txt is there");
    screen.type(LEAVE);
    expect(await screen.exit).toBe(0);
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
    await screen.sees("Stopping the turn.");
    await screen.sees("The turn ended: interrupted.");
    screen.type(INTERRUPT);
    await screen.sees("Nothing runs.");
    await session.terminate();
    expect(await screen.exit).toBe(0);
  });

  it("[R3] lets no escape sequence of the agent reach the terminal", async () => {
    const session = await newSession();
    const screen = new Screen(session);
    await screen.sees("Ctrl-D");
    await session.prompt("say \u001b]0;stolen\u0007safe\u001b[31;7Hmoved");
    await screen.sees("safe");
    await screen.sees("moved");
    await session.send("ask rm \u202egnp.\u001b]52;c;eA==\u0007");
    await screen.sees("⟦U+202E⟧gnp.␛]52;c;eA==␇");
    await screen.sees("or type why not:");
    screen.type("n\r");
    await screen.sees("You said no.");
    screen.type(LEAVE);
    expect(await screen.exit).toBe(0);
    expect(screen.bytes).not.toContain("\u001b]");
    expect(screen.bytes).not.toContain("\u001b[31;7H");
  });

  it("sends a pasted text of several lines as one message", async () => {
    const session = await newSession();
    const screen = new Screen(session);
    await screen.sees("Ctrl-D");
    screen.type("\u001b[200~say first\nsay second\r\nsay third\n\u001b[201~");
    await screen.sees("third");
    screen.type("\r");
    await screen.sees("third");
    screen.type(LEAVE);
    expect(await screen.exit).toBe(0);
    const { events } = await session.page({ limit: 1000 });
    expect(events.filter((event) => event.type === "turn.started")).toHaveLength(1);
    const [item] = events.flatMap((event) => (event.type === "item.completed" ? [event.data.item] : []));
    expect(item?.content).toEqual([{ type: "text", text: "say first\nsay second\nsay third" }]);
  });

  it("asks again after a number that is no option, where own words are not offered", async () => {
    const session = await newSession();
    const screen = new Screen(session);
    await screen.sees("Ctrl-D");
    await session.send("question");
    await screen.sees("Which colour?");
    screen.type("1\r");
    await screen.sees("Which toppings?");
    screen.type("1,7\r");
    await screen.sees("Choose 1 to 2");
    screen.type("1,2\r");
    await screen.sees("You chose Red; Cheese and Basil.");
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
