/** Checkpoints on a disk that is full, a real one: nothing is lost, and a rewind that does not fit is taken back. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { differences, snapshot, temporary } from "../test-trees.ts";
import { closeCheckpoints, openCheckpoints } from "./index.ts";

const MIB = 1024 ** 2;
let place: ReturnType<typeof temporary>;
let disk: string;
let mounted = false;

beforeEach(() => {
  place = temporary("full");
  disk = join(place.path, "disk");
  mkdirSync(disk);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], { stdio: "ignore" });
    mounted = true;
  } catch {
    // Not permitted here: the tests are skipped.
    mounted = false;
  }
});
afterEach(() => {
  if (mounted) execFileSync("umount", ["-l", disk]);
  place.remove();
});

/** Leaves so many bytes free. */
function fill(left: number): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(join(disk, "ballast"), Buffer.alloc(bavail * bsize - left));
}

it("stores nothing on a full disk, says so, and goes on when there is space", async (context) => {
  if (!mounted) return context.skip();
  const tree = join(place.path, "tree");
  mkdirSync(tree);
  writeFileSync(join(tree, "a"), "1");
  const checkpoints = await openCheckpoints(tree, join(disk, "stores"));
  const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
  writeFileSync(join(tree, "a"), "x".repeat(2 * MIB));
  fill(MIB);
  await expect(checkpoints.take({ kind: "after_tool" })).rejects.toMatchObject({ code: "disk_full" });
  await expect(checkpoints.rewind(id)).rejects.toMatchObject({ code: "disk_full" });
  expect(readFileSync(join(tree, "a"), "utf8").length).toBe(2 * MIB);
  rmSync(join(disk, "ballast"));
  expect((await checkpoints.rewind(id)).files).toEqual(["a"]);
  expect(readFileSync(join(tree, "a"), "utf8")).toBe("1");
  await closeCheckpoints(checkpoints);
});

it("takes a rewind back that does not fit", async (context) => {
  if (!mounted) return context.skip();
  const tree = join(disk, "tree");
  const names = ["a", "b", "c", "d"];
  mkdirSync(tree);
  for (const name of names) writeFileSync(join(tree, name), name.repeat(300_000));
  const checkpoints = await openCheckpoints(tree, join(place.path, "stores"));
  const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
  for (const name of names) writeFileSync(join(tree, name), `small ${name}`);
  writeFileSync(join(tree, "new"), "new");
  await checkpoints.take({ kind: "turn_end", session_id: "s" });
  const before = snapshot(tree);
  // Room for one of the four.
  fill(500_000);
  await expect(checkpoints.rewind(id)).rejects.toMatchObject({ code: "disk_full" });
  expect(differences(before, snapshot(tree))).toEqual([]);
  rmSync(join(disk, "ballast"));
  expect((await checkpoints.rewind(id)).kept).toEqual([]);
  expect(readFileSync(join(tree, "d"), "utf8")).toBe("d".repeat(300_000));
  expect(readdirSync(tree).sort()).toEqual(names);
  await closeCheckpoints(checkpoints);
});
