/**
 * Every I/O call of a real daemon below its data directory fails once, one after the other: while it starts, while it works, while it stops. No crash, no
 * lie: what was acknowledged is there after a restart, what was removed is not, `ready` is true, and it goes on without a restart. By default a sample of
 * the calls; DRAGOMAN_FAULTS=all takes each, and DRAGOMAN_FAULT_SEED chooses another sample.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { DragomanError } from "../../src/client/error.ts";
import type { Dragoman } from "../../src/client/index.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { checkGrammar } from "../../src/schema/grammar.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";
import { compileInterposer, type Faults, faultsIn } from "./interposer.ts";

const ALL = process.env.DRAGOMAN_FAULTS === "all";
const SEED = Number(process.env.DRAGOMAN_FAULT_SEED ?? 1);
/** In the short form every so many calls, from where the seed says. A start has about 130 calls, the script about 1,200, a stop about 90. */
const STRIDES = ALL ? { start: 1, work: 1, stop: 1 } : { start: 61, work: 131, stop: 29 };
const MOST_CALLS = 2_000;
const PATIENCE_MS = 20_000;
/** Each start of the part about stops reads what all stops before it left, and its own stop has more to write: so many share a directory. */
const STOPS_OF_ONE_DIRECTORY = 10;

const root = temporaryDir("faults");
const running: DaemonProcess[] = [];
afterAll(async () => {
  for (const daemon of running) await daemon.kill("SIGKILL");
  removeDir(root);
});

/** Also ended when the test fails. */
async function start(dataDir: string, env: NodeJS.ProcessEnv = {}): Promise<DaemonProcess> {
  const daemon = await startDaemonProcess(dataDir, [], env);
  running.push(daemon);
  return daemon;
}

/** What the daemon has promised. */
type Acknowledged = { sessions: Map<string, string>; turns: Map<string, string[]>; removed: string[] };

/** Tries again as a client should, with the same key, until the daemon takes it. Refusals must be those of a log that cannot write. */
async function insist<T>(call: (key: string) => Promise<T>, key: string): Promise<T> {
  for (const until = Date.now() + PATIENCE_MS; ; ) {
    try {
      return await call(key);
    } catch (error) {
      if (!(error instanceof DragomanError) || Date.now() > until) throw error;
      expect(["disk_full", "not_ready", "idempotency_unknown"]).toContain(error.code);
      if (error.code === "idempotency_unknown") throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function script(client: Dragoman, run: number, done: Acknowledged): Promise<void> {
  for (const name of ["first", "second"]) {
    const id = `${name}-${run}`;
    const create = (idempotencyKey: string) =>
      client.createSession({ agent: "mock", session_id: id, title: name }, { idempotencyKey });
    const session = await insist(create, `create-${id}`);
    done.sessions.set(id, name);
    for (const message of ["say one two three", "parts", "shell ls"]) {
      const { turn_id } = await insist((idempotencyKey) => session.send(message, { idempotencyKey }), `${id}-${message}`);
      done.turns.set(id, [...(done.turns.get(id) ?? []), turn_id]);
      await session.outcome(turn_id);
    }
    await insist(() => session.update({ title: `${name} again` }), "");
    done.sessions.set(id, `${name} again`);
  }
  const gone = `second-${run}`;
  await insist(async () => {
    try {
      await client.session(gone).remove();
    } catch (error) {
      // The attempt before may have removed it, and then failed to erase its bytes.
      if (!(error instanceof DragomanError) || error.code !== "session_not_found") throw error;
    }
  }, "");
  // Its agent would go on running, and there are hundreds of runs.
  await insist(() => client.session(`first-${run}`).terminate(), "");
  done.sessions.delete(gone);
  done.turns.delete(gone);
  done.removed.push(gone);
}

async function verify(client: Dragoman, done: Acknowledged): Promise<void> {
  for (const [id, title] of done.sessions) {
    const session = client.session(id);
    expect(await session.get()).toMatchObject({ title });
    const events: UniversalEvent[] = [];
    for (let after = 0, more = true; more; ) {
      const page = await session.page({ after });
      events.push(...page.events);
      [after, more] = [page.next, page.has_more];
    }
    expect(checkGrammar(events)).toEqual([]);
    const started = events.flatMap((event) => (event.type === "turn.started" ? [event.data.turn_id] : []));
    expect(started).toEqual(done.turns.get(id) ?? []);
    for (const event of events)
      if (event.type === "artifact.written")
        expect((await (await client.artifact(event.data.artifact_id)).arrayBuffer()).byteLength).toBe(event.data.bytes);
  }
  for (const id of done.removed) await expect(client.session(id).get()).rejects.toMatchObject({ code: "session_not_found" });
  expect(await client.ready()).toEqual({ status: "ready", unreadable_sessions: [] });
}

/** Starts with the fault armed. A start that fails must say why in a sentence; then it is started again. */
async function startWith(dataDir: string, faults: Faults): Promise<DaemonProcess> {
  try {
    return await start(dataDir, faults.env);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    expect(faults.failed(), text).toBe(1);
    expect(text).toMatch(
      /ended with 1: \{"error":\{"code":"(disk_full|data_dir_unreadable|write_failed|invalid_config)","message":/,
    );
    return start(dataDir);
  }
}

const nothing = (): Acknowledged => ({ sessions: new Map(), turns: new Map(), removed: [] });
const errorOf = (nth: number): "EIO" | "ENOSPC" => ((nth + SEED) % 2 === 0 ? "EIO" : "ENOSPC");

/** Lets one call after the other fail, until one is not reached. Returns how many did. */
async function eachCall(stride: number, run: (nth: number) => Promise<boolean>): Promise<number> {
  let count = 0;
  for (let nth = 1 + (SEED % stride); nth < MOST_CALLS; nth += stride) {
    const hit = await run(nth).catch((error: unknown) => {
      throw new Error(`call ${nth}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    });
    if (!hit) break;
    count++;
  }
  return count;
}

describe("each I/O call fails once", () => {
  const compiled = compileInterposer(root);
  const library = "library" in compiled ? compiled.library : "";
  if ("reason" in compiled) console.warn(`I/O faults are not tested: ${compiled.reason}`);
  const how = `${ALL ? "all calls" : "a sample"}, seed ${SEED}`;
  const timeout = ALL ? 3_600_000 : 120_000;
  const inDirectory = (name: string): { dataDir: string; faults: Faults } => {
    const dataDir = join(root, name);
    mkdirSync(dataDir);
    return { dataDir, faults: faultsIn(dataDir, library, join(root, `${name}.control`)) };
  };

  it.skipIf(library === "")(`while the daemon starts: it says why, or goes on (${how})`, { timeout }, async () => {
    const count = await eachCall(STRIDES.start, async (nth) => {
      const { dataDir, faults } = inDirectory(`start-${nth}`);
      faults.arm(nth, errorOf(nth));
      const daemon = await startWith(dataDir, faults);
      const hit = faults.failed() > 0;
      faults.disarm();
      expect(await insist(() => daemon.client.ready(), "")).toEqual({ status: "ready", unreadable_sessions: [] });
      expect(await daemon.kill("SIGTERM")).toBe(0);
      return hit;
    });
    console.info(`${count} calls of a start failed (${how})`);
    expect(count).toBeGreaterThan(0);
  });

  it.skipIf(library === "")(`while it works: nothing acknowledged is lost (${how})`, { timeout }, async () => {
    const { dataDir, faults } = inDirectory("work");
    const done = nothing();
    const daemon = await start(dataDir, faults.env);
    let failed = 0;
    const count = await eachCall(STRIDES.work, async (nth) => {
      const own = nothing();
      faults.arm(nth, errorOf(nth));
      await script(daemon.client, nth, own);
      const hit = faults.failed() > failed;
      failed = faults.failed();
      faults.disarm();
      await verify(daemon.client, own);
      for (const [id, title] of own.sessions) done.sessions.set(id, title);
      for (const [id, turns] of own.turns) done.turns.set(id, turns);
      done.removed.push(...own.removed);
      return hit;
    });
    expect(await daemon.kill("SIGTERM")).toBe(0);
    const again = await start(dataDir);
    await verify(again.client, done);
    const listed: string[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const page = await again.client.sessions({ limit: 500, ...(before === undefined ? {} : { before }) });
      listed.push(...page.sessions.map(({ session_id }) => session_id));
      before = page.next;
    }
    expect(listed.sort()).toEqual([...done.sessions.keys()].sort());
    expect(await again.kill("SIGTERM")).toBe(0);
    console.info(`${count} calls of the script failed (${how})`);
    expect(count).toBeGreaterThan(2);
  });

  it.skipIf(library === "")(`while it stops: nothing acknowledged is lost (${how})`, { timeout }, async () => {
    let [{ dataDir, faults }, done, failed, stops] = [inDirectory("stop"), nothing(), 0, 0];
    const settle = async (): Promise<void> => {
      const again = await start(dataDir);
      await verify(again.client, done);
      expect(await again.kill("SIGTERM")).toBe(0);
    };
    const count = await eachCall(STRIDES.stop, async (nth) => {
      if (++stops % STOPS_OF_ONE_DIRECTORY === 0) {
        await settle();
        [{ dataDir, faults }, done, failed] = [inDirectory(`stop-${nth}`), nothing(), 0];
      }
      const daemon = await start(dataDir, faults.env);
      await verify(daemon.client, done);
      const id = `stopped-${nth}`;
      const session = await daemon.client.createSession({ agent: "mock", session_id: id, title: id });
      const { turn_id } = await session.send("hang");
      for await (const { type } of session.events()) if (type === "turn.started") break;
      done.sessions.set(id, id);
      done.turns.set(id, [turn_id]);
      faults.arm(nth, errorOf(nth));
      expect([0, 130]).toContain(await daemon.kill("SIGTERM"));
      const hit = faults.failed() > failed;
      failed = faults.failed();
      faults.disarm();
      return hit;
    });
    await settle();
    console.info(`${count} calls of a stop failed (${how})`);
    expect(count).toBeGreaterThan(0);
  });
});
