/** A damaged log under a service manager, from outside: refused at every start, said by the doctor, ended by a person's decision. */
import { closeSync, copyFileSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { openDatabase } from "../../src/log/sqlite/driver.ts";
import { cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

const dirs: string[] = [];
const running: DaemonProcess[] = [];
afterEach(async () => {
  for (const daemon of running.splice(0)) await daemon.kill("SIGTERM");
  for (const dir of dirs.splice(0)) removeDir(dir);
});

/** A data directory with one session in it, whose daemon has stopped. */
async function filled(): Promise<string> {
  const dataDir = temporaryDir("damaged");
  dirs.push(dataDir);
  const daemon = await startDaemonProcess(dataDir);
  const session = await daemon.client.createSession({ agent: "mock", session_id: "kept" });
  await session.prompt("say one two three");
  expect(await daemon.kill("SIGTERM")).toBe(0);
  return dataDir;
}

async function start(dataDir: string, args: string[] = []): Promise<DaemonProcess> {
  const daemon = await startDaemonProcess(dataDir, args);
  running.push(daemon);
  return daemon;
}

function damageHeader(dataDir: string): void {
  const fd = openSync(join(dataDir, "dragoman.db"), "r+");
  writeSync(fd, Buffer.from("no database here"), 0, 16, 0);
  closeSync(fd);
}

const serve = (dataDir: string) => cli(dataDir, ["serve", "--port", "0", "--no-open"]);

it("[D11] is refused again and again with an exit code of its own; accepting an empty one ends it", async () => {
  const dataDir = await filled();
  damageHeader(dataDir);
  for (let attempt = 0; attempt < 3; attempt++) {
    const { code, err } = await serve(dataDir);
    expect([code, err]).toEqual([65, expect.stringMatching(/damaged.*restore a backup.*--accept-empty.*\[database_corrupt\]/i)]);
  }
  const doctor = await cli(dataDir, ["doctor"]);
  expect([doctor.code, doctor.out]).toEqual([1, expect.stringMatching(/✗ Log: damaged.*--accept-empty/)]);
  const daemon = await start(dataDir, ["--accept-empty"]);
  expect((await daemon.client.sessions()).sessions).toEqual([]);
  expect(await daemon.client.metrics()).toMatch(/^dragoman_log_set_aside 1$/m);
  expect(readdirSync(dataDir).some((name) => name.startsWith("dragoman.db.corrupt-"))).toBe(true);
  expect((await cli(dataDir, ["doctor"])).out).toMatch(/✗ Log: a damaged log was set aside as dragoman\.db\.corrupt-/);
});

it("is over when a backup is put in its place", async () => {
  const dataDir = await filled();
  const backup = join(dataDir, "backup.db");
  copyFileSync(join(dataDir, "dragoman.db"), backup);
  damageHeader(dataDir);
  expect((await serve(dataDir)).code).toBe(65);
  rmSync(join(dataDir, "dragoman.db"));
  expect((await serve(dataDir)).code).toBe(65);
  copyFileSync(backup, join(dataDir, "dragoman.db"));
  const daemon = await start(dataDir);
  expect((await daemon.client.sessions()).sessions.map(({ session_id }) => session_id)).toEqual(["kept"]);
});

it("[D6] goes on with what is whole; what is damaged is refused, counted and named", async () => {
  const dataDir = await filled();
  const db = await openDatabase(join(dataDir, "dragoman.db"));
  db.exec("UPDATE event_chunks SET body = CAST(replace(CAST(body AS TEXT), 'three', 'seven') AS BLOB)");
  db.close();
  const { client } = await start(dataDir);
  const damaged = { status: 500, code: "data_damaged" };
  await expect(client.session("kept").page()).rejects.toMatchObject(damaged);
  await expect(client.session("kept").events().next()).rejects.toMatchObject({ code: "data_damaged" });
  expect(await client.health()).toMatchObject({ log: "damaged" });
  expect(await client.ready()).toMatchObject({ status: "ready", damage: { sessions: ["kept"] } });
  expect(await client.metrics()).toMatch(/^dragoman_log_damaged_places [1-9]/m);
  expect((await cli(dataDir, ["doctor"])).out).toMatch(/✗ Stored data: .*kept/);
  const other = await client.createSession({ agent: "mock" });
  expect(await other.prompt("say well")).toMatchObject({ text: "well" });
  await client.session("kept").remove();
  await expect(client.session("kept").get()).rejects.toMatchObject({ code: "session_not_found" });
});
