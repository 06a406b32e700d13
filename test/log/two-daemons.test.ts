/** Somebody removes the lock file and starts a second daemon: only one of the two writes, the other says so, and the stored history stays whole. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { checkGrammar } from "../../src/schema/grammar.ts";
import { type DaemonProcess, linux, processesRunning, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

let dataDir: string;
const started: DaemonProcess[] = [];
beforeAll(() => {
  dataDir = temporaryDir("two");
});
afterAll(async () => {
  for (const daemon of started) await daemon.kill("SIGKILL");
  removeDir(dataDir);
});

async function start(): Promise<DaemonProcess> {
  const daemon = await startDaemonProcess(dataDir);
  started.push(daemon);
  return daemon;
}

async function storedEvents(daemon: DaemonProcess, id: string): Promise<UniversalEvent[]> {
  const events: UniversalEvent[] = [];
  for (let after = 0, more = true; more; ) {
    const page = await daemon.client.session(id).page({ after });
    events.push(...page.events);
    [after, more] = [page.next, page.has_more];
  }
  return events;
}

it("[D8] two daemons on one data directory cannot both write", async () => {
  const first = await start();
  const session = await first.client.createSession({ agent: "mock", session_id: "shared" });
  await session.prompt("say before");
  await session.send("clock 100000 5");
  rmSync(join(dataDir, "lock"));
  const second = await start();
  const refused = { status: 503, code: "not_ready", message: expect.stringContaining("taken over") };
  // The turn that runs in the first one brings its next commit by itself.
  await expect.poll(async () => (await first.client.health()).log, { interval: 50 }).toBe("fenced");
  await expect(first.client.ready()).rejects.toMatchObject(refused);
  await expect(session.send("say lost")).rejects.toMatchObject(refused);
  await expect(first.client.createSession({ agent: "mock" })).rejects.toMatchObject(refused);
  await second.client.session("shared").prompt("say after");
  await second.client.createSession({ agent: "mock", session_id: "other" });
  for (const id of ["shared", "other"]) expect(checkGrammar(await storedEvents(second, id))).toEqual([]);
  const texts = JSON.stringify(await storedEvents(second, "shared"));
  expect([texts.includes("before"), texts.includes("after"), texts.includes("lost")]).toEqual([true, true, false]);
  expect(await second.client.ready()).toEqual({ status: "ready", unreadable_sessions: [] });
  // The loser stops without taking anything of the winner's with it.
  const socket = join(dataDir, "daemon.sock");
  const hadSocket = existsSync(socket);
  await first.kill("SIGTERM");
  expect(existsSync(socket)).toBe(hadSocket);
  expect((await second.client.createSession({ agent: "mock", session_id: "third" })).id).toBe("third");
  expect(await second.kill("SIGTERM")).toBe(0);
  if (linux) expect(processesRunning("agents/mock/program", dataDir)).toEqual([]);
  const again = await start();
  expect((await again.client.sessions()).sessions.map(({ session_id }) => session_id).sort()).toEqual([
    "other",
    "shared",
    "third",
  ]);
  expect(checkGrammar(await storedEvents(again, "shared"))).toEqual([]);
  expect(await again.kill("SIGTERM")).toBe(0);
});
