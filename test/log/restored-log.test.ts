/** A backup is restored under clients that hold cursors of the lost history: they are informed, and never given another history as the same. */
import { cpSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

const dirs: string[] = [];
let daemon: DaemonProcess | undefined;
afterEach(async () => {
  await daemon?.kill("SIGTERM");
  for (const dir of dirs.splice(0)) removeDir(dir);
});

function directory(name: string): string {
  const dir = temporaryDir(name);
  dirs.push(dir);
  return dir;
}

it("[D7] a cursor of a history that is gone is refused with log_changed, in every form", async () => {
  const [dataDir, backup] = [directory("restored"), directory("backup")];
  daemon = await startDaemonProcess(dataDir);
  const port = new URL(daemon.url).port;
  await (await daemon.client.createSession({ agent: "mock", session_id: "talks" })).prompt("say the first");
  await daemon.kill("SIGTERM");
  cpSync(dataDir, backup, { recursive: true });

  daemon = await startDaemonProcess(dataDir, ["--port", port]);
  const { client } = daemon;
  const session = client.session("talks");
  await session.prompt("say what will be lost");
  const lost = await client.health();
  const { last_sequence } = await session.get();
  const seen: UniversalEvent[] = [];
  let caughtUp = (): void => {};
  const complete = new Promise<void>((resolve) => {
    caughtUp = resolve;
  });
  const following = (async () => {
    for await (const event of session.events({ after: 0 })) {
      seen.push(event);
      if (event.sequence === last_sequence) caughtUp();
    }
  })();
  // It is looked at later.
  following.catch(() => undefined);
  const everywhere = client.events({ after: "0.0" });
  const { value: first } = await everywhere.next();
  await everywhere.return();
  await complete;
  await daemon.kill("SIGTERM");

  removeDir(dataDir);
  cpSync(backup, dataDir, { recursive: true });
  daemon = await startDaemonProcess(dataDir, ["--port", port]);
  await session.prompt("say another thing\nsay and more\nsay so that it is longer than it was");
  expect((await session.get()).last_sequence).toBeGreaterThan(last_sequence);
  await expect(following).rejects.toMatchObject({ code: "log_changed", status: 409 });
  expect(JSON.stringify(seen)).not.toContain("another");

  const now = await client.health();
  expect([now.log_id, now.epoch === lost.epoch]).toEqual([lost.log_id, false]);
  const changed = { code: "log_changed", status: 409 };
  await expect(session.page({ after: last_sequence, epoch: lost.epoch })).rejects.toMatchObject(changed);
  await expect(session.events({ after: last_sequence, epoch: lost.epoch }).next()).rejects.toMatchObject(changed);
  await expect(client.events({ after: first?.cursor ?? "" }).next()).rejects.toMatchObject(changed);
  // Without an epoch it is a plain number, as ever; with the new one it goes on.
  expect((await session.page({ after: last_sequence })).events.length).toBeGreaterThan(0);
  const page = await session.page({ after: 0, limit: 2 });
  expect((await session.page({ after: page.next, epoch: page.epoch })).events[0]?.sequence).toBe(3);
  const response = await fetch(`${daemon.url}/v1/sessions/talks/events/sse?after=1&epoch=${now.epoch}`, {
    headers: { authorization: `Bearer ${daemon.token}` },
  });
  expect([response.headers.get("dragoman-log-id"), response.headers.get("dragoman-epoch")]).toEqual([now.log_id, now.epoch]);
  await response.body?.cancel();
});
