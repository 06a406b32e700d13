// How the command line speaks: lists of sessions, help at any width, errors in its own words, a choice where nothing was named.
import { stripVTControlCharacters } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { closeTerminals, INTERRUPT, TestTerminal } from "./terminal.ts";

const ENTER = "\r";

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("words");
  daemon = await startDaemonProcess(dataDir);
});
afterEach(closeTerminals);
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const run = (args: string[]) => cli(dataDir, args);
const filled = (lines: string[]): string[] => lines.filter((line) => line !== "");
const newSession = (title: string) => daemon.client.createSession({ agent: "mock", title, directory: dataDir });

describe("help", () => {
  it("of a word that begins several commands shows all of them, asked for in any way", async () => {
    const asked = await run(["help", "nodes"]);
    expect(asked.out).toContain("dragoman nodes fence <node>");
    for (const option of ["--help", "-h"]) expect(await run(["nodes", option])).toEqual(asked);
  });
});

describe("ls", () => {
  it("lists the living, the last written first, and all with -a", async () => {
    const [one, two, gone] = [await newSession("one"), await newSession("two"), await newSession("gone")];
    await gone.prompt("say bye");
    await gone.terminate();
    await one.prompt("say hello");
    const titles = async (...args: string[]) =>
      (await run(["ls", "--json", ...args])).out
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { title: string }).title);
    expect(await titles()).toEqual(["one", "two"]);
    expect(await titles("-a")).toEqual(["one", "gone", "two"]);
    expect(await titles("--status", "ended")).toEqual(["gone"]);
    await two.terminate();
    await one.terminate();
    expect((await run(["ls"])).out).toContain("No session is open.");
  });

  it("follows what happens with --watch, in its place, until Ctrl-C", async () => {
    const session = await newSession("watched");
    const terminal = new TestTerminal(dataDir, ["ls", "--watch"]);
    await terminal.sees("idle");
    await session.send("hang");
    await terminal.sees("running");
    const lines = filled(await terminal.screen());
    expect(lines.filter((line) => line.startsWith("SESSION"))).toHaveLength(1);
    expect(lines.filter((line) => line.includes("watched"))).toHaveLength(1);
    terminal.type(INTERRUPT);
    expect(await terminal.exit).toBe(0);
    await session.terminate();
    expect((await run(["ls", "--watch"])).err).toContain("--watch needs a terminal");
  });
});

describe("the width of the screen", () => {
  it("is kept by tables and help", async () => {
    const session = await newSession(`a title ${"that goes on ".repeat(12)}`);
    for (const columns of [40, 50, 80, 120])
      for (const args of columns === 40 ? [["ls"], ["help"]] : [["ls"], ["help"], ["help", "run"], ["agents"]]) {
        const terminal = new TestTerminal(dataDir, args, { columns });
        expect(await terminal.exit).toBe(0);
        const lines = terminal.bytes.split("\r\n").map((line) => stripVTControlCharacters(line));
        expect([columns, args, lines.filter((line) => line.length > columns)]).toEqual([columns, args, []]);
      }
    expect((await run(["help"])).out.split("\n").filter((line) => line.length > 80)).toEqual([]);
    // A pipe is read by programs: nothing is cut.
    expect((await run(["ls"])).out).toContain("that goes on that goes on that goes on that goes on that goes on");
    await session.terminate();
  });
});

describe("errors", () => {
  it("speak of commands and options, never of routes and fields", async () => {
    for (const [args, words] of [
      [["show", "sess_nobody"], "dragoman ls -a"],
      [["run", "nobody", "hi"], "dragoman agents"],
      [["ls", "--limit", "0"], "--limit must be at least 1"],
      [["logs", "sess_nobody"], "dragoman ls -a"],
      [["allow", "sess_nobody"], "dragoman ls -a"],
      [["ls", "--jsn"], "there is no option --jsn. Did you mean --json?"],
      [["import", "/nope/session.ndjson"], "There is no /nope/session.ndjson."],
    ] as const) {
      const { code, err } = await run([...args]);
      expect([args, code]).not.toEqual([args, 0]);
      expect([args, err]).toEqual([args, expect.stringContaining(words)]);
      expect([args, err]).not.toEqual([args, expect.stringMatching(/\/v1\/|querystring|GET |HTTP/)]);
    }
  });

  it("name a word that the command would not read", async () => {
    for (const args of [
      ["ls", "done"],
      ["show", "latest", "more"],
      ["serve", "more", "--port", "0"],
      ["token", "ls", "more"],
      ["completion", "bash", "more"],
    ]) {
      const { code, err } = await run(args);
      expect([args, code, err]).toEqual([args, 2, expect.stringMatching(/"(?:done|more)" is one word too many\.\nUsage: /)]);
    }
  });

  it("say that no token was ended, where none was", async () => {
    const { code, err } = await run(["token", "revoke", "nobody"]);
    expect([code, err]).toEqual([1, expect.stringMatching(/not its id\. List the ids with `dragoman\s+token\s+ls`/)]);
  });

  it("name the agent that was probably meant", async () => {
    for (const args of [
      ["run", "mok", "hi"],
      ["run", "mokc", "hi"],
      ["agents", "mok"],
    ]) {
      const { code, err } = await run(args);
      expect([args, code, err]).toEqual([args, 1, expect.stringContaining('Did you mean "mock"?')]);
    }
    expect((await run(["run", "nobody", "hi"])).err).not.toContain("Did you mean");
  });

  it("say how a daemon is started, in words of the command line", async () => {
    const nowhere = temporaryDir("no-daemon");
    const { code, err } = await cli(nowhere, ["ls"]);
    expect([code, err]).toEqual([4, expect.stringContaining("dragoman start")]);
    expect(err).not.toContain("connect()");
    removeDir(nowhere);
  });
});

describe("a session that was not named", () => {
  it("is chosen from a list on a terminal, by arrows or by what it is called", async () => {
    const [first, second] = [await newSession("the first one"), await newSession("another one")];
    const picked = new TestTerminal(dataDir, ["show"]);
    await picked.sees("Which session?");
    await picked.sees("the first one");
    picked.type("first");
    await picked.sees("1 match");
    picked.type(ENTER);
    await picked.sees(first.id);
    expect(await picked.exit).toBe(0);
    const left = new TestTerminal(dataDir, ["attach"]);
    await left.sees("Which session?");
    left.type(INTERRUPT);
    expect(await left.exit).toBe(130);
    const attached = new TestTerminal(dataDir, ["attach"]);
    await attached.sees("another one");
    attached.type(ENTER);
    await attached.sees("/help lists commands");
    attached.type("say here I am\r");
    await attached.sees("here I am");
    attached.type("/quit\r");
    await attached.sees(second.id);
    expect(await attached.exit).toBe(0);
    await Promise.all([first.terminate(), second.terminate()]);
  });

  it("is an error in a pipe", async () => {
    expect(await run(["show"])).toMatchObject({ code: 2, err: expect.stringContaining("the session is missing") });
  });
});
