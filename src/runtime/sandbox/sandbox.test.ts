import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CountingIds } from "../memory-stores.ts";
import { RulePolicy } from "../permissions/decide.ts";
import { ShellTasks } from "../shell-tasks.ts";
import { bashTool } from "../tools/bash.ts";
import { TestDirectory } from "../tools/test-tools.ts";
import { bubblewrapArguments } from "./bubblewrap.ts";
import { openSandbox, probeBubblewrap } from "./sandbox.ts";

let outside = "";
let works = false;
beforeAll(async () => {
  // Not in /tmp: that is another one inside, so nothing there would prove anything.
  outside = await realpath(await mkdtemp(join(homedir(), ".dragoman-outside-")));
  const limits = { mode: "workspace-write", network: "off", roots: [outside], hidden: [] } as const;
  works = (await probeBubblewrap(limits, process.env.PATH ?? "")).kind === "found";
});
afterAll(() => rm(outside, { recursive: true, force: true }));

let directory: TestDirectory | null = null;
afterEach(async () => {
  await directory?.remove();
  directory = null;
});

describe("without bubblewrap", () => {
  it("says so, and runs without; or refuses when a sandbox is required", async () => {
    const wanted = { mode: "workspace-write", directory: outside, path: "/nowhere" } as const;
    const sandbox = await openSandbox(wanted);
    expect(sandbox.mode).toBe("off");
    expect(sandbox.notice).toBe("Commands run without a sandbox: bubblewrap is not installed. Install the package bubblewrap.");
    expect(await sandbox.wrap(["a", "b"], "/")).toEqual(["a", "b"]);
    await expect(openSandbox({ ...wanted, required: true })).rejects.toThrow("nothing was started");
    expect((await openSandbox({ mode: "off", directory: outside })).notice).toBeNull();
  });

  it("says so when bubblewrap is there and may not do its work", async () => {
    const broken = join(outside, "bin");
    await mkdir(broken, { recursive: true });
    await writeFile(join(broken, "bwrap"), "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n", {
      mode: 0o755,
    });
    const sandbox = await openSandbox({ mode: "read-only", directory: outside, path: broken });
    expect(sandbox.notice).toContain("No permissions to create new namespace");
    expect(sandbox.mode).toBe("off");
  });
});

describe("arguments", () => {
  it("protect what runs code, hide secrets, and cover in the right order", async () => {
    const home = join(outside, "home");
    const root = join(home, "project");
    await mkdir(join(root, ".git"), { recursive: true });
    await mkdir(join(home, ".ssh"), { recursive: true });
    await writeFile(join(home, ".netrc"), "secret");
    const hidden = [join(home, "data")];
    await mkdir(hidden[0] ?? "", { recursive: true });
    const args = bubblewrapArguments({ mode: "workspace-write", network: "off", roots: [root], hidden }, root, home);
    const text = args.join(" ");
    expect(text).toContain(`--tmpfs ${home}/.ssh`);
    expect(text).toContain(`--ro-bind /dev/null ${home}/.netrc`);
    expect(text).toContain(`--tmpfs ${home}/data`);
    expect(text.indexOf(`--bind ${root} ${root}`)).toBeGreaterThan(text.indexOf("--tmpfs /tmp"));
    expect(text.indexOf(`--ro-bind ${root}/.git`)).toBeGreaterThan(text.indexOf(`--bind ${root} ${root}`));
    expect(text).toContain("--unshare-net");
    const open = bubblewrapArguments({ mode: "read-only", network: "on", roots: [root], hidden: [] }, root, home).join(" ");
    expect(open).not.toContain("--unshare-net");
    expect(open).not.toContain(" --bind ");
    // Somebody who works on their keys can.
    const own = bubblewrapArguments(
      { mode: "workspace-write", network: "off", roots: [join(home, ".ssh")], hidden: [] },
      root,
      home,
    );
    expect(own.join(" ")).not.toContain(`--tmpfs ${home}/.ssh`);
  });

  it("protect the git directory that a worktree's .git file names", async () => {
    const root = join(outside, "tree");
    await mkdir(join(root, "real-git"), { recursive: true });
    await writeFile(join(root, ".git"), "gitdir: real-git\n");
    const args = bubblewrapArguments({ mode: "workspace-write", network: "off", roots: [root], hidden: [] }, root).join(" ");
    expect(args).toContain(`--ro-bind ${root}/real-git`);
  });
});

/** Each tries to get out; it must fail, or have no effect outside. */
const ESCAPES: readonly (readonly [string, string])[] = [
  ["write outside", "echo x > OUT/file"],
  ["write by a link in the directory", "echo x > link/file"],
  ["write by a new link", "ln -s OUT out && echo x > out/file"],
  ["write by ..", "echo x > OUT/../$(basename OUT)/file"],
  ["hard link to a file outside", "ln OUT/secret mine && echo x > mine"],
  ["change a file outside", "echo x >> OUT/secret"],
  ["delete outside", "rm -f OUT/secret"],
  ["rename outside", "mv OUT/secret OUT/moved"],
  ["chmod outside", "chmod 000 OUT/secret"],
  ["hook of git", "echo x > .git/hooks/pre-commit"],
  ["config of git", "git config core.pager evil"],
  ["rename git away", "mv .git git2"],
  ["remove git", "rm -rf .git"],
  ["settings of an agent", "echo x > .claude/settings.json"],
  ["mount over it", "mount -t tmpfs none .git"],
  ["mount the disk again", "mount -o remount,rw /"],
  ["unmount", "umount .git"],
  ["another namespace", "unshare -Urm sh -c 'mount -o remount,rw,bind / && echo x > OUT/file'"],
  ["the root of process 1", "echo x > /proc/1/root/OUT/file"],
  ["the root of our parent", "echo x > /proc/PID/root/OUT/file"],
  ["memory of our parent", "cat /proc/PID/environ"],
  ["signal to our parent", "kill -0 PID"],
  // What would hurt the machine if it worked is only looked at.
  ["kernel settings", "test -w /proc/sys/kernel/core_pattern"],
  ["the name of the machine", "test -w /proc/sys/kernel/hostname"],
  ["the key of the last resort", "test -w /proc/sysrq-trigger"],
  ["settings in /sys", "find /sys -maxdepth 3 -type f -writable | grep -q ."],
  ["other files in /proc", "find /proc -maxdepth 1 -type f -writable | grep -q ."],
  ["a device", "mknod dev b 8 0 && head -c1 dev"],
  ["raw disk", "head -c1 /dev/sda"],
  ["system files", "echo x > /etc/dragoman-test"],
  ["a spool", "touch /var/spool/dragoman-test"],
  ["change root", "chroot OUT sh -c 'echo x > /file'"],
  ["write by a chain of links", "ln -s OUT one && ln -s one two && echo x > two/file"],
  ["write by an open directory", "cd OUT && echo x > file"],
  ["copy outside", "cp a.txt OUT/file"],
  ["move a file out", "mv a.txt OUT/file"],
  ["link outside", "ln -s /etc/hostname OUT/file"],
  ["a directory outside", "mkdir OUT/file"],
  ["a pipe outside", "mkfifo OUT/file"],
  ["shorten a file outside", "truncate -s 0 OUT/secret"],
  ["times of a file outside", "touch -d @0 OUT/secret"],
  ["owner of a file outside", "chown 65534 OUT/secret"],
  ["append with dd", "dd if=a.txt of=OUT/secret oflag=append conv=notrunc"],
  ["unpack outside", "tar cf - a.txt | tar xf - -C OUT"],
  ["our own root of /proc", "echo x > /proc/self/root/OUT/file"],
  ["our own directory of /proc", "echo x > /proc/self/cwd/link/file"],
  ["a hook by another name", "ln -s .git/hooks h && echo x > h/pre-commit"],
  ["another directory of hooks", "git config --local core.hooksPath evil"],
  ["replace the settings of an agent", "rm -rf .claude"],
  ["bind over it", "mount --bind OUT .git"],
  ["a program after its end", "setsid -w sh -c 'echo x > OUT/file'"],
  ["another user", "su nobody -s /bin/sh -c true"],
];

describe("with bubblewrap", () => {
  async function run(command: string, mode: "read-only" | "workspace-write" = "workspace-write", network: "on" | "off" = "off") {
    const sandbox = await openSandbox({ mode, directory: directory?.path ?? "", network, hidden: [join(outside, "hidden")] });
    expect(sandbox.mode).toBe(mode);
    const tasks = new ShellTasks({ ids: new CountingIds(), wrap: sandbox.wrap });
    const task = await tasks.start({ command, cwd: directory?.path ?? "", title: "t" });
    const exit = await task.ended;
    const output = task.output().text;
    await tasks.close();
    return { code: exit.code, output };
  }

  async function prepare(): Promise<void> {
    directory = await TestDirectory.make({ ".git/config": "[core]\n", ".claude/settings.json": "{}", "a.txt": "a" });
    await mkdir(join(directory.path, ".git/hooks"), { recursive: true });
    await symlink(outside, join(directory.path, "link"));
    await writeFile(join(outside, "secret"), "untouched");
  }

  it("work in the directory and /tmp goes on as usual", async (test) => {
    if (!works) return test.skip();
    await prepare();
    expect(await run("echo b > b.txt && cat a.txt b.txt && echo t > /tmp/t && cat /tmp/t && exit 3")).toEqual({
      code: 3,
      output: "ab\nt\n",
    });
    expect(await readFile(join(directory?.path ?? "", "b.txt"), "utf8")).toBe("b\n");
    expect(existsSync("/tmp/t")).toBe(false);
  });

  it(`${ESCAPES.length} ways out are closed`, async (test) => {
    if (!works) return test.skip();
    await prepare();
    for (const [name, command] of ESCAPES) {
      const line = command.replaceAll("OUT", outside).replaceAll("PID", String(process.pid));
      const { code } = await run(line);
      expect(code, name).not.toBe(0);
      expect(await readFile(join(outside, "secret"), "utf8"), name).toBe("untouched");
      expect(existsSync(join(outside, "file")), name).toBe(false);
      expect(await readFile(join(directory?.path ?? "", ".git/config"), "utf8"), name).toBe("[core]\n");
      expect(existsSync(join(directory?.path ?? "", ".git/hooks/pre-commit")), name).toBe(false);
      expect(existsSync(join(directory?.path ?? "", ".claude/settings.json")), name).toBe(true);
      expect(existsSync("/etc/dragoman-test"), name).toBe(false);
    }
  });

  it("read-only: nothing is written", async (test) => {
    if (!works) return test.skip();
    await prepare();
    expect((await run("echo x > a.txt", "read-only")).code).not.toBe(0);
    expect(await readFile(join(directory?.path ?? "", "a.txt"), "utf8")).toBe("a");
    expect((await run("cat a.txt", "read-only")).output).toBe("a");
  });

  it("network: none unless allowed, no sockets of other programs, hidden things stay hidden", async (test) => {
    if (!works) return test.skip();
    await prepare();
    await mkdir(join(outside, "hidden"), { recursive: true });
    await writeFile(join(outside, "hidden/key"), "k");
    const server = createServer((socket) => socket.end("hello"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const talk = `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`;
    expect((await run(talk)).code).not.toBe(0);
    expect((await run(talk, "workspace-write", "on")).output).toBe("hello");
    await new Promise((resolve) => server.close(resolve));
    expect((await run(`cat ${outside}/secret`)).output).toBe("untouched");
    expect((await run(`cat ${outside}/hidden/key`)).code).not.toBe(0);
    expect((await run("ls -A /run")).output).toBe("");
  });

  it("a command dies with its sandbox", async (test) => {
    if (!works) return test.skip();
    await prepare();
    const sandbox = await openSandbox({ mode: "workspace-write", directory: directory?.path ?? "" });
    const tasks = new ShellTasks({ ids: new CountingIds(), wrap: sandbox.wrap });
    const task = await tasks.start({
      command: "(while true; do date +%N > tick; done) & sleep 300",
      cwd: directory?.path ?? "",
      title: "t",
    });
    const tick = join(directory?.path ?? "", "tick");
    while (!existsSync(tick)) await new Promise((resolve) => setTimeout(resolve, 10));
    await task.stop();
    await rm(tick, { force: true });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(existsSync(tick)).toBe(false);
    await tasks.close();
  });

  it("the model may ask to leave it, and only a person lets it out", async (test) => {
    if (!works) return test.skip();
    await prepare();
    const path = directory?.path ?? "";
    const sandbox = await openSandbox({ mode: "workspace-write", directory: path });
    const tasks = new ShellTasks({ ids: new CountingIds(), wrap: sandbox.wrap });
    const inside = await TestDirectory.make({}, tasks);
    const command = `echo x > ${outside}/file; cat ${outside}/file`;
    expect((await inside.call(bashTool, { command, cwd: path })).isError).toBe(true);
    expect((await inside.call(bashTool, { command, cwd: path, unsandboxed: true })).output).toBe("x");
    await rm(join(outside, "file"));
    await inside.remove();
    const policy = new RulePolicy({ directory: path, rules: [{ rule: "Bash(ls:*)", decision: "allow" }] });
    const subject = { kind: "bash", command: "ls", cwd: path } as const;
    expect(policy.decide(subject, "default").decision).toBe("allow");
    expect(policy.decide({ ...subject, unsandboxed: true }, "default").decision).toBe("ask");
  });
});
