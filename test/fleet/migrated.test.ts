/** The log of one daemon moves into the database of a fleet, goes on there, and comes back: as users do it, with real processes. */
import { afterAll, describe, expect, it } from "vitest";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { cli, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { checkStory, TestCluster, textOf } from "./test-cluster.ts";

describe.skipIf(withoutPostgres())("from one daemon to a fleet and back", () => {
  const [before, after] = [temporaryDir("before-fleet"), temporaryDir("after-fleet")];
  let cluster: TestCluster;
  afterAll(async () => {
    await cluster?.stop();
    removeDir(before);
    removeDir(after);
  });

  it("sessions go on where their directory is, and nobody has the log to himself while nodes share it", async () => {
    cluster = await TestCluster.start([]);
    const daemon = await startDaemonProcess(before);
    const env = { MOCK_AGENT_MEMORY: cluster.shared };
    const made = await Promise.all(
      [cluster.shared, cluster.alone("a"), before].map((directory) =>
        daemon.client.createSession({ agent: "mock", directory, trust: "trusted", env }),
      ),
    );
    for (const [n, session] of made.entries()) await session.prompt(`say number ${n} before the fleet`);
    await daemon.kill("SIGTERM");
    const { url } = cluster.postgres;
    const there = await cli(before, ["migrate", "--from", before, "--to", url]);
    expect([there.code, there.err.replace(/^\d+ of \d+ streams\n/gm, "")]).toEqual([0, ""]);

    await cluster.start("a");
    await cluster.start("b");
    const told = async (id: string): Promise<string> => textOf(await cluster.events("b", id));
    for (const [n, { id }] of made.entries()) {
      await expect.poll(async () => (await cluster.view("b", id)).reachable).toBe(true);
      expect((await cluster.send("b", id, `say number ${n} in the fleet`)).status).toBe(202);
      await expect.poll(() => told(id)).toContain(`number ${n} in the fleet`);
      await cluster.hasEvents("b", id, "turn.ended", 2);
      checkStory(await cluster.events("b", id));
    }
    for (const args of [
      ["migrate", "--from", url, "--to", after],
      ["serve", "--port", "0", "--no-open", "--log", url],
    ]) {
      const refused = await cli(after, args);
      expect([refused.code, refused.err]).toEqual([
        expect.any(Number),
        expect.stringContaining("shared by nodes of a fleet: a, b"),
      ]);
      expect(refused.code).not.toBe(0);
    }
    const inFleet = await Promise.all(made.map(({ id }) => cluster.events("b", id)));
    for (const name of ["a", "b"]) await cluster.node(name).kill("SIGTERM");

    const back = await cli(after, ["migrate", "--from", url, "--to", after]);
    expect([back.code, back.err.replace(/^\d+ of \d+ streams\n/gm, "")]).toEqual([0, ""]);
    const again = await startDaemonProcess(after);
    for (const [n, { id }] of made.entries()) {
      const session = again.client.session(id);
      expect((await session.prompt(`say number ${n} after the fleet`)).text).toContain(`number ${n} after the fleet`);
      const page = await fetch(`${again.url}/v1/sessions/${id}/events?limit=10000`, {
        headers: { authorization: `Bearer ${again.token}` },
      });
      const { events } = (await page.json()) as { events: UniversalEvent[] };
      checkStory(events);
      expect(events.slice(0, inFleet[n]?.length ?? 0)).toEqual(inFleet[n]);
    }
    await again.kill("SIGTERM");
  });
});
