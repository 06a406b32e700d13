/** A disk that is full for a while, under a real daemon: commands are refused at once, reading goes on, nothing refused happens later, and it stops when asked to. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { checkGrammar } from "../../src/schema/grammar.ts";
import { cleanEnv, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { compileInterposer, type Faults, faultsIn } from "./interposer.ts";

const root = temporaryDir("full");
const compiled = compileInterposer(root);
const library = "library" in compiled ? compiled.library : "";
if ("reason" in compiled) console.warn(`A full disk is not tested: ${compiled.reason}`);

let daemon: DaemonProcess | undefined;
let count = 0;
afterEach(async () => {
  await daemon?.kill("SIGKILL");
});
beforeAll(() => () => removeDir(root));

async function start(): Promise<{ daemon: DaemonProcess; faults: Faults; dataDir: string }> {
  const dataDir = join(root, `data-${++count}`);
  mkdirSync(dataDir);
  const faults = faultsIn(dataDir, library, join(root, `control-${count}`));
  daemon = await startDaemonProcess(dataDir, [], faults.env);
  return { daemon, faults, dataDir };
}

async function storedEvents(from: DaemonProcess, id: string): Promise<UniversalEvent[]> {
  const events: UniversalEvent[] = [];
  for (let after = 0, more = true; more; ) {
    const page = await from.client.session(id).page({ after });
    events.push(...page.events);
    [after, more] = [page.next, page.has_more];
  }
  return events;
}

const notReady = (): Promise<unknown> => expect.poll(() => daemon?.client.ready().catch((error) => error.code)).toBe("not_ready");

describe.skipIf(library === "")("a full disk", () => {
  it("[D9] refuses commands, keeps reading, and goes on by itself; what was refused does not happen later", async () => {
    const { daemon, faults } = await start();
    const { client } = daemon;
    const session = await client.createSession({ agent: "mock", session_id: "talks" });
    await session.prompt("say before");
    await session.send("clock 100000 5");
    faults.arm(1, "ENOSPC", { lasting: true });
    // The first command may be the one that finds it out: it waits a moment for the disk, then it is withdrawn.
    const full = { status: 507, code: "disk_full" };
    await expect(session.send("say refused")).rejects.toMatchObject({
      ...full,
      message: expect.not.stringContaining("may still"),
    });
    await notReady();
    expect(await client.health()).toMatchObject({ log: "failing" });
    await expect(session.send("say refused too", { idempotencyKey: "k" })).rejects.toMatchObject(full);
    await expect(client.createSession({ agent: "mock", session_id: "refused" })).rejects.toMatchObject(full);
    await expect(session.update({ title: "refused" })).rejects.toMatchObject(full);
    expect((await storedEvents(daemon, "talks")).length).toBeGreaterThan(5);
    expect((await client.sessions()).sessions.length).toBe(1);
    faults.disarm();
    await expect.poll(() => client.ready().catch((error) => error.code)).toEqual({ status: "ready", unreadable_sessions: [] });
    await session.interrupt();
    await session.send("say accepted", { idempotencyKey: "k" });
    await expect.poll(async () => JSON.stringify(await storedEvents(daemon, "talks"))).toContain("accepted");
    const events = await storedEvents(daemon, "talks");
    expect(checkGrammar(events)).toEqual([]);
    expect(JSON.stringify(events)).not.toContain("refused");
    expect((await client.sessions()).sessions.map(({ session_id }) => session_id)).toEqual(["talks"]);
    expect(await daemon.kill("SIGTERM")).toBe(0);
  });

  it("does not keep the daemon from stopping, and a start on it says what to do", async () => {
    const { daemon, faults, dataDir } = await start();
    const session = await daemon.client.createSession({ agent: "mock", session_id: "talks" });
    await session.prompt("say before");
    await session.send("clock 100000 5");
    faults.arm(1, "ENOSPC", { lasting: true });
    await notReady();
    // It ends, and says that something could not be kept.
    expect(await daemon.kill("SIGTERM")).toBe(130);
    const refused = await startDaemonProcess(dataDir, [], faults.env).then(
      () => "started",
      (error: Error) => error.message,
    );
    expect(refused).toMatch(/"code":"disk_full","message":"[^"]*Free some space[^"]*start again/);
    faults.disarm();
    const again = await startDaemonProcess(dataDir, [], cleanEnv(dataDir));
    expect(checkGrammar(await storedEvents(again, "talks"))).toEqual([]);
    expect(await again.kill("SIGTERM")).toBe(0);
  });
});
