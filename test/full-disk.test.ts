// A daemon on a disk that is full, a real one: it answers, it ends when asked to, and goes on by itself when there is space. Nothing it acknowledged is lost.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { SessionHandle } from "../src/client/index.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { checkGrammar } from "../src/schema/grammar.ts";
import { type DaemonProcess, linux, processesRunning, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

const DISK = "24m";
const BALLAST_BYTES = 21_000_000;
const SESSIONS = 4;

let root: string;
let disk: string;
let daemon: DaemonProcess | undefined;
let mounted = false;

beforeAll(() => {
  root = temporaryDir("disk");
  disk = join(root, "disk");
  mkdirSync(disk);
});
beforeEach(() => {
  mounted = mount();
});
afterEach(async () => {
  await daemon?.kill("SIGKILL");
  daemon = undefined;
  if (mounted) execFileSync("umount", ["-l", disk]);
});
afterAll(() => removeDir(root));

/** False where mounting is not permitted. */
function mount(): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${DISK}`, "tmpfs", disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

type Full = { daemon: DaemonProcess; sessions: SessionHandle[]; seen: Map<string, UniversalEvent[]>; watching: AbortController };

/** Sessions that flood until the disk is full. What subscribers got until then, and go on getting, is in `seen`. */
async function fill(flood: string): Promise<Full> {
  writeFileSync(join(disk, "ballast"), Buffer.alloc(BALLAST_BYTES));
  mkdirSync(join(disk, "data"));
  const started = await startDaemonProcess(join(disk, "data"));
  daemon = started;
  const create = () => started.client.createSession({ agent: "mock", directory: root });
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, create));
  const seen = new Map<string, UniversalEvent[]>();
  const watching = new AbortController();
  for (const session of sessions) {
    const events: UniversalEvent[] = [];
    seen.set(session.id, events);
    void (async () => {
      for await (const event of session.events({ signal: watching.signal })) events.push(event);
    })().catch(() => {});
  }
  for (const session of sessions) await session.send(flood);
  while ((await answerOf(started, "GET", "/v1/ready")).status === 200) await new Promise((resolve) => setTimeout(resolve, 20));
  return { daemon: started, sessions, seen, watching };
}

/** An answer at all, within a time that only a hang would need. */
async function answerOf({ url, token }: DaemonProcess, method: string, path: string, body?: object) {
  const began = performance.now();
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(60_000),
  });
  const text = await response.text();
  const parsed: unknown = text.startsWith("{") ? JSON.parse(text) : text;
  return { status: response.status, body: parsed, ms: performance.now() - began };
}

/** Bytes that wait for the disk, when they are the same ten times in a row. */
async function settledPendingBytes(now: DaemonProcess): Promise<number> {
  let [last, same] = [-1, 0];
  while (same < 10) {
    const { body } = await answerOf(now, "GET", "/metrics");
    const bytes = Number(/^dragoman_log_pending_bytes (\d+)$/m.exec(String(body))?.[1]);
    same = bytes === last ? same + 1 : 0;
    last = bytes;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return last;
}

const full = { status: 507, body: expect.objectContaining({ code: "disk_full" }) };

it("[D9] answers 507 while it is full, reads on, goes on when there is space, and has lost nothing", async ({ skip }) => {
  if (!mounted) return skip("needs the right to mount a tmpfs");
  const { daemon: now, sessions, seen, watching } = await fill("flood 15000");
  const [first] = sessions;
  const path = `/v1/sessions/${first?.id}`;
  const answers = await Promise.all([
    answerOf(now, "POST", `${path}/messages`, { message: "say refused" }),
    answerOf(now, "POST", "/v1/sessions", { agent: "mock", session_id: "refused", directory: root }),
    answerOf(now, "PATCH", path, { title: "refused" }),
  ]);
  for (const answer of answers) expect(answer).toMatchObject(full);
  expect(await answerOf(now, "GET", path)).toMatchObject({ status: 200 });
  expect(await answerOf(now, "GET", `${path}/events?limit=5`)).toMatchObject({ status: 200 });
  expect(await answerOf(now, "GET", "/v1/ready")).toMatchObject({ status: 503 });
  const before = [...seen.values()].map((events) => events.length);

  rmSync(join(disk, "ballast"));
  // The floods are more than the disk can hold with its ballast, and less than it can without.
  const ended = sessions.map(async (session) => {
    for await (const event of session.events()) if (event.type === "turn.ended") return event.data.stop_reason;
    return "no end";
  });
  expect(await Promise.all(ended)).toEqual(sessions.map(() => "end_turn"));
  expect(await answerOf(now, "GET", "/v1/ready")).toMatchObject({ status: 200 });
  expect(await answerOf(now, "GET", "/v1/sessions/refused")).toMatchObject({ status: 404 });
  for (const [index, session] of sessions.entries()) {
    await session.prompt("say after");
    await session.terminate();
    const stored: UniversalEvent[] = [];
    for await (const event of session.events()) stored.push(event);
    expect(checkGrammar(stored)).toEqual([]);
    const watched = seen.get(session.id) ?? [];
    expect(watched.length).toBeGreaterThanOrEqual(before[index] ?? 0);
    watched.forEach((event, at) => {
      if (event.event_id !== stored[at]?.event_id) throw new Error(`event ${at + 1} of ${session.id} was seen otherwise`);
    });
    expect(JSON.stringify(stored)).not.toContain("refused");
  }
  watching.abort();
});

it("[S6] ends on SIGTERM while it is full, and leaves no agent", async ({ skip }) => {
  if (!mounted) return skip("needs the right to mount a tmpfs");
  const { daemon: now, sessions, watching } = await fill("flood 3000000");
  // Agents that have far more to say are paused: what waits for the disk does not grow.
  expect(await settledPendingBytes(now)).toBeLessThan(40_000_000);
  expect(await answerOf(now, "POST", `/v1/sessions/${sessions[0]?.id}/messages`, { message: "x" })).toMatchObject(full);
  // A terminate ends the agent, and says that the end could not be written.
  expect(await answerOf(now, "POST", `/v1/sessions/${sessions[1]?.id}/terminate`, {})).toMatchObject(full);
  watching.abort();
  const began = performance.now();
  await now.kill("SIGTERM");
  const seconds = (performance.now() - began) / 1000;
  daemon = undefined;
  console.log(`SIGTERM on a full disk: ended after ${seconds.toFixed(1)} s`);
  expect(seconds).toBeLessThan(20);
  if (linux) expect(processesRunning("agents/mock/program", disk)).toEqual([]);
  rmSync(join(disk, "ballast"));
  daemon = await startDaemonProcess(join(disk, "data"));
  for (const session of sessions) {
    await daemon.client.session(session.id).terminate();
    const stored: UniversalEvent[] = [];
    for await (const event of daemon.client.session(session.id).events()) stored.push(event);
    expect(checkGrammar(stored)).toEqual([]);
  }
});
