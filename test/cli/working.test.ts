// What a person sees while an agent works: on a real terminal, read from its screen, and in a pipe.
import { stripVTControlCharacters } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { closeTerminals, INTERRUPT, LEAVE, TestTerminal } from "./terminal.ts";

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("working");
  daemon = await startDaemonProcess(dataDir);
});
afterEach(closeTerminals);
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const run = (args: string[]) => cli(dataDir, args);
const filled = (lines: string[]): string[] => lines.filter((line) => line !== "");

/** Runs a prompt on a terminal to its end, and gives what is left on the screen. */
async function onScreen(prompt: string, env: NodeJS.ProcessEnv = {}): Promise<{ lines: string[]; bytes: string }> {
  const terminal = new TestTerminal(dataDir, ["run", "mock", prompt], { env });
  expect(await terminal.exit).toBe(0);
  return { lines: filled(await terminal.screen()), bytes: terminal.bytes };
}

describe("an agent at work on a terminal", () => {
  it("is a line that moves, with what it does and since when, and leaves nothing behind", async () => {
    const terminal = new TestTerminal(dataDir, ["run", "mock", "hang"]);
    await terminal.sees("· 0 s · Ctrl-C stops");
    await terminal.sees("· 1 s · Ctrl-C stops");
    terminal.type(INTERRUPT);
    await terminal.sees("Stopping the turn. Ctrl-C again leaves at once.");
    expect(await terminal.exit).toBe(130);
    const lines = filled(await terminal.screen());
    expect(lines.filter((line) => line.includes("Ctrl-C stops"))).toEqual([]);
    expect(lines).toContain("Stopping the turn. Ctrl-C again leaves at once.");
  });

  it("shows commands with the end of their output, changes in colours, and the answer", async () => {
    const { lines, bytes } = await onScreen("shell npm test\nedit");
    expect(lines).toEqual(
      expect.arrayContaining(["I run a command.", "• shell: npm test", "    second line", "It worked.", "    hello.txt +1 −1"]),
    );
    expect(bytes).toContain("\u001b[32m+hello world");
    expect(bytes).toContain("\u001b[31m-");
  });

  it("shows a plan when it is made, and then what moves on", async () => {
    const { lines } = await onScreen("plan");
    expect(lines).toEqual([
      "• plan",
      "  ☐ Look",
      "  ☐ Change",
      "  ☐ Test",
      "  ✔ Look",
      "  ▸ Change",
      "  ▸ Test",
      "  ✔ Change",
      "  ✔ Test",
      "All three steps are done.",
    ]);
  });

  it("indents what a sub-agent does, which is no answer", async () => {
    const { lines } = await onScreen("subagent");
    expect(lines).toEqual(
      expect.arrayContaining(["• task: Look around", "  I am the sub-agent.", "  • shell: find .", "The sub-agent is back."]),
    );
    const { out, err } = await run(["run", "mock", "subagent"]);
    expect(out).toBe("The sub-agent is back.\n");
    expect(err).toContain("  I am the sub-agent.\n");
  });

  it("labels what it thinks", async () => {
    const { out, err } = await run(["run", "mock", "think", "about it"]);
    expect([out, err]).toEqual(["So that is the answer.\n", "• thinking\n    about it\n"]);
  });

  it("lays out Markdown, and gives a pipe and NO_COLOR the text as it is", async () => {
    const { lines, bytes } = await onScreen("markdown");
    expect(lines).toEqual(["Title", "bold and code", "• one", "• two", "    const answer = 42;", "name  value", "a     1"]);
    expect(bytes).toContain("\u001b[1mbold\u001b[22m");
    const { out } = await run(["run", "mock", "markdown"]);
    expect(out).toContain("# Title\n\n**bold** and `code`\n\n- one\n- two\n\n```ts\n");
    expect((await onScreen("markdown", { NO_COLOR: "1" })).lines).toEqual(filled(out.split("\n")));
  });

  it("[R3] obeys nothing that an agent says, in any of these places", async () => {
    const attack = "\u001b]0;stolen\u0007\u001b[2J\u009b3J\u001b[31;7H";
    for (const prompt of [`say **${attack}** \`${attack}\``, `shell ${attack}`, `think ${attack}`]) {
      const { bytes } = await onScreen(prompt);
      for (const sequence of ["\u001b]0", "\u001b[2J", "\u009b", "\u001b[31;7H"])
        expect([prompt, bytes.includes(sequence)]).toEqual([prompt, false]);
    }
  });

  it("offers the agent's own options of a permission", async () => {
    for (const [typed, said] of [
      ["3", "You said always."],
      ["5", "You said reject."],
      ["y", "You said once."],
    ] as const) {
      const terminal = new TestTerminal(dataDir, ["run", "mock", "options"]);
      await terminal.sees("2. Always allow commands that begin with `npm publish`");
      await terminal.sees("5. Refuse it from now on");
      await terminal.sees("or type why not:");
      terminal.type(`${typed}\r`);
      await terminal.sees(said);
      expect(await terminal.exit).toBe(0);
    }
  });

  it("asks no longer what was answered elsewhere", async () => {
    const terminal = new TestTerminal(dataDir, ["run", "mock", "ask touch x", "--title", "elsewhere"]);
    await terminal.sees("or type why not:");
    const [found] = (await daemon.client.sessions({ search: "elsewhere" })).sessions;
    const session = daemon.client.session(found?.session_id ?? "");
    const [permission] = (await session.pending()).permissions;
    await session.replyPermission(permission?.permission_id ?? "", { reply: "once" });
    await terminal.sees("I ran it (once)");
    expect(await terminal.exit).toBe(0);
  });
});

describe("attach", () => {
  const attach = async () => {
    const session = await daemon.client.createSession({ agent: "mock", directory: dataDir });
    const terminal = new TestTerminal(dataDir, ["attach", session.id]);
    await terminal.sees("/help lists commands");
    return { session, terminal };
  };

  it("breaks its own words between words, and cuts none of its help", async () => {
    const session = await daemon.client.createSession({ agent: "mock", directory: dataDir });
    const terminal = new TestTerminal(dataDir, ["attach", session.id], { columns: 60 });
    await terminal.sees("the session goes on.");
    terminal.type("/help\r");
    await terminal.sees("twice leaves.");
    // A note takes the place of the prompt.
    const lines = terminal.bytes.split("\r\n").map((line) => stripVTControlCharacters(line).replace(/^> /, ""));
    expect(lines.filter((line) => line.length > 60)).toEqual([]);
    expect(lines.join(" ").replace(/\s+/g, " ")).toContain("allow what is asked: once, or by the number of an option");
    terminal.type(LEAVE);
    expect(await terminal.exit).toBe(0);
  });

  it("has commands behind a slash", async () => {
    const { session, terminal } = await attach();
    terminal.type("/help\r");
    await terminal.sees("/approve [number]");
    terminal.type("/mode plan\r");
    await terminal.sees("Permission mode: plan.");
    expect((await session.get()).permission_mode).toBe("plan");
    terminal.type("/model\r");
    await terminal.sees("MODEL");
    terminal.type("/title A name\r");
    await terminal.sees("Renamed.");
    terminal.type("/status\r");
    await terminal.sees("A name");
    terminal.type("/sto\r");
    await terminal.sees("There is no command /sto. Did you mean /stop?");
    terminal.type("ask touch y\r");
    await terminal.sees("or type why not:");
    terminal.type("say later\r");
    await terminal.sees("You said no: say later.");
    terminal.type("ask touch z\r");
    await terminal.sees("or type why not:");
    terminal.type("/approve 2\r");
    await terminal.sees("I ran it (always)");
    terminal.type("/approve\r");
    await terminal.sees("Nothing waits for an answer.");
    terminal.type("/diff\r");
    await terminal.sees("No files changed.");
    terminal.type("/quit\r");
    await terminal.sees(`dragoman attach ${session.id}`);
    expect(await terminal.exit).toBe(0);
  });

  it("lists, sends and removes messages that wait, and stops the turn", async () => {
    const { session, terminal } = await attach();
    terminal.type("hang\r");
    await terminal.sees("· Ctrl-C stops");
    terminal.type("say later\r");
    await expect.poll(async () => (await session.get()).queued).toBe(1);
    terminal.type("/queue\r");
    await terminal.sees("PLACE  AGE");
    await terminal.sees("say later");
    terminal.type("/queue rm 0\r");
    await terminal.sees("Removed.");
    terminal.type("/stop\r");
    await terminal.sees("The turn ended: interrupted.");
    terminal.type(LEAVE);
    expect(await terminal.exit).toBe(0);
  });

  it("takes messages of several lines: Alt-Enter, Ctrl-J, a backslash at the end", async () => {
    const { session, terminal } = await attach();
    terminal.type("say a\u001b\rsay b\nsay c\\\r");
    await terminal.sees("… ");
    terminal.type("say d\r");
    await expect.poll(async () => (await session.items()).items.length).toBeGreaterThan(4);
    terminal.type(LEAVE);
    expect(await terminal.exit).toBe(0);
    const { items } = await session.items();
    expect(items[0]?.content).toEqual([{ type: "text", text: "say a\nsay b\nsay c\nsay d" }]);
  });

  it("is left by Ctrl-C twice", async () => {
    const { terminal } = await attach();
    terminal.type(INTERRUPT);
    await terminal.sees("Ctrl-C again, or Ctrl-D, leaves.");
    terminal.type(INTERRUPT);
    expect(await terminal.exit).toBe(0);
  });
});
