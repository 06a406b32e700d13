import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { GitObjects } from "./objects.ts";

let directory = "";
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Programs of git that this process has started and that run. */
const running = (): number =>
  readdirSync("/proc").filter((pid) => {
    try {
      const parent = /\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];
      return parent === String(process.pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("cat-file");
    } catch {
      return false;
    }
  }).length;

it("reads objects through one program, which ends when nothing is read any more, and starts again when something is", async () => {
  directory = mkdtempSync(join(tmpdir(), "git-objects-"));
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: directory, encoding: "utf8" }).trim();
  git("init", "-q");
  const oids = ["one", "two"].map((text) => {
    writeFileSync(join(directory, text), text);
    return git("hash-object", "-w", text);
  });
  const objects = new GitObjects(directory);
  const read = async (): Promise<(string | undefined)[]> =>
    (await Promise.all([...oids, "0".repeat(40)].map((oid) => objects.read(oid)))).map((content) => content?.toString());
  expect(await read()).toEqual(["one", "two", undefined]);
  expect(running()).toBe(1);
  await expect.poll(running).toBe(0);
  expect(await read()).toEqual(["one", "two", undefined]);
  objects.close();
  await expect.poll(running).toBe(0);
});
