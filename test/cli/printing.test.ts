// What the command line prints of a session, where it goes, and how it ends: into a pipe, a slow reader, one that leaves, and at a prompt.
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CLI, cleanEnv, cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { closeTerminals, INTERRUPT, TestTerminal } from "./terminal.ts";

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = temporaryDir("printing");
  daemon = await startDaemonProcess(dataDir);
});
afterEach(closeTerminals);
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const run = (args: string[]) => cli(dataDir, args);

/** Runs a shell pipeline in which `$D` is the command line. */
async function shell(script: string): Promise<string> {
  const env = { ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir, D: `${process.execPath} ${CLI}` };
  const child = spawn("sh", ["-c", script], { env, cwd: dataDir, stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  await new Promise((resolve) => child.once("close", resolve));
  return out.trim();
}

describe("what the command line prints", () => {
  it("is whole in a pipe whose reader begins late", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt("flood 12000");
    for (const command of [`logs ${session.id}`, `logs ${session.id} --json`, `items ${session.id}`, "openapi"]) {
      const [late, file] = (await shell(`$D ${command} | (sleep 0.5; wc -c); $D ${command} > all.txt; wc -c < all.txt`)).split(
        "\n",
      );
      expect([command, Number(late)]).toEqual([command, Number(file)]);
      // More than a pipe holds by itself.
      expect(Number(late)).toBeGreaterThan(70_000);
    }
  });

  it("ends its session when the reader of `run` goes away", async () => {
    const before = new Set((await daemon.client.sessions()).sessions.map((each) => each.session_id));
    expect(await shell(`$D run mock "flood 200000" | head -c 10`)).toHaveLength(10);
    const mine = async () => (await daemon.client.sessions()).sessions.filter((each) => !before.has(each.session_id));
    await expect.poll(async () => (await mine()).map((each) => each.status)).toEqual(["ended"]);
  });

  it("says what each tool does, and how it ended", async () => {
    const ran = await run(["run", "mock", "shell npm test --watch=false"]);
    expect(ran.err).toContain("• shell: npm test --watch=false\n");
    expect(ran.err).toContain("    second line\n");
    expect((await run(["run", "mock", "fail"])).err).toMatch(/• shell: .+\n(?: {4}.*\n)+ {4}exit 3\n/);
    expect((await run(["run", "mock", "args"])).err).toBe('• search: {"query":"dragoman"}\n');
  });

  it("puts the whole transcript of `logs` on stdout", async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt("say hello\nshell make\nedit");
    await session.send("ask touch b");
    await run(["wait", session.id]);
    await run(["deny", session.id]);
    await run(["wait", session.id]);
    const { out, err } = await run(["logs", session.id]);
    expect(err).toBe("");
    for (const part of ["> say hello", "hello", "• shell: make", "+hello world", "? Run: touch b", "denied: Run: touch b"])
      expect(out).toContain(part);
  });

  it("ends a turn of the mock with an error code that does not exist", async () => {
    const ran = await run(["run", "mock", "error", "rate_limited"]);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toContain('There is no code "rate_limited"');
  });

  it("interrupts the turn and ends at once when Ctrl-C comes at a permission or a question", async () => {
    for (const [prompt, words] of [
      ["ask rm -rf build", "or type why not:"],
      ["question", "your own words"],
    ] as const) {
      const terminal = new TestTerminal(dataDir, ["run", "mock", prompt]);
      await terminal.sees(words);
      terminal.type(INTERRUPT);
      expect([prompt, await terminal.exit]).toEqual([prompt, 130]);
      expect(terminal.bytes).not.toContain("Aborted");
    }
    const open = (await daemon.client.sessions()).sessions.filter((each) => each.status === "waiting");
    expect(open).toEqual([]);
  });

  it("sends no prompt when Ctrl-C comes while the session is made", async () => {
    const asked: string[] = [];
    let making = (): void => {};
    const isMaking = new Promise<void>((resolve) => {
      making = resolve;
    });
    let made = (): void => {};
    const mayBeMade = new Promise<void>((resolve) => {
      made = resolve;
    });
    // The daemon, with an answer that waits.
    const slow = createServer(async (request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const body = request.method === "GET" ? {} : { body: await buffer(request) };
      const answer = await fetch(`${daemon.url}${request.url}`, {
        method: request.method ?? "GET",
        headers: { authorization: request.headers.authorization ?? "", "content-type": "application/json" },
        ...body,
      });
      if (request.method === "POST" && request.url === "/v1/sessions") {
        making();
        await mayBeMade;
      }
      response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
    });
    await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
    const { port } = slow.address() as AddressInfo;
    const env = { DRAGOMAN_URL: `http://127.0.0.1:${port}`, DRAGOMAN_TOKEN: daemon.token };
    const terminal = new TestTerminal(dataDir, ["run", "mock", "say nobody wants this"], { env });
    await isMaking;
    terminal.type(INTERRUPT);
    await terminal.sees("Stopping when the session is there");
    made();
    expect(await terminal.exit).toBe(130);
    expect(asked.filter((request) => request.includes("/messages"))).toEqual([]);
    slow.closeAllConnections();
    slow.close();
  });
});
