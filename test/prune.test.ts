/** Old sessions go: by the command line in a real daemon, and by themselves at the start of one that is configured so. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Dragoman } from "../src/client/index.ts";
import { ConfigError, readConfig, retentionOf } from "../src/daemon/config.ts";
import { startDaemon } from "../src/daemon/daemon.ts";
import { closeTerminals, TestTerminal } from "./cli/terminal.ts";
import { cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

const DAY = 86_400_000;

describe("dragoman prune", () => {
  let dataDir: string;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    dataDir = temporaryDir("prune");
    daemon = await startDaemonProcess(dataDir);
    for (const session_id of ["zeroth", "first", "second", "third"])
      await (await daemon.client.createSession({ agent: "mock", directory: dataDir, session_id })).terminate();
  });
  afterAll(async () => {
    closeTerminals();
    await daemon.kill("SIGTERM");
    removeDir(dataDir);
  });

  const count = async (): Promise<number> => (await daemon.client.sessions()).sessions.length;

  it("shows what would go, and without a terminal removes nothing", async () => {
    const { code, out, err } = await cli(dataDir, ["prune", "--older-than", "0m", "--keep", "1"]);
    expect(code).toBe(5);
    expect(out).toContain("3 sessions with ");
    expect(out).toContain("first");
    expect(out).not.toContain("third");
    expect(err).toContain("--yes");
    const listed = await cli(dataDir, ["prune", "--older-than", "0m", "--json"]);
    expect(listed.code).toBe(0);
    expect(
      listed.out
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { session_id: string }).session_id),
    ).toEqual(["third", "second", "first", "zeroth"]);
    expect(await count()).toBe(4);
  });

  it.each([
    [[], "--older-than is missing"],
    [["--older-than", "soon"], "not soon"],
    [["--older-than", "-3d"], ""],
    [["--older-than", "3 d"], "not 3 d"],
    [["--older-than", "3d", "--keep", "-1"], ""],
    [["--older-than", "3d", "--keep", "many"], "--keep"],
    [["--older-than", "3d", "--colour", "red"], "colour"],
  ])("refuses %j", async (args, words) => {
    const { code, err } = await cli(dataDir, ["prune", "--yes", ...args]);
    expect(code).toBe(2);
    expect(err).toContain(words);
    expect(await count()).toBe(4);
  });

  it("asks a person, and takes only a yes for one", async () => {
    for (const [keys, word] of [
      ["\r", "Nothing was removed."],
      ["no\r", "Nothing was removed."],
      ["y\r", "Removed 1 session."],
    ] as const) {
      const terminal = new TestTerminal(dataDir, ["prune", "--older-than", "0m", "--keep", "3"]);
      await terminal.sees("1 session with ");
      await terminal.sees("Remove 1 session? [y/N]");
      terminal.type(keys);
      await terminal.sees(word);
      expect(await terminal.exit).toBe(0);
    }
    expect(await count()).toBe(3);
  });

  it("removes with --yes", async () => {
    expect((await cli(dataDir, ["prune", "--older-than", "1d", "--yes"])).out).toBe("No session is that old.\n");
    const removed = await cli(dataDir, [
      "prune",
      "--older-than",
      "0m",
      "--keep",
      "1",
      "--agent",
      "mock",
      "-C",
      ".",
      "--yes",
      "--json",
    ]);
    expect(removed).toMatchObject({ code: 0, out: '{"removed":2}\n' });
    expect((await daemon.client.sessions()).sessions.map(({ session_id }) => session_id)).toEqual(["third"]);
  });
});

describe("retention in the configuration", () => {
  const dataDir = temporaryDir("retention");
  afterEach(() => void vi.useRealTimers());
  afterAll(() => removeDir(dataDir));

  const start = (config = {}) =>
    startDaemon({ port: 0, dataDir, directory: dataDir, config, env: { PATH: process.env.PATH, HOME: dataDir } });

  it("removes old sessions at the start of the daemon, and no others", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 100 * DAY });
    const past = await start();
    const before = new Dragoman({ url: past.url, token: past.token });
    for (const session_id of ["old", "kept-open"]) await before.createSession({ agent: "mock", session_id });
    const pinned = await before.createSession({ agent: "mock", session_id: "pinned" });
    await pinned.update({ pinned: true });
    for (const id of ["old", "pinned"]) await before.session(id).terminate();
    await past.close();
    vi.useRealTimers();

    const plain = await start();
    expect((await new Dragoman({ url: plain.url, token: plain.token }).sessions()).sessions).toHaveLength(3);
    await plain.close();

    const now = await start({ retention: { ended: "90d", keep: 0 } });
    const client = new Dragoman({ url: now.url, token: now.token });
    await vi.waitFor(async () => expect((await client.sessions()).sessions).toHaveLength(2), { timeout: 120_000 });
    expect((await client.sessions()).sessions.map(({ session_id }) => session_id).sort()).toEqual(["kept-open", "pinned"]);
    const { records } = await client.audit({ limit: 10 });
    expect(records.find(({ operation }) => operation === "session.pruned")).toMatchObject({
      session_id: "old",
      actor: { surface: "daemon" },
    });
    await now.close();
  });

  it.each([
    { ended: "soon" },
    { ended: "0d" },
    { ended: "-1d" },
    { ended: "90" },
    { dormant: 90 },
    { keep: -1 },
    { keep: 1.5 },
    { colour: "red" },
  ])("refuses %j", (retention) => {
    const file = join(dataDir, "config.json");
    writeFileSync(file, JSON.stringify({ retention }));
    expect(() => readConfig(file)).toThrow(ConfigError);
  });

  it("is read in milliseconds, and keeps 100 unless told otherwise", () => {
    expect(retentionOf({})).toEqual({ keep: 100 });
    expect(retentionOf({ retention: { ended: "90d", dormant: "2w", keep: 5 } })).toEqual({
      ended_ms: 90 * DAY,
      dormant_ms: 14 * DAY,
      keep: 5,
    });
  });
});
