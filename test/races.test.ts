// Random commands at once on sessions of a real daemon. Afterwards: no fault of the daemon, no broken rule, no gap for any subscriber, no process left.
// DRAGOMAN_RACE_ROUNDS sets the number of rounds, DRAGOMAN_RACE_SEED the seed; `npm run test:races` is the long form.
import { afterAll, beforeAll, expect, it } from "vitest";
import { DragomanError, type SessionHandle } from "../src/client/index.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { checkGrammar } from "../src/schema/grammar.ts";
import { type DaemonProcess, linux, processesRunning, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";
import { random } from "./random.ts";

const ROUNDS = Number(process.env.DRAGOMAN_RACE_ROUNDS ?? 3);
const SEED = Number(process.env.DRAGOMAN_RACE_SEED ?? 20_261_116);
const COMMANDS = 40;
const SESSIONS = 3;
/** What a command may be answered with when others get in its way. */
const REFUSALS = new Set([400, 404, 409, 422, 429, 502]);

let dataDir: string;
let daemon: DaemonProcess;

beforeAll(async () => {
  dataDir = temporaryDir("races");
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const PROMPTS = ["say hello", "flood 300", "ask", "question", "hang", "slow 2 a b c d", "subagent", "background 5", "crash 3"];
const MODES = ["default", "plan", "accept_edits", "bypass"] as const;

type Dice = (below: number) => number;

const pick = <T>(dice: Dice, values: readonly T[]): T => {
  const value = values[dice(values.length)];
  if (value === undefined) throw new Error("nothing to choose from");
  return value;
};

async function answer(session: SessionHandle, dice: Dice): Promise<void> {
  const { permissions, questions } = await session.pending();
  const [permission] = permissions;
  const [question] = questions;
  if (permission) await session.replyPermission(permission.permission_id, { reply: pick(dice, ["once", "always", "reject"]) });
  else if (question) await session.replyQuestion(question.question_id, [["Blue"], ["Cheese"]]);
}

type Command = (session: SessionHandle, dice: Dice, forks: SessionHandle[]) => Promise<unknown>;
const send: Command = (session, dice) =>
  session.send(pick(dice, PROMPTS), { when_busy: pick(dice, ["queue", "steer", "reject"]) });
const read: Command = (session, dice) =>
  pick(dice, [() => session.get(), () => session.page({ limit: 5 }), () => session.items(), () => daemon.client.sessions()])();

/** How often each is drawn. Ends are rare, or nothing else would be seen. */
const DECK: readonly [number, string, Command][] = [
  [12, "send", send],
  [5, "interrupt", (session) => session.interrupt()],
  [5, "answer", (session, dice) => answer(session, dice)],
  [4, "configure", (session, dice) => session.update({ permission_mode: pick(dice, MODES), title: `title ${dice(9)}` })],
  [5, "read", read],
  [2, "fork", async (session, _, forks) => void forks.push(await session.fork())],
  [2, "terminate", (session) => session.terminate()],
  [1, "remove", (session) => session.remove()],
];
const DRAWS = DECK.flatMap(([count, name, command]) => Array.from({ length: count }, () => ({ name, command })));

/** Follows a session from its first event until it ends, is removed, or the round is over. */
async function follow(session: SessionHandle, seen: UniversalEvent[], signal: AbortSignal): Promise<void> {
  try {
    for await (const event of session.events({ signal })) seen.push(event);
  } catch (error) {
    if (!(error instanceof DragomanError)) throw error;
  }
}

async function round(dice: Dice, number: number): Promise<void> {
  const create = () => daemon.client.createSession({ agent: "mock", directory: dataDir });
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, create));
  const over = new AbortController();
  const watched = new Map<string, UniversalEvent[]>();
  const following = sessions.map((session) => {
    const seen: UniversalEvent[] = [];
    watched.set(session.id, seen);
    return follow(session, seen, over.signal);
  });
  const forks: SessionHandle[] = [];
  const faults: string[] = [];
  const running: Promise<void>[] = [];
  for (let i = 0; i < COMMANDS; i++) {
    const session = pick(dice, [...sessions, ...forks]);
    const { name, command } = pick(dice, DRAWS);
    const done = command(session, dice, forks).then(
      () => {},
      (error: unknown) => {
        const refused = error instanceof DragomanError && REFUSALS.has(error.status);
        if (!refused) faults.push(`round ${number}, command ${i}, ${name}: ${String(error)}`);
      },
    );
    running.push(done);
    // Most at once; some when the one before is done, so that all orders occur.
    if (dice(4) === 0) await done;
  }
  await Promise.all(running);
  const all = [...sessions, ...forks];
  await Promise.all(all.map((session) => session.terminate().catch((error: unknown) => void mustBeRemoved(error, faults))));
  for (const session of all) await check(session, watched.get(session.id), faults);
  over.abort();
  await Promise.all(following);
  expect(faults).toEqual([]);
  if (linux) expect(processesRunning("agents/mock/program", dataDir)).toEqual([]);
}

function mustBeRemoved(error: unknown, faults: string[]): void {
  if (!(error instanceof DragomanError && error.code === "session_not_found")) faults.push(`terminate: ${String(error)}`);
}

async function check(session: SessionHandle, seen: UniversalEvent[] | undefined, faults: string[]): Promise<void> {
  const stored: UniversalEvent[] = [];
  try {
    for await (const event of session.events()) stored.push(event);
  } catch (error) {
    mustBeRemoved(error, faults);
  }
  for (const broken of checkGrammar(stored.length > 0 ? stored : (seen ?? [])))
    faults.push(`${session.id}: ${broken.rule} ${broken.message}`);
  seen?.forEach((event, index) => {
    if (event.sequence !== index + 1) faults.push(`${session.id}: a subscriber got ${event.sequence} as number ${index + 1}`);
    if (stored.length > 0 && stored[index]?.event_id !== event.event_id)
      faults.push(`${session.id}: event ${event.sequence} is another in the log`);
  });
}

it(`survives ${ROUNDS} rounds of ${COMMANDS} commands at once (seed ${SEED})`, {
  timeout: 240_000 + ROUNDS * 30_000,
}, async () => {
  for (let number = 0; number < ROUNDS; number++) {
    const next = random(SEED + number);
    await round((below) => Math.floor(next() * below), number);
  }
  const metrics = await (await fetch(`${daemon.url}/metrics`, { headers: { authorization: `Bearer ${daemon.token}` } })).text();
  expect(metrics).toContain('dragoman_sessions{state="live"} 0');
});
