// What one session can do to the daemon: a message that kills it, and rows that nobody can read. Neither keeps it from starting.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openSqliteLog } from "../src/log/sqlite/log.ts";
import { cli, type DaemonProcess, linux, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

let dataDir: string;
let daemon: DaemonProcess | undefined;

beforeEach(() => {
  dataDir = temporaryDir("poison");
});
afterEach(async () => {
  await daemon?.kill("SIGKILL");
  daemon = undefined;
  removeDir(dataDir);
});

it.runIf(linux)(
  "[S3] a message that stops the daemon at two starts is not tried a third time, and the session goes on",
  async () => {
    // An agent whose start takes the daemon with it.
    const killer = join(dataDir, "killer.sh");
    writeFileSync(killer, '#!/bin/sh\n[ "$1" = --version ] && echo 1.0 && exit\nkill -9 $PPID\n');
    chmodSync(killer, 0o700);
    mkdirSync(join(dataDir, ".config"), { recursive: true });
    const config = join(dataDir, "config.json");
    writeFileSync(config, JSON.stringify({ agents: { acp: { killer: { command: killer } } } }));
    const start = () => startDaemonProcess(dataDir, ["--config", config]);
    const first = await start();
    const { id } = await first.client.createSession({ agent: "killer", directory: dataDir, trust: "trusted" });
    await first.client
      .session(id)
      .send("hello")
      .catch(() => {});
    await first.kill("SIGCONT");
    await expect(start().then(async (second) => second.kill("SIGCONT").then(() => "died"))).resolves.toBe("died");
    daemon = await start();
    const session = daemon.client.session(id);
    for await (const event of session.events())
      if (event.type === "turn.ended") {
        expect(event.data).toMatchObject({ stop_reason: "error" });
        break;
      }
    expect(await session.get()).toMatchObject({ queued: 0 });
    expect((await daemon.client.health()).status).toBe("ok");
    await session.remove();
  },
);

it("[S8] sessions that cannot be read are named by list, ready, metrics and doctor, and can be exported and removed", async () => {
  const before = await startDaemonProcess(dataDir);
  for (const session_id of ["good", "bad"]) await before.client.createSession({ agent: "mock", session_id });
  await before.kill("SIGTERM");
  const log = await openSqliteLog({ dataDir });
  (await log.writer("session", "bad"))?.setState('{"title":5}');
  await log.close();
  daemon = await startDaemonProcess(dataDir);
  const headers = { authorization: `Bearer ${daemon.token}` };
  const get = async (path: string) => (await fetch(`${daemon?.url}${path}`, { headers })).text();
  expect(JSON.parse(await get("/v1/sessions?search=o"))).toMatchObject({
    sessions: [{ session_id: "good" }],
    unreadable: [{ session_id: "bad" }],
  });
  expect(JSON.parse(await get("/v1/ready"))).toEqual({ status: "ready", unreadable_sessions: ["bad"] });
  expect(await get("/metrics")).toContain('dragoman_unreadable{what="session"} 1');
  const doctor = await cli(dataDir, ["doctor"]);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toMatch(/Session bad: cannot be read/);
  expect((await cli(dataDir, ["ls"])).err).toMatch(/1 more cannot be read/);
  expect(await cli(dataDir, ["export", "bad"])).toMatchObject({ out: expect.stringContaining("session.started") });
  expect((await cli(dataDir, ["rm", "bad"])).code).toBe(0);
  expect(JSON.parse(await get("/v1/ready"))).toEqual({ status: "ready", unreadable_sessions: [] });
});

it("[S9] a file that is no session is refused with 400, and the daemon starts again unharmed", async () => {
  const now = await startDaemonProcess(dataDir);
  const origin = await now.client.createSession({ agent: "mock", directory: dataDir });
  await origin.prompt("say hello");
  const file = await (await origin.export()).text();
  const [head = "", ...rest] = file.split("\n");
  const { row, ...line } = JSON.parse(head) as { row: object };
  const importing = (change: object, id: string) =>
    now.client.importSession([JSON.stringify({ ...line, row: { ...row, ...change } }), ...rest].join("\n"), { session_id: id });
  for (const change of [{ title: 5 }, { directory: 7 }, { model: "--x" }])
    await expect(importing(change, "x")).rejects.toMatchObject({ status: 400, code: "invalid_request" });
  // A directory that is not there is found out when it is used.
  await importing({ directory: "/no/such/directory" }, "nowhere");
  const { turn_id } = await now.client.session("nowhere").send("hello");
  for await (const event of now.client.session("nowhere").events())
    if (event.type === "turn.ended" && event.data.turn_id === turn_id) {
      expect(event.data.stop_reason).toBe("error");
      break;
    }
  await now.kill("SIGTERM");
  daemon = await startDaemonProcess(dataDir);
  expect((await daemon.client.sessions({ search: "mock" })).unreadable).toEqual([]);
});
