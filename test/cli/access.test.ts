/** How the command line, the client and the MCP server find and show their token, in real processes: nobody else may see it, and a given one counts. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type IPty, spawn } from "@lydell/node-pty";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { discover } from "../../src/client/discover.ts";
import { connect } from "../../src/client/index.ts";
import { knowsUnixPeers } from "../../src/transports/index.ts";
import { CLI, cleanEnv, type DaemonProcess, linux, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { runProgram } from "./run-program.ts";

let dataDir: string;
let daemon: DaemonProcess;
const ptys = new Set<IPty>();
beforeAll(async () => {
  dataDir = temporaryDir("access");
  daemon = await startDaemonProcess(dataDir);
});
afterEach(() => {
  for (const pty of ptys) pty.kill();
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const env = (more: NodeJS.ProcessEnv = {}, dir = dataDir) => ({ ...cleanEnv(dir), DRAGOMAN_DATA_DIR: dir, ...more });
const file = (name: string, text: string): string => {
  const path = join(dataDir, name);
  writeFileSync(path, `${text}\n`, { mode: 0o600 });
  return path;
};

/** A program in a terminal; `text` grows. */
function inTerminal(args: string[], environment: NodeJS.ProcessEnv): { pty: IPty; text(): string; exit: Promise<number> } {
  const pty = spawn(process.execPath, [CLI, ...args], {
    cols: 200,
    rows: 24,
    cwd: dataDir,
    env: { ...environment, TERM: "xterm" },
  });
  ptys.add(pty);
  let text = "";
  pty.onData((chunk) => {
    text += chunk;
  });
  const exit = new Promise<number>((resolve) =>
    pty.onExit(({ exitCode }) => {
      ptys.delete(pty);
      resolve(exitCode);
    }),
  );
  return { pty, text: () => text, exit };
}

describe("a token that is given", () => {
  it("counts in the command line, however it is given; a wrong one is refused", async () => {
    const { token: observe } = await daemon.client.mintToken("observe");
    const create = (args: string[], more: NodeJS.ProcessEnv = {}) => runProgram(["create", "mock", ...args], env(more));
    const wrong = "a-wrong-token-of-some-length";
    for (const [given, code] of [
      [observe, "[forbidden]"],
      [wrong, "[unauthorized]"],
    ] as const) {
      expect((await create(["--token", given])).err).toContain(code);
      expect((await create(["--token-file", file("given", given)])).err).toContain(code);
      expect((await create([], { DRAGOMAN_TOKEN: given })).err).toContain(code);
    }
    expect((await create(["--token", observe])).err).toContain("every user of this machine can read --token");
    expect((await create(["--token-file", join(dataDir, "none")])).code).toBe(2);
    expect((await create([])).code).toBe(0);
  });

  it("counts in the client and in the MCP server", async () => {
    const wrong = "a-wrong-token-of-some-length";
    await expect((await connect({ dataDir, token: wrong })).sessions()).rejects.toMatchObject({ code: "unauthorized" });
    vi.stubEnv("DRAGOMAN_TOKEN", wrong);
    await expect((await connect({ dataDir })).sessions()).rejects.toMatchObject({ code: "unauthorized" });
    vi.unstubAllEnvs();
    expect((await (await connect({ dataDir })).whoAmI()).role).toBe("admin");
    const mcp = await runProgram(["mcp"], env({ DRAGOMAN_TOKEN: wrong }));
    expect([mcp.code, mcp.err]).toEqual([1, expect.stringContaining("[unauthorized]")]);
  });
});

describe("the discovery file", () => {
  it("is closed to others whatever it was before, and follows the token file", async () => {
    const dir = temporaryDir("discovery");
    writeFileSync(join(dir, "daemon.json"), "{}", { mode: 0o644 });
    chmodSync(join(dir, "daemon.json"), 0o644);
    const own = await startDaemonProcess(dir);
    try {
      expect(statSync(join(dir, "daemon.json")).mode & 0o777).toBe(0o600);
      const found = () => JSON.parse(readFileSync(join(dir, "daemon.json"), "utf8"));
      expect(found()).toMatchObject({ url: own.url, pid: own.pid, token: own.token });
      expect(found().started).toMatch(/\d/);
      writeFileSync(join(dir, "token"), "another-token-of-some-length\n");
      await vi.waitFor(() => expect(found().token).toBe("another-token-of-some-length"), { timeout: 120_000 });
      expect((await runProgram(["ls"], env({}, dir))).code).toBe(0);
      await expect(own.client.sessions()).rejects.toMatchObject({ code: "unauthorized" });
    } finally {
      await own.kill("SIGTERM");
      expect(existsSync(join(dir, "daemon.json"))).toBe(false);
      removeDir(dir);
    }
  });

  it("of a process that is gone gets nobody the token, though its pid is in use again", async () => {
    const dir = temporaryDir("recycled");
    let asked = 0;
    const stranger = createServer((_, reply) => {
      asked++;
      reply.end("{}");
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => stranger.once("listening", resolve));
    const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
    const left = { url, token: daemon.token, pid: process.pid, started: "of another boot:1" };
    writeFileSync(join(dir, "daemon.json"), JSON.stringify(left));
    expect(await discover(dir)).toBeUndefined();
    const { code, err } = await runProgram(["ls"], env({}, dir));
    expect([code, err, asked]).toEqual([4, expect.stringContaining("[no_daemon]"), 0]);
    stranger.close();
    removeDir(dir);
  });
});

// Without `ss` the daemon cannot tell who calls through a socket on Linux, and opens none.
describe.runIf(process.platform !== "linux" || knowsUnixPeers())("the unix socket", () => {
  it("has mode 0600, and carries the whole API: the command line uses it, streams included", async () => {
    const socket = join(dataDir, "daemon.sock");
    expect(statSync(socket).isSocket()).toBe(true);
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    // The same daemon, whose port nobody could reach.
    const dir = temporaryDir("socket-only");
    const found = JSON.parse(readFileSync(join(dataDir, "daemon.json"), "utf8"));
    writeFileSync(join(dir, "daemon.json"), JSON.stringify({ ...found, url: "http://127.0.0.1:9" }));
    const ran = await runProgram(["run", "mock", "say through the socket"], env({}, dir));
    expect([ran.code, ran.out.trim()]).toEqual([0, "through the socket"]);
    const client = await connect({ dataDir: dir });
    const abort = new AbortController();
    const session = await client.createSession({ agent: "mock" });
    const seen: string[] = [];
    for await (const event of session.events({ signal: abort.signal })) {
      seen.push(event.type);
      abort.abort();
    }
    expect(seen).toEqual(["session.started"]);
    await expect(client.session("none").get()).rejects.toMatchObject({ code: "session_not_found", status: 404 });
    const aborted = new AbortController();
    aborted.abort();
    await expect(client.sessions({}, aborted.signal)).rejects.toMatchObject({ code: "aborted" });
    removeDir(dir);
  });

  it("is taken again after a kill, and done without where its path would be too long", async () => {
    const dir = temporaryDir("stale");
    const first = await startDaemonProcess(dir);
    await first.kill("SIGKILL");
    expect(existsSync(join(dir, "daemon.sock"))).toBe(true);
    const second = await startDaemonProcess(dir);
    expect((await runProgram(["ls"], env({}, dir))).code).toBe(0);
    await second.kill("SIGTERM");
    expect(existsSync(join(dir, "daemon.sock"))).toBe(false);
    const long = join(dir, "a-long-name".repeat(12));
    mkdirSync(long);
    const third = await startDaemonProcess(long);
    expect(existsSync(join(long, "daemon.sock"))).toBe(false);
    expect((await runProgram(["ls"], env({}, long))).code).toBe(0);
    await third.kill("SIGTERM");
    removeDir(dir);
  });
});

describe("without token files", () => {
  it("no file of the data directory holds a token; it is given by file, keyring or keyboard", async () => {
    const secret = "the-persons-own-token-0123456789";
    const given = file("own", secret);
    const dir = temporaryDir("no-files");
    const refused = await runProgram(["serve", "--no-token-file", "--port", "0", "--no-open"], env({}, dir));
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("[token_required]")]);
    const own = await startDaemonProcess(dir, ["--no-token-file", "--token-file", given]);
    try {
      await own.client.makeLink();
      for (const name of readdirSync(dir, { recursive: true }))
        if (statSync(join(dir, String(name))).isFile())
          expect([name, readFileSync(join(dir, String(name)), "latin1").includes(secret)]).toEqual([name, false]);
      expect(existsSync(join(dir, "token")) || existsSync(join(dir, "token.observe"))).toBe(false);
      const none = await runProgram(["ls"], env({}, dir));
      expect([none.code, none.err]).toEqual([1, expect.stringContaining("[no_token]")]);
      expect((await runProgram(["ls", "--token-file", given], env({}, dir))).code).toBe(0);
      const bin = join(dir, "bin");
      mkdirSync(bin);
      writeFileSync(
        join(bin, "secret-tool"),
        `#!/bin/sh\n[ "$*" = "lookup service dragoman data-dir ${dir}" ] && echo ${secret}\n`,
        { mode: 0o755 },
      );
      const keyring = await runProgram(["token", "show"], env({ PATH: `${bin}:${process.env.PATH}` }, dir));
      expect([keyring.code, keyring.out]).toEqual([0, expect.stringContaining("admin")]);
      const typed = inTerminal(["token", "show"], env({}, dir));
      await vi.waitFor(() => expect(typed.text()).toContain("Token of the daemon:"), { timeout: 120_000 });
      typed.pty.write(`${secret}\r`);
      expect(await typed.exit).toBe(0);
      expect(typed.text()).toContain("admin");
      expect(typed.text()).not.toContain(secret);
    } finally {
      await own.kill("SIGTERM");
      removeDir(dir);
    }
  });
});

describe.skipIf(!linux)("opening the browser", () => {
  it("shows no token to those who read the process list: the browser gets a file that is gone after use", async () => {
    const dir = temporaryDir("browser");
    const bin = join(dir, "bin");
    mkdirSync(bin);
    // A browser that keeps what it was given.
    writeFileSync(
      join(bin, "xdg-open"),
      `#!/bin/sh\nprintf '%s\\n' "$@" > ${dir}/arguments.part\ncp "$1" ${dir}/page.html\nmv ${dir}/arguments.part ${dir}/arguments\n`,
      { mode: 0o755 },
    );
    const data = join(dir, "data");
    const serve = inTerminal(["serve", "--port", "0", "--data-dir", data], env({ PATH: `${bin}:${process.env.PATH}` }, data));
    await vi.waitFor(() => expect(existsSync(join(dir, "arguments"))).toBe(true), { timeout: 120_000 });
    const opened = readFileSync(join(dir, "arguments"), "utf8").trim();
    expect(opened).toMatch(new RegExp(`^${data}/open-tok_\\w+\\.html$`));
    expect(statSync(opened).mode & 0o777).toBe(0o600);
    const { url, token } = JSON.parse(readFileSync(join(data, "daemon.json"), "utf8"));
    const link = /url=(.*?)"/.exec(readFileSync(join(dir, "page.html"), "utf8"))?.[1] ?? "";
    expect(serve.text()).toContain(link);
    expect(serve.text()).not.toContain(token);
    expect(commandLines()).not.toContain(token);
    expect(commandLines()).not.toContain(link.split("#link=")[1]);
    const traded = await (await connect({ dataDir: data })).signIn(link.split("#link=")[1] ?? "");
    expect(traded.role).toBe("operate");
    expect(link.startsWith(`${url}/ui#link=`)).toBe(true);
    expect(existsSync(opened)).toBe(false);
    const another = await runProgram(["open"], env({}, data));
    expect(another.out.trim()).toMatch(/\/ui#link=[\w-]{43}$/);
    serve.pty.kill("SIGTERM");
    await serve.exit;
    expect(readdirSync(data).filter((name) => name.startsWith("open-"))).toEqual([]);
    removeDir(dir);
  });
});

/** Of all processes, as every user can read them. */
const commandLines = (): string =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    })
    .join("\n");
