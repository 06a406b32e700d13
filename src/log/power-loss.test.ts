/**
 * The machine loses its power: what the kernel has in its memory is gone, what is on the disk stays. The log is on a disk of its own, a file behind a loop device; when the writer is dead, that file is copied as it is
 * and takes the disk's place. Needs root and loop devices, and is left out where there are none. DRAGOMAN_POWER_LOSSES sets how often.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startPostgres, withoutPostgres } from "./postgres/test-postgres.ts";
import { crash, holdsAll } from "./test-crash.ts";

const LOSSES = Number(process.env.DRAGOMAN_POWER_LOSSES ?? 1);
/** The writer says two lines for each commit and stream, or three. */
const LINES = 600;

const run = (program: string, ...args: string[]): void =>
  void execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });

class TestDisk {
  readonly home = mkdtempSync(join(tmpdir(), "dragoman-disk-"));
  readonly path = join(this.home, "mounted");
  readonly #image = join(this.home, "image");

  constructor() {
    mkdirSync(this.path);
    run("truncate", "-s", "600M", this.#image);
    run("mkfs.ext4", "-q", this.#image);
    this.#mount();
  }

  #mount(): void {
    run("mount", "-o", "loop", this.#image, this.path);
  }

  /** All that was written so far is on it. */
  sync(): void {
    run("sync", "-f", this.path);
  }

  /** Nobody may have a file open there. */
  losePower(): void {
    const left = join(this.home, "left");
    run("cp", "--sparse=always", this.#image, left);
    run("umount", this.path);
    run("mv", left, this.#image);
    this.#mount();
  }

  remove(): void {
    run("umount", "--lazy", this.path);
    rmSync(this.home, { recursive: true, force: true });
  }
}

function withoutDisks(): boolean {
  try {
    new TestDisk().remove();
    return false;
  } catch (error) {
    console.warn(`skipped: there are no loop devices to mount (${String(error).split("\n")[0]})`);
    return true;
  }
}

describe.skipIf(process.platform !== "linux" || process.getuid?.() !== 0 || withoutDisks())("loss of power", () => {
  const cleanups: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const newDisk = (): TestDisk => {
    const disk = new TestDisk();
    cleanups.push(() => disk.remove());
    return disk;
  };
  const limit = { timeout: 120_000 + LOSSES * 60_000 };

  it(`takes nothing from SQLite that had to be on the disk (${LOSSES} times)`, limit, async () => {
    for (let seed = 1; seed <= LOSSES; seed++) {
      const disk = newDisk();
      const place = join(disk.path, "data");
      const told = await crash({ place, seed, lines: LINES, sync: 1 });
      disk.losePower();
      const events = await holdsAll(place, told);
      const acknowledged = [...told.values()].reduce((sum, last) => sum + last, 0);
      expect(acknowledged).toBeGreaterThan(0);
      console.log(`SQLite lost its power: ${acknowledged} events were told, ${events} are there`);
    }
  });

  it.skipIf(withoutPostgres())(`takes nothing from Postgres that was told (${LOSSES} times)`, limit, async () => {
    for (let seed = 1; seed <= LOSSES; seed++) {
      const disk = newDisk();
      run("chmod", "755", disk.home, disk.path);
      const server = await startPostgres({ fsync: "on" }, disk.path);
      cleanups.push(() => server.stop());
      disk.sync();
      const place = `${server.url}#log`;
      const told = await crash({ place, seed, lines: LINES, onKill: () => server.kill() });
      disk.losePower();
      await server.restart();
      const events = await holdsAll(place, told);
      const acknowledged = [...told.values()].reduce((sum, last) => sum + last, 0);
      expect(acknowledged).toBeGreaterThan(0);
      console.log(`Postgres lost its power: ${acknowledged} events were told, ${events} are there`);
    }
  });
});
