// Attacks that cost a client a few bytes and would cost the daemon its memory. Under each of them a real daemon grows by less than 100 MB and goes on
// answering. Scaled down unless DRAGOMAN_ATTACK_SCALE says how much of the full size is wanted (1 is all of it).
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
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
const sockets: Socket[] = [];

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
}, 60_000);
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
}, 60_000);

type Seen = { began: number; peak: number; slowest: number; answers: number; failures: string[] };

/** What the attack did to the daemon, seen from a third process. */
async function during(attack: () => Promise<void>): Promise<Seen> {
  const probe = spawn(process.execPath, [beside("./probe.mjs"), String(daemon.pid), daemon.url], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await said(probe, /ready\n/);
  await attack();
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
    child.once("exit", (code) => reject(new Error(`the probe ended with ${code}: ${text}`)));
  });
}

function expectHarmless({ began, peak, slowest, answers, failures }: Seen): void {
  expect(failures).toEqual([]);
  expect(answers).toBeGreaterThan(0);
  expect(Math.round(peak - began)).toBeLessThan(GROWTH_MB);
  expect(Math.round(slowest)).toBeLessThan(HEALTH_MS);
}

/** A connection that sends and never reads. Ends by itself when the daemon closes it. */
async function deaf(head: string): Promise<Socket> {
  const socket = connect({ port: Number(new URL(daemon.url).port), host: "127.0.0.1" });
  sockets.push(socket);
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.pause();
  socket.write(head);
  return socket;
}

/** Writes it all, as far as the daemon takes it: resolves when it is written, or nothing went on for a while. */
async function pour(socket: Socket, piece: Buffer, times: number, quietMs = 1_500): Promise<void> {
  for (let sent = 0; sent < times && !socket.destroyed; sent++) {
    if (socket.write(piece)) continue;
    const moved = await new Promise<boolean>((resolve) => {
      const quiet = setTimeout(() => resolve(false), quietMs);
      const go = (): void => {
        clearTimeout(quiet);
        resolve(true);
      };
      socket.once("drain", go);
      socket.once("close", go);
    });
    if (!moved) return;
  }
}

const auth = (): string => `Authorization: Bearer ${daemon.token}\r\n`;
const MB = 1024 * 1024;

describe.runIf(linux)("memory by a few bytes", () => {
  it.each(["/v1/auth/page", "/v1/sessions", "/v1/nothing-here"])("bodies without a token (%s)", { timeout }, async (path) => {
    const seen = await during(async () => {
      const one = async (): Promise<void> => {
        const length = 31 * MB;
        const socket = await deaf(
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n"`,
        );
        await pour(socket, Buffer.alloc(MB, "x"), 30);
      };
      await Promise.all(Array.from({ length: full(60) }, one));
    });
    expectHarmless(seen);
  });

  it("WebSockets that ask and never read", { timeout }, async () => {
    const session = await daemon.client.createSession({ agent: "mock", system_prompt: "p".repeat(4_000) });
    const seen = await during(async () => {
      const one = async (): Promise<void> => {
        const socket = await deaf(
          `GET /v1/sessions/${session.id}/ws HTTP/1.1\r\nHost: localhost\r\n${auth()}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
        );
        await pour(socket, Buffer.concat(Array.from({ length: 2_000 }, () => frame('{"op":"session","id":1}'))), full(150));
      };
      await Promise.all(Array.from({ length: 4 }, one));
    });
    expectHarmless(seen);
  });

  it("pipelined pages that nobody reads", { timeout }, async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt("flood 60000");
    const seen = await during(async () => {
      const page = `GET /v1/sessions/${session.id}/events?limit=10000 HTTP/1.1\r\nHost: localhost\r\n${auth()}\r\n`;
      const one = async (): Promise<void> =>
        void (await pour(await deaf(""), Buffer.from(page.repeat(10)), Math.max(2, full(20))));
      await Promise.all(Array.from({ length: 10 }, one));
      await daemon.client.session(session.id).get();
    });
    expectHarmless(seen);
  });

  it("connections that say nothing: the owner gets in", { timeout }, async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    const seen = await during(async () => {
      for (let open = 0; open < 1_300; open += 100) await Promise.all(Array.from({ length: 100 }, () => deaf("")));
      await session.get();
    });
    expectHarmless(seen);
    // Half-sent headers and half-sent bodies count no more.
    for (const start of [
      "GET /v1/health HTTP/1.1\r\n",
      "POST /v1/auth/page HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n",
    ]) {
      for (let open = 0; open < 1_300; open += 100) await Promise.all(Array.from({ length: 100 }, () => deaf(start)));
      await session.get();
    }
  });

  it.each(["export", "native", "items", "events?limit=10000"])("many long reads at once (%s)", { timeout }, async (what) => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt(`flood ${full(60_000)}`);
    const seen = await during(async () => {
      // Not waited for to the last: a hundred exports take minutes, and what counts is what they do to others.
      const signal = AbortSignal.timeout(LONG_READ_MS);
      const one = async (): Promise<number[]> => {
        const headers = { authorization: `Bearer ${daemon.token}` };
        try {
          const response = await fetch(`${daemon.url}/v1/sessions/${session.id}/${what}`, { headers, signal });
          expect(response.status).toBe(200);
          let bytes = 0;
          for await (const chunk of response.body ?? []) bytes += chunk.length;
          return [bytes];
        } catch (error) {
          if (!signal.aborted) throw error;
          return [];
        }
      };
      const sizes = (await Promise.all(Array.from({ length: full(120) }, one))).flat();
      expect(new Set(sizes).size).toBeLessThanOrEqual(1);
    });
    expectHarmless(seen);
  });

  it("many long reads that nobody takes do not keep the owner from reading", { timeout }, async () => {
    const session = await daemon.client.createSession({ agent: "mock" });
    await session.prompt("flood 20000");
    const seen = await during(async () => {
      const read = `GET /v1/sessions/${session.id}/export HTTP/1.1\r\nHost: localhost\r\n${auth()}\r\n`;
      await Promise.all(Array.from({ length: full(120) }, () => deaf(read)));
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

/** A text frame of a client, masked with zeros. */
function frame(text: string): Buffer {
  const body = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]), body]);
}
