/** Checkpoints through the running daemon, with an agent that edits files through a shell: what turns changed, going back, and what is refused. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionHandle } from "../src/client/session-handle.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { cli, type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

const AGENT = fileURLToPath(new URL("./shell-agent.mjs", import.meta.url));
const agents = { acp: { shell: { command: process.execPath, args: [AGENT], restricted: {} } } };

let base: string;
let dataDir: string;
let daemon: DaemonProcess;
let count = 0;

const configure = (more: object = {}): void => {
  mkdirSync(join(dataDir, ".config/dragoman"), { recursive: true });
  writeFileSync(join(dataDir, ".config/dragoman/config.json"), JSON.stringify({ agents, ...more }));
};

beforeAll(async () => {
  base = temporaryDir("checkpoints");
  dataDir = join(base, "data");
  mkdirSync(dataDir);
  configure();
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(base);
});

async function begin(files: Record<string, string> = {}): Promise<{ session: SessionHandle; directory: string }> {
  const directory = join(base, `work-${++count}`);
  mkdirSync(directory);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return { session: await daemon.client.createSession({ agent: "shell", directory }), directory };
}

const eventsOf = async (session: SessionHandle, after = 0): Promise<UniversalEvent[]> =>
  (await session.page({ after, limit: 1_000 })).events as UniversalEvent[];

/** The checkpoint of a turn's end comes after the turn's end, because nothing waits for it. */
async function turn(session: SessionHandle, command: string): Promise<string> {
  const { turn_id } = await session.prompt(command);
  for (;;) {
    const { to } = await session.changes({ turn: turn_id, text: false });
    if (to !== "now") return turn_id;
  }
}

const tree = (directory: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, readFileSync(join(directory, name), "utf8")]),
  );

describe("checkpoints", () => {
  it("are listed with the moment the session reached them, also when another session stored the tree long before", async () => {
    const { session, directory } = await begin({ "a.txt": "one\n" });
    await session.takeCheckpoint();
    const later = await daemon.client.createSession({ agent: "shell", directory });
    await later.takeCheckpoint();
    const { created_at } = await later.get();
    const [shared] = (await later.checkpoints()).checkpoints;
    expect(shared?.checkpoint_id).toBe((await session.checkpoints()).checkpoints[0]?.checkpoint_id);
    expect(Date.parse(shared?.created_at ?? "")).toBeLessThan(Date.parse(created_at));
    expect(Date.parse(shared?.reached_at ?? "")).toBeGreaterThanOrEqual(Date.parse(created_at));
  });

  it("stores the directory before each turn, shows what a turn changed, goes back, and takes that back", async () => {
    const before = { "a.txt": "one\n", "b.txt": "two\n" };
    const { session, directory } = await begin(before);
    const first = await turn(session, "echo more >> a.txt; rm b.txt; echo new > c.txt");
    const after = tree(directory);
    const second = await turn(session, "echo second > d.txt");

    const { checkpoints, state } = await session.checkpoints();
    expect(state).toBe("on");
    expect(checkpoints.map(({ kind }) => kind)).toEqual(["turn_start", "after_tool", "after_tool"]);
    expect(checkpoints[1]).toMatchObject({ turn_id: first, files: 3, auto: true });

    const changed = await session.changes({ turn: first });
    expect(changed.changes.map(({ path, change }) => `${change} ${path}`)).toEqual([
      "modified a.txt",
      "deleted b.txt",
      "added c.txt",
    ]);
    expect(changed.changes[0]?.patch).toContain("+more");
    expect([changed.added, changed.removed]).toEqual([2, 1]);
    expect((await session.changes({ turn: second })).changes.map(({ path }) => path)).toEqual(["d.txt"]);
    expect((await session.changes({ text: false })).changes.map(({ path }) => path)).toEqual([
      "a.txt",
      "b.txt",
      "c.txt",
      "d.txt",
    ]);
    expect((await session.changes({ path: "c.txt" })).changes.map(({ path }) => path)).toEqual(["c.txt"]);

    const start = checkpoints[0]!.checkpoint_id;
    const dry = await session.rewind(start, { dry_run: true });
    expect(dry.files?.files.sort()).toEqual(["a.txt", "b.txt", "c.txt", "d.txt"]);
    expect(tree(directory)).toEqual({ ...after, "d.txt": "second\n" });
    await session.rewind(start);
    expect(tree(directory)).toEqual(before);
    await session.undoRewind();
    expect(tree(directory)).toEqual({ ...after, "d.txt": "second\n" });
    await session.undoRewind();
    expect(tree(directory)).toEqual(before);
    const types = (await eventsOf(session)).map(({ type }) => type).filter((type) => type.startsWith("checkpoint."));
    expect(types.filter((type) => type === "checkpoint.rewound")).toHaveLength(3);
    expect(types).not.toContain("checkpoint.failed");
  });

  it("tells a checkpoint before its turn begins, and once", async () => {
    const { session } = await begin({ "a.txt": "one\n" });
    await turn(session, "true");
    await turn(session, "true");
    const types = (await eventsOf(session)).map(({ type }) => type);
    expect(types.filter((type) => type === "checkpoint.created")).toHaveLength(1);
    expect(types.indexOf("checkpoint.created")).toBeLessThan(types.indexOf("turn.started"));
    expect(types.indexOf("checkpoint.created")).toBeGreaterThan(types.indexOf("message.queued"));
  });

  it("keeps what a person changed between turns, unless forced; and takes back only the paths that are named", async () => {
    const { session, directory } = await begin({ "a.txt": "one\n", "mine.txt": "mine\n" });
    await turn(session, "echo agent > a.txt; echo agent > b.txt");
    writeFileSync(join(directory, "mine.txt"), "changed by a person\n");
    await turn(session, "echo agent > c.txt");
    const [start] = (await session.checkpoints()).checkpoints;
    const only = await session.rewind(start!.checkpoint_id, { paths: ["b.txt"] });
    expect(only.files?.files).toEqual(["b.txt"]);
    const { files } = await session.rewind(start!.checkpoint_id);
    expect(files?.kept).toEqual([{ path: "mine.txt", reason: "user_edit" }]);
    expect(tree(directory)).toEqual({ "a.txt": "one\n", "mine.txt": "changed by a person\n" });
    await session.rewind(start!.checkpoint_id, { force: true });
    expect(tree(directory)).toEqual({ "a.txt": "one\n", "mine.txt": "mine\n" });
  });

  it("stores the directory before a person's consent reaches the agent", async () => {
    const { session, directory } = await begin({ "a.txt": "one\n" });
    const asked = new Promise<string>((resolve) => session.on("permission", ({ permission_id }) => resolve(permission_id)));
    const { turn_id } = await session.send("ask: echo two > a.txt");
    const permission = await asked;
    writeFileSync(join(directory, "note.txt"), "written while the agent waited\n");
    await session.replyPermission(permission, { reply: "once" });
    for await (const { type, data } of session.events({ types: ["turn.ended"] }))
      if (type === "turn.ended" && data.turn_id === turn_id) break;
    session.close();
    const { checkpoints } = await session.checkpoints();
    const before = checkpoints.find(({ kind }) => kind === "before_permission");
    expect(before).toMatchObject({ files: 1, turn_id });
    await session.rewind(before!.checkpoint_id, { force: true });
    expect(tree(directory)).toEqual({ "a.txt": "one\n", "note.txt": "written while the agent waited\n" });
  });

  it("refuses a rewind while a turn runs, in this session or another of the directory", async () => {
    const { session, directory } = await begin({ "a.txt": "one\n" });
    await turn(session, "echo two > a.txt");
    const [start] = (await session.checkpoints()).checkpoints;
    const other = await daemon.client.createSession({ agent: "shell", directory });
    const go = join(base, `go-${count}`);
    await other.send(`wait: ${go}`);
    for await (const { type } of other.events({ types: ["turn.started"] })) if (type === "turn.started") break;
    for (const each of [session, other]) {
      const id = each === other ? (await other.checkpoints()).checkpoints[0]!.checkpoint_id : start!.checkpoint_id;
      await expect(each.rewind(id)).rejects.toMatchObject({ code: "session_busy", status: 409 });
    }
    expect((await session.rewind(start!.checkpoint_id, { dry_run: true })).files?.files).toEqual(["a.txt"]);
    writeFileSync(go, "");
    for await (const { type } of other.events({ types: ["turn.ended"] })) if (type === "turn.ended") break;
    await session.rewind(start!.checkpoint_id);
    expect(tree(directory)).toEqual({ "a.txt": "one\n" });
  });

  it("knows nothing of another session's checkpoints, of paths outside, or of turns it never had", async () => {
    const { session } = await begin({ "a.txt": "one\n" });
    await turn(session, "echo two > a.txt");
    const { session: other } = await begin({ "a.txt": "one\n" });
    await turn(other, "echo three > a.txt");
    const [foreign] = (await other.checkpoints()).checkpoints;
    const [own] = (await session.checkpoints()).checkpoints;
    await expect(session.rewind(foreign!.checkpoint_id)).rejects.toMatchObject({ code: "checkpoint_not_found", status: 404 });
    await expect(session.diff(foreign!.checkpoint_id)).rejects.toMatchObject({ code: "checkpoint_not_found" });
    await expect(session.diff(own!.checkpoint_id, { to: foreign!.checkpoint_id })).rejects.toMatchObject({
      code: "checkpoint_not_found",
    });
    await expect(session.rewind(own!.checkpoint_id, { paths: ["../x"] })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(session.changes({ turn: "nobody" })).rejects.toMatchObject({ code: "turn_not_found" });
  });

  it("says why it cannot store a directory, once, and lets the turn go on", async () => {
    const session = await daemon.client.createSession({ agent: "shell", directory: dataDir });
    await session.prompt("true");
    await session.prompt("true");
    const failed = (await eventsOf(session)).flatMap((event) => (event.type === "checkpoint.failed" ? [event.data] : []));
    expect(failed).toEqual([{ action: "create", error: expect.stringContaining("home") }]);
    expect((await session.checkpoints()).state).toBe("touched");
    await expect(session.takeCheckpoint()).rejects.toMatchObject({ code: "checkpoint_refused" });
    const { session: gone, directory } = await begin();
    await turn(gone, "echo x > x.txt");
    const [start] = (await gone.checkpoints()).checkpoints;
    rmSync(directory, { recursive: true });
    await expect(gone.rewind(start!.checkpoint_id)).rejects.toMatchObject({ code: "directory_not_found" });
    await expect(gone.takeCheckpoint()).rejects.toMatchObject({ code: "directory_not_found" });
  });

  it("goes on with the conversation of before in a new session", async () => {
    const { session, directory } = await begin({ "a.txt": "one\n" });
    await turn(session, "echo two > a.txt");
    const { checkpoints } = await session.checkpoints();
    const { session_id, files } = await session.rewind(checkpoints[0]!.checkpoint_id, { mode: "both" });
    expect(files?.files).toEqual(["a.txt"]);
    const branch = daemon.client.session(session_id!);
    expect(await branch.get()).toMatchObject({ forked_from: session.id, directory, agent: "shell" });
    await turn(branch, "echo three > a.txt");
    // Something was said before this one, and the agent takes no system prompt.
    await expect(session.rewind(checkpoints[1]!.checkpoint_id, { mode: "conversation" })).rejects.toMatchObject({
      code: "fork_unsupported",
    });
  });

  it("goes back to before a turn that changed no file, by its turn", async () => {
    const { session } = await begin({ "a.txt": "one\n" });
    await turn(session, "true");
    const second = await turn(session, "true");
    const { from } = await session.changes({ turn: second });
    await expect(session.rewind(from!, { mode: "conversation", turn: second })).rejects.toMatchObject({
      code: "fork_unsupported",
    });
    await expect(session.rewind(from!, { mode: "conversation", turn: "turn_x" })).rejects.toMatchObject({
      code: "turn_not_found",
    });
    expect((await session.rewind(from!, { mode: "conversation" })).session_id).not.toBeNull();
  });

  it("is used from the command line", async () => {
    const { session, directory } = await begin({ "a.txt": "one\n" });
    const turnId = await turn(session, "echo two > a.txt");
    const run = (...args: string[]) => cli(dataDir, args);
    expect((await run("checkpoint", "ls", session.id)).out).toMatch(/0 +[0-9a-f-]{36} .*turn start\n1 .*after tool/);
    expect((await run("changes", session.id, "--turn", turnId)).out).toContain("-one\n+two");
    expect((await run("changes", session.id, "--names")).out).toBe("M a.txt\n");
    expect((await run("checkpoint", "diff", session.id, "0", "last", "--names")).out).toBe("M a.txt\n");
    expect((await run("checkpoint", "rewind", session.id, "0", "--dry-run")).out).toContain("M a.txt\nNothing was changed.");
    expect(tree(directory)).toEqual({ "a.txt": "two\n" });
    expect((await run("checkpoint", "rewind", session.id, "0")).out).toContain("checkpoint undo");
    expect(tree(directory)).toEqual({ "a.txt": "one\n" });
    expect((await run("checkpoint", "undo", session.id)).code).toBe(0);
    expect(tree(directory)).toEqual({ "a.txt": "two\n" });
    expect(JSON.parse((await run("checkpoint", "take", session.id, "my", "label", "--json")).out)).toMatchObject({
      kind: "manual",
      label: "my label",
      auto: false,
    });
    expect((await run("checkpoint", "rewind", session.id, "nothing")).err).toContain("[checkpoint_not_found]");
    expect((await run("checkpoint", "rewind", session.id, "0", "--mode", "all")).code).toBe(2);
  });

  it("survives a crash of the daemon, removes what a removed session left, and can be switched off", async () => {
    const { session, directory } = await begin({ "a.txt": "one\n" });
    await turn(session, "echo two > a.txt");
    const stores = join(dataDir, "checkpoints");
    const kept = readdirSync(stores).length;
    await daemon.kill("SIGKILL");
    daemon = await startDaemonProcess(dataDir);
    const again = daemon.client.session(session.id);
    const [start] = (await again.checkpoints()).checkpoints;
    await again.rewind(start!.checkpoint_id);
    expect(tree(directory)).toEqual({ "a.txt": "one\n" });
    await again.remove();
    await expect.poll(() => readdirSync(stores).length).toBe(kept - 1);
    await daemon.kill("SIGTERM");
    configure({ checkpoints: { enabled: false } });
    daemon = await startDaemonProcess(dataDir);
    const { session: without } = await begin({ "a.txt": "one\n" });
    await without.prompt("echo two > a.txt");
    expect(await without.checkpoints()).toEqual({ checkpoints: [], state: "off", reason: null });
    await expect(without.changes()).rejects.toMatchObject({ code: "checkpoints_off" });
    expect((await eventsOf(without)).filter(({ type }) => type.startsWith("checkpoint."))).toEqual([]);
  });
});
