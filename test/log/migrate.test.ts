// `dragoman migrate` as users run it: from a data directory into a real Postgres and back, killed on the way. DRAGOMAN_MIGRATE_SESSIONS sets how many sessions.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Postgres } from "../../src/log/postgres/connection.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { CLI, cleanEnv, cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

const SESSIONS = Number(process.env.DRAGOMAN_MIGRATE_SESSIONS ?? 12);

/** Exports of sessions, to the byte. */
async function exportsOf(daemon: DaemonProcess, ids: readonly string[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const id of ids) {
    const path = `/v1/sessions/${id}/export?with_secrets=true`;
    const answer = await fetch(daemon.url + path, { headers: { authorization: `Bearer ${daemon.token}` } });
    expect(answer.status).toBe(200);
    found.set(id, await answer.text());
  }
  return found;
}

describe.skipIf(withoutPostgres())("dragoman migrate", () => {
  let server: TestPostgres;
  const [first, last] = [temporaryDir("migrate-from"), temporaryDir("migrate-to")];
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
    removeDir(first);
    removeDir(last);
  });

  it("is the same there and back, killed twice on the way, and refused while a daemon runs", async () => {
    const daemon = await startDaemonProcess(first);
    const ids: string[] = [];
    for (let n = 0; n < SESSIONS; n++) {
      const session = await daemon.client.createSession({ agent: "mock", directory: first, title: `number ${n}` });
      ids.push(session.id);
      await session.prompt(n % 3 === 0 ? "flood 4000" : `say something ${n}`);
      if (n % 2 === 0) await session.terminate();
    }
    const there = ["migrate", "--from", first, "--to", server.url];
    const refused = await cli(first, there);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("is in use by another dragoman")]);
    await daemon.kill("SIGTERM");

    const database = await Postgres.open({ url: server.url });
    const stored = async (): Promise<number> => {
      const { rows } = await database.query("SELECT count(*) AS n FROM dragoman.event_chunks").catch(() => ({ rows: [] }));
      return Number(rows[0]?.n ?? 0);
    };
    for (let kill = 0; kill < 2; kill++) {
      const before = await stored();
      const child = spawn(process.execPath, [CLI, ...there], { env: cleanEnv(first), stdio: "ignore" });
      const gone = once(child, "exit");
      await expect.poll(stored, { interval: 5 }).toBeGreaterThan(before);
      child.kill("SIGKILL");
      await gone;
      await expect(startDaemonProcess(last, [], { DRAGOMAN_LOG: server.url })).rejects.toThrow(/in use|has not ended/);
    }
    await database.close();
    const done = await cli(first, [...there, "--json"]);
    expect([done.code, done.err]).toEqual([0, ""]);
    expect(JSON.parse(done.out)).toMatchObject({ streams: SESSIONS });
    const back = await cli(last, ["migrate", "--from", server.url, "--to", last]);
    expect([back.code, back.err.replace(/^\d+ of \d+ streams\n/gm, "")]).toEqual([0, ""]);

    const [old, copy] = [await startDaemonProcess(first), await startDaemonProcess(last)];
    const [before, after] = [await exportsOf(old, ids), await exportsOf(copy, ids)];
    expect(before.size).toBe(SESSIONS);
    for (const [id, text] of before) expect(after.get(id) === text, `the export of ${id}`).toBe(true);
    const inPostgres = await startDaemonProcess(temporaryDir("migrate-other"), [], { DRAGOMAN_LOG: server.url });
    for (const [id, text] of await exportsOf(inPostgres, ids)) expect(before.get(id) === text, `the export of ${id}`).toBe(true);
    const fresh = await inPostgres.client.createSession({ agent: "mock" });
    expect((await fresh.prompt("say on")).text).toBe("on");
    await Promise.all([old.kill("SIGKILL"), copy.kill("SIGKILL"), inPostgres.kill("SIGKILL")]);
    removeDir(inPostgres.data_dir);
  });
});
