// The command line as people and scripts use it, against a real daemon.

import { mkdirSync, realpathSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UniversalEvent } from "../src/schema/event.ts";
import { checkGrammar } from "../src/schema/grammar.ts";
import { cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("cli");
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const run = (args: string[], input?: string) => cli(dataDir, args, input);
const lines = (text: string): unknown[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

describe("dragoman run", () => {
  it("prints the answer alone on stdout", async () => {
    expect(await run(["run", "mock", "say", "hello world"])).toMatchObject({ code: 0, out: "hello world\n" });
  });

  it("takes the prompt from a pipe", async () => {
    expect(await run(["run", "mock"], "say from the pipe")).toMatchObject({ code: 0, out: "from the pipe\n" });
  });

  it("says by its exit code how the turn ended", async () => {
    expect((await run(["run", "mock", "error", "rate_limit"])).code).toBe(1);
    expect((await run(["run", "mock", "refuse"])).code).toBe(3);
    expect((await run(["run", "mock", "ask"])).code).toBe(5);
    expect((await run(["run", "mock", "ask", "--yes"])).code).toBe(0);
    expect((await run(["run", "mock"])).code).toBe(2);
    expect((await run(["run", "nobody", "hi"])).code).toBe(1);
  });

  it("prints events with --json, and the grammar holds on them", async () => {
    const { out } = await run(["run", "mock", "subagent", "--json"]);
    const events = lines(out) as UniversalEvent[];
    expect(events.at(-1)?.type).toBe("turn.ended");
    expect(events[0]?.sequence).toBe(2);
  });

  it("[R3] lets no escape sequence of an agent reach the terminal", async () => {
    const { out } = await run(["run", "mock", "say", "\u001b[31mred\u001b]0;title\u0007"]);
    expect(out).toBe("red␛]0;title␇\n");
  });
});

describe("directories that are not trusted", () => {
  const hostile = (name: string): string => {
    const directory = join(realpathSync(dataDir), name);
    mkdirSync(join(directory, ".mock"), { recursive: true });
    writeFileSync(join(directory, ".mock/settings.json"), JSON.stringify({ hooks: { SessionStart: "curl evil" } }));
    return directory;
  };

  it("[T3] run in a script is refused with advice, unless it says --trust or --restricted", async () => {
    const directory = hostile("script");
    const refused = await run(["run", "mock", "say", "hello", "-C", directory]);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toMatch(/runs `curl evil` at `SessionStart`[\s\S]*dragoman trust[\s\S]*directory_untrusted/);
    for (const how of ["--trust", "--restricted"])
      expect(await run(["run", "mock", "say", "hello", "-C", directory, how])).toMatchObject({ code: 0, out: "hello\n" });
    expect((await run(["run", "mock", "hi", "-C", directory, "--trust", "--restricted"])).code).toBe(2);
  });

  it("[T1] trust lists, adds and removes directories", async () => {
    const directory = hostile("listed");
    expect(await run(["trust", "--list"])).toMatchObject({ code: 0, out: "No directory is trusted.\n" });
    expect(await run(["trust", directory])).toMatchObject({ code: 0, out: `${directory} is trusted with all below it.\n` });
    expect(await run(["run", "mock", "say", "hello", "-C", directory])).toMatchObject({ code: 0, out: "hello\n" });
    expect(lines((await run(["trust", "--list", "--json"])).out)).toMatchObject([{ directory, scope: "tree", source: "person" }]);
    expect(await run(["trust", "--remove", directory])).toMatchObject({ code: 0 });
    expect((await run(["trust", "--list"])).out).toBe("No directory is trusted.\n");
    expect((await run(["run", "mock", "say", "hello", "-C", directory])).code).toBe(1);
  });

  it("[T2] [T4] create asks with the first message; show tells what is held back", async () => {
    const directory = hostile("asked");
    const id = (await run(["create", "mock", "-C", directory])).out.trim();
    await run(["send", id, "say hello"]);
    expect(await run(["wait", id])).toMatchObject({ code: 5 });
    expect((await run(["pending", id])).out).toContain(`Trust the directory ${directory}`);
    expect(lines((await run(["show", id])).out)).toMatchObject([
      { trust: "restricted", directory_files: [{ path: ".mock/settings.json", kind: "hooks", state: "held_back" }] },
    ]);
    expect((await run(["allow", id])).code).toBe(0);
    expect((await run(["wait", id])).code).toBe(0);
    expect(lines((await run(["show", id])).out)).toMatchObject([{ trust: "trusted", directory_files: [{ state: "loaded" }] }]);
    await run(["stop", id]);
  });
});

describe("sessions from the command line", () => {
  it("sends, waits, answers, reads, interrupts, stops and removes", async () => {
    const session = await daemon.client.createSession({ agent: "mock", title: "by hand" });
    expect((await run(["send", session.id, "ask"])).code).toBe(0);
    expect(await run(["wait", session.id])).toMatchObject({ code: 5, out: "waiting\n" });
    expect((await run(["deny", session.id, "-m", "no thanks"])).code).toBe(0);
    expect((await run(["wait", session.id])).code).toBe(0);
    expect((await run(["logs", session.id])).out).toContain("You said no: no thanks.");
    await run(["send", session.id, "question"]);
    await run(["wait", session.id]);
    expect((await run(["answer", session.id, "--with", "Blue", "--with", "Cheese, Basil"])).code).toBe(0);
    await run(["wait", session.id]);
    expect((await run(["logs", session.id])).out).toContain("You chose Blue; Cheese and Basil.");
    await run(["send", session.id, "hang"]);
    expect((await run(["sessions", "interrupt", session.id])).code).toBe(0);
    await run(["wait", session.id]);
    expect((await run(["ls"])).out).toContain("by hand");
    expect(lines((await run(["ls", "--json"])).out)).toEqual(
      expect.arrayContaining([expect.objectContaining({ session_id: session.id })]),
    );
    expect((await run(["stop", session.id])).code).toBe(0);
    expect(JSON.parse((await run(["sessions", "show", session.id])).out)).toMatchObject({ status: "ended" });
    const events = lines((await run(["sessions", "events", session.id])).out) as UniversalEvent[];
    expect(checkGrammar(events)).toEqual([]);
    expect((await run(["rm", session.id])).code).toBe(0);
    const gone = await run(["show", session.id]);
    expect(gone).toMatchObject({ code: 1 });
    expect(gone.err).toContain("[session_not_found]");
  });

  it("carries a session to another place, event for event", async () => {
    const session = await daemon.client.createSession({ agent: "mock", env: { SECRET: "key" } });
    await session.prompt("parts\nshell ls");
    const file = join(dataDir, "session.ndjson");
    expect((await run(["export", session.id, "-o", file])).code).toBe(0);
    const { out } = await run(["import", file, "--session", "copy"]);
    expect(out).toBe("copy\n");
    const [before, after] = await Promise.all([
      session.page({ limit: 1000, includeRaw: true }),
      daemon.client.session("copy").page({ limit: 1000, includeRaw: true }),
    ]);
    expect(after.events).toEqual(before.events.map((event) => ({ ...event, session_id: "copy" })));
    // The agent's own conversation is taken up only when it is asked for.
    expect((await daemon.client.session("copy").prompt("remember")).text).not.toContain("shell ls");
    expect((await run(["import", file, "--session", "resumed", "--resume"])).code).toBe(0);
    expect((await daemon.client.session("resumed").prompt("remember")).text).toContain("shell ls");
    writeFileSync(file, "{}\n");
    expect((await run(["import", file])).err).toContain("[invalid_request]");
  });
});

describe("the rest of the command line", () => {
  it("lists agents, shows the configuration, finds nothing wrong", async () => {
    expect((await run(["agents"])).out).toMatch(/mock\s+Mock agent\s+installed/);
    expect(JSON.parse((await run(["config", "show"])).out)).toMatchObject({ limits: { sessions: 200 } });
    expect((await run(["doctor"])).code).toBe(0);
  });

  it("prints help and completions for every command", async () => {
    expect((await run(["help"])).out).toContain("run <agent> <prompt…>");
    expect((await run(["help", "run"])).out).toContain("--permission-mode");
    expect((await run(["completion", "bash"])).out).toContain("complete -F _dragoman dragoman");
    expect((await run(["completion", "fish"])).out).toContain("complete -c dragoman");
    expect((await run(["__complete", "run"])).out.split("\n")).toContain("mock");
    expect((await run(["frobnicate"])).code).toBe(2);
    expect((await run(["ls", "--frob"])).code).toBe(2);
  });

  it("keeps the token to its owner", () => {
    for (const file of ["token", "token.observe", "daemon.json", "dragoman.db"]) {
      const { mode } = statSync(join(dataDir, file));
      expect([file, mode & 0o077]).toEqual([file, 0]);
    }
    expect(statSync(dataDir).mode & 0o077).toBe(0);
  });

  it("says who holds the data directory when a second daemon wants it", async () => {
    const { code, err } = await run(["serve", "--port", "0", "--no-open", "--data-dir", dataDir]);
    expect(code).toBe(1);
    expect(err).toContain("[data_dir_locked]");
    expect(err).toContain(String(daemon.pid));
  });

  it("says what to do when the port is taken, the address not bindable, or no daemon runs", async () => {
    const other = temporaryDir("cli-other");
    const server = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    const taken = await cli(other, ["serve", "--port", String(port), "--no-open"]);
    server.close();
    expect([taken.code, taken.err]).toEqual([1, expect.stringContaining("[port_taken]")]);
    const open = await cli(other, ["serve", "--host", "0.0.0.0", "--port", "0", "--no-open"]);
    expect([open.code, open.err]).toEqual([1, expect.stringContaining("[token_required]")]);
    const none = await cli(other, ["ls"]);
    expect([none.code, none.err]).toEqual([4, expect.stringContaining("dragoman start")]);
    writeFileSync(join(other, "plain-file"), "");
    const file = await cli(other, ["serve", "--data-dir", join(other, "plain-file"), "--port", "0"]);
    expect([file.code, file.err]).toEqual([1, expect.stringContaining("[data_dir_unreadable]")]);
    removeDir(other);
  });
});
