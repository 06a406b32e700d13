// Attacks that cost a client a few bytes and would cost the daemon its memory. Under each of them a real daemon grows by less than 100 MB and goes on
// answering. Scaled down unless DRAGOMAN_ATTACK_SCALE says how much of the full size is wanted (1 is all of it).
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DaemonProcess, linux, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

const SCALE = Number(process.env.DRAGOMAN_ATTACK_SCALE ?? "0.1");
const GROWTH_MB = 100;
/** The short run shares its machine with other tests. */
const HEALTH_MS = SCALE >= 1 ? 1_000 : 5_000;
const timeout = 60_000 + SCALE * 600_000;

const LONG_READ_MS = 20_000 + SCALE * 40_000;

const full = (count: number): number => Math.ceil(count * SCALE);
const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

let dataDir: string;
let daemon: DaemonProcess;
const clients: ChildProcess[] = [];

const CONFIG = {
  limits: { subscribers: 100 },
  agents: { acp: { wild: { command: process.execPath, args: [beside("./wild-agent.mjs")] } } },
};

beforeEach(async () => {
  dataDir = temporaryDir("attack");
  writeFileSync(join(dataDir, "config.json"), JSON.stringify(CONFIG));
  daemon = await startDaemonProcess(dataDir, ["--config", join(dataDir, "config.json")]);
  // A daemon in use: what the first work costs any Node process is not the attack's.
  const session = await daemon.client.createSession({ agent: "mock" });
  await session.prompt("flood 5000");
  await session.terminate();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.kill("SIGKILL");
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

type Seen = { began: number; peak: number; slowest: number; answers: number; failures: string[] };

/** What the attack did to the daemon, seen from a third process. */
async function during(act: () => Promise<void>): Promise<Seen> {
  const probe = spawn(process.execPath, [beside("./probe.mjs"), String(daemon.pid), daemon.url], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await said(probe, /ready\n/);
  await act();
  const report = said(probe, /\{.*\}\n/);
  probe.stdin.end();
  const seen = JSON.parse(await report) as Seen;
  if (process.env.DRAGOMAN_ATTACK_SCALE) {
    const { began, peak, slowest, answers } = seen;
    console.log(
      `${expect.getState().currentTestName}: ${Math.round(began)} → ${Math.round(peak)} MB, health ${Math.round(slowest)} ms at most (${answers})`,
    );
  }
  return seen;
}

function said(child: ChildProcess, pattern: RegExp): Promise<string> {
  let text = "";
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (chunk) => {
      text += chunk;
      const match = pattern.exec(text);
      if (match) resolve(match[0]);
    });
    child.once("exit", (code) => reject(new Error(`a helper ended with ${code}: ${text}`)));
  });
}

function expectHarmless({ began, peak, slowest, answers, failures }: Seen): void {
  expect(failures).toEqual([]);
  expect(answers).toBeGreaterThan(0);
  expect(Math.round(peak - began)).toBeLessThan(GROWTH_MB);
  expect(Math.round(slowest)).toBeLessThan(HEALTH_MS);
}

/** An attack of client.mjs, in a process that keeps its connections until the test is over. */
async function attack(name: string, ...words: (string | number)[]): Promise<void> {
  const program = [beside("./client.mjs"), daemon.url, daemon.token, name, ...words.map(String)];
  const client = spawn(process.execPath, program, { stdio: ["pipe", "pipe", "inherit"] });
  clients.push(client);
  await said(client, /done\n/);
}

const MB = 1024 * 1024;
/** Two thousand frames each. */
const ASKED = 600;

describe.runIf(linux)("memory by a few bytes", () => {
  it.each(["/v1/auth/page", "/v1/sessions", "/v1/nothing-here"])("bodies without a token (%s)", { timeout }, async (path) => {
    expectHarmless(await during(() => attack("bodies", path, full(60))));
  });

  it.each(['{"op":"session","id":1}', "ping"])("WebSockets that ask and never read (%s)", { timeout }, async (words) => {
    const session = await daemon.client.createSession({ agent: "mock", system_prompt: "p".repeat(4_000) });
    expectHarmless(await during(() => attack("sockets", `/v1/sessions/${session.id}`, words, full(ASKED))));
  });

  it.each(['{"op":"nothing"}', "ping"])("WebSockets of a task that ask and never read (%s)", { timeout }, async (words) => {
    const task = await daemon.client.startTask({ argv: ["cat"], stdin: true, cwd: dataDir });
    expectHarmless(await during(() => attack("sockets", `/v1/tasks/${task.id}`, words, full(ASKED))));
  });

  it("pipelined pages that nobody reads", { timeout }, async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt("flood 60000");
    const seen = await during(async () => {
      await attack("pipelined", session.id, Math.max(2, full(20)));
      await session.get();
    });
    expectHarmless(seen);
  });

  it("connections that say nothing: the owner gets in", { timeout }, async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const seen = await during(async () => {
      await attack("silent", "", 1_300);
      await session.get();
    });
    expectHarmless(seen);
    // Half-sent headers and half-sent bodies count no more.
    for (const start of [
      "GET /v1/health HTTP/1.1\\r\\n",
      "POST /v1/auth/page HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 100\\r\\n\\r\\n",
    ]) {
      await attack("silent", start, 1_300);
      await session.get();
    }
  });

  it.each(["export", "native", "items", "events?limit=10000"])("many long reads at once (%s)", { timeout }, async (what) => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt(`flood ${full(60_000)}`);
    const seen = await during(() => attack("reads", `/v1/sessions/${session.id}/${what}`, full(120), LONG_READ_MS));
    expectHarmless(seen);
  });

  it("many long reads that nobody takes do not keep the owner from reading", { timeout }, async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt("flood 20000");
    const seen = await during(async () => {
      await attack("unread", `/v1/sessions/${session.id}/export`, full(120));
      expect((await daemon.client.session(session.id).page({ after: 0, limit: 10 })).events).toHaveLength(10);
    });
    expectHarmless(seen);
  });

  it("an agent that reads no answer", { timeout }, async () => {
    writeFileSync(join(dataDir, "large.txt"), "x".repeat(4 * MB));
    const session = await daemon.client.createSession({ agent: "wild", directory: dataDir, trust: "trusted" });
    const seen = await during(async () => {
      await session.send(`read ${join(dataDir, "large.txt")} ${full(240)}`);
      await untilQuiet();
    });
    expectHarmless(seen);
    await session.terminate();
  });

  it("an agent that talks for sessions nobody knows", { timeout }, async () => {
    const session = await daemon.client.createSession({ agent: "wild", directory: dataDir, trust: "trusted" });
    const seen = await during(async () => void (await session.prompt(`strangers ${full(1_200) * MB}`)));
    expectHarmless(seen);
  });

  it("an agent that wants all output of a command kept", { timeout }, async () => {
    const session = await daemon.client.createSession({ agent: "wild", directory: dataDir, trust: "trusted" });
    const seen = await during(async () => {
      await session.send(`terminal ${full(600) * MB}`);
      await untilQuiet();
    });
    expectHarmless(seen);
    await session.terminate();
  });
});

/** Until the daemon has stopped working: no processor time in several looks. */
async function untilQuiet(): Promise<void> {
  const { readFileSync } = await import("node:fs");
  const used = (): number => {
    const fields = readFileSync(`/proc/${daemon.pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  for (let quiet = 0, before = used(); quiet < 5; ) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const now = used();
    quiet = now - before <= 2 ? quiet + 1 : 0;
    before = now;
  }
}
