import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { afterEach, describe, expect, it } from "vitest";
import { start } from "./test-processes.ts";
import { childStdio, releaseDescriptor, withholdDescriptor } from "./withheld-descriptors.ts";

type Terminal = { fd: number; master: { destroy(): void }; slave: { destroy(): void } };
const pty: { open(options: { cols: number; rows: number }): Terminal } = createRequire(import.meta.url)("@lydell/node-pty");

const opened: Terminal[] = [];
/** The master of a pseudo-terminal, which is not close-on-exec. */
function openMaster(): number {
  const terminal = pty.open({ cols: 80, rows: 24 });
  opened.push(terminal);
  return terminal.fd;
}
afterEach(() => {
  for (const { fd, master, slave } of opened.splice(0)) {
    releaseDescriptor(fd);
    master.destroy();
    slave.destroy();
  }
});

const LIST = 'cd /proc/self/fd && for f in *; do echo "$f $(readlink "$f")"; done';

async function descriptorsOfChild(): Promise<Map<number, string>> {
  const { exited, stdout } = start({ command: "sh", args: ["-c", LIST] });
  await exited;
  return new Map(
    stdout()
      .trim()
      .split("\n")
      .map((line) => [Number(line.split(" ")[0]), line.slice(line.indexOf(" ") + 1)]),
  );
}

describe.runIf(process.platform === "linux")("withheld descriptors", () => {
  it("a child inherits a master that is not withheld: the reason for all this", async () => {
    const fd = openMaster();
    expect((await descriptorsOfChild()).get(fd)).toMatch(/ptmx/);
  });

  it("a child gets nothing in place of the withheld ones, and the rest as before", async () => {
    const fds = [openMaster(), openMaster(), openMaster()];
    for (const fd of fds) withholdDescriptor(fd);
    const child = await descriptorsOfChild();
    expect(fds.map((fd) => child.get(fd))).toEqual(["/dev/null", "/dev/null", "/dev/null"]);
    expect([...child.values()].join()).not.toMatch(/ptmx/);
    expect(child.get(1)).toMatch(/socket|pipe/);
  });

  it("a released one is of no concern any more", async () => {
    const [first, second] = [openMaster(), openMaster()];
    withholdDescriptor(first);
    withholdDescriptor(second);
    releaseDescriptor(second);
    expect(childStdio(["pipe", "pipe", "ignore"])).toHaveLength(first + 1);
    releaseDescriptor(first);
    expect(childStdio(["pipe", "pipe", "ignore"])).toEqual(["pipe", "pipe", "ignore"]);
  });

  it("numbers below a withheld one reach the child only when they are meant to", async () => {
    const file = openSync("/dev/zero", "r");
    const fd = openMaster();
    withholdDescriptor(fd);
    try {
      expect((await descriptorsOfChild()).get(file)).not.toBe("/dev/zero");
      const child = spawn("true", { stdio: childStdio(["ignore", "ignore", "ignore"]) });
      expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
    } finally {
      closeSync(file);
    }
  });
});
