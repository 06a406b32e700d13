// kill -9 of the daemon under load, again and again: nothing a client saw is missing afterwards, nothing is there twice, the grammar holds, no agent is left.
// DRAGOMAN_CRASH_ROUNDS sets the number of rounds, DRAGOMAN_CRASH_SEED the seed.
import { afterAll, beforeAll, expect, it } from "vitest";
import type { UniversalEvent } from "../src/schema/event.ts";
import { checkGrammar } from "../src/schema/grammar.ts";
import { seedOf } from "../src/test-seed.ts";
import { linux, processesRunning, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";
import { random } from "./random.ts";

const ROUNDS = Number(process.env.DRAGOMAN_CRASH_ROUNDS ?? 6);
const SEED = Number(process.env.DRAGOMAN_CRASH_SEED ?? seedOf(20_261_115));
const SESSIONS = 3;

let dataDir: string;
beforeAll(() => {
  dataDir = temporaryDir("crash");
});
afterAll(() => removeDir(dataDir));

const PROMPTS = [
  "flood 3000",
  "slow 1 a b c d e f g h i j k l m n o p",
  "all",
  "messages 50",
  "ask",
  "question",
  "subagent\nplan\nedit",
  "background 5",
];

it(`survives ${ROUNDS} kills (seed ${SEED})`, { timeout: 240_000 + ROUNDS * 20_000 }, async () => {
  const dice = random(SEED);
  const seen = new Map<string, Map<number, string>>();
  let ids: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const daemon = await startDaemonProcess(dataDir);
    if (ids.length === 0)
      ids = await Promise.all(
        Array.from({ length: SESSIONS }, async () => (await daemon.client.createSession({ agent: "mock" })).id),
      );
    const stop = new AbortController();
    const limit = 50 + Math.floor(dice() * 4_000);
    let events = 0;
    const watched = ids.map(async (id) => {
      const known = seen.get(id) ?? new Map<number, string>();
      seen.set(id, known);
      for await (const event of daemon.client.session(id).events({ after: known.size, signal: stop.signal })) {
        known.set(event.sequence, event.event_id);
        if (++events === limit) daemon.child.kill("SIGKILL");
      }
    });
    for (const id of ids)
      await daemon.client
        .session(id)
        .send(PROMPTS[Math.floor(dice() * PROMPTS.length)] ?? "all")
        .catch(() => {});
    // A round whose sessions all fall silent before the limit is killed while they wait.
    const quiet = setTimeout(() => daemon.child.kill("SIGKILL"), 400 + dice() * 600);
    await daemon.kill("SIGCONT");
    clearTimeout(quiet);
    stop.abort();
    await Promise.allSettled(watched);
  }

  const daemon = await startDaemonProcess(dataDir);
  try {
    for (const id of ids) {
      const session = daemon.client.session(id);
      await session.terminate();
      const all: UniversalEvent[] = [];
      for await (const event of session.events()) all.push(event);
      expect(checkGrammar(all)).toEqual([]);
      const byNumber = new Map(all.map((event) => [event.sequence, event.event_id]));
      expect(byNumber.size).toBe(all.length);
      for (const [sequence, eventId] of seen.get(id) ?? []) expect(byNumber.get(sequence)).toBe(eventId);
    }
  } finally {
    await daemon.kill("SIGTERM");
  }
  if (linux) expect(processesRunning("agents/mock/program", dataDir)).toEqual([]);
});
