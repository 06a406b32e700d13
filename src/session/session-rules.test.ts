// Rules of the specification that a live session keeps, with the mock agent: what is fsynced, what is said of a silent turn, how large an event is.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { mockAgent } from "../agents/mock/agent.ts";
import { type Core, openCore } from "../daemon/core.ts";
import { checkGrammar } from "../schema/grammar.ts";
import type { Session } from "./session.ts";
import { eventsOf, play, turnEnd, until } from "./test-session.ts";

let dataDir: string;
let core: Core;
let session: Session;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-rules-"));
  core = await openCore({
    dataDir,
    config: { times: { interrupt_ms: 300 } },
    agents: [mockAgent],
    env: process.env,
    defaultDirectory: dataDir,
    log: () => {},
  });
  session = await core.manager.get((await core.manager.create({ agent: "mock", directory: dataDir })).session_id);
});
afterEach(async () => {
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The mock's process: its environment names the data directory. */
const agentPid = (): number | undefined =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("mock/program") &&
          readFileSync(`/proc/${pid}/environ`, "utf8").includes(dataDir)
        );
      } catch {
        return false;
      }
    });

it("[D3] asks for an fsync for what decides, and for nothing else", async () => {
  const appended = vi.spyOn(session.stream, "append");
  const { turn_id } = await session.send("say hello\nask touch a\nquestion", [], "queue");
  const asked = await until(session, (event) => event.type === "permission.requested");
  if (asked.type !== "permission.requested") throw new Error("no permission");
  await session.replyPermission(asked.data.permission_id, { reply: "once" });
  const question = await until(session, (event) => event.type === "question.requested");
  if (question.type !== "question.requested") throw new Error("no question");
  await session.replyQuestion(question.data.question_id, null);
  await turnEnd(session, turn_id);
  await session.terminate();
  const entries = appended.mock.calls.map(([entry]) => entry);
  const synced = new Set(entries.filter(({ sync }) => sync).map(({ type }) => type));
  expect([...synced].sort()).toEqual([
    "message.queued",
    "permission.requested",
    "permission.resolved",
    "question.requested",
    "question.resolved",
    "session.ended",
    "turn.started",
  ]);
  expect(entries.filter(({ type }) => type === "item.delta").every(({ sync }) => !sync)).toBe(true);
});

it("[D5] keeps every event small, whatever a tool writes", async () => {
  await play(session, "big 1000000");
  const all = await eventsOf(session);
  expect(all.some((event) => event.type === "artifact.written" && event.data.bytes === 1_000_000)).toBe(true);
  expect(Math.max(...all.map((event) => JSON.stringify(event).length))).toBeLessThan(20_000);
});

it("[D5] keeps every event small, whatever a person sends", async () => {
  const text = `say hello ${"x".repeat(400_000)}`;
  await play(session, text);
  const all = await eventsOf(session);
  const sent = all.find((event) => event.type === "item.completed" && event.data.item.role === "user");
  expect(sent?.data).toMatchObject({
    item: { content: [{ text: expect.stringContaining("characters left out"), artifact: { bytes: text.length } }] },
  });
  const about = all.filter((event) => event.type === "item.delta" && event.sequence < (sent?.sequence ?? 0));
  expect(Math.max(...[sent, ...about].map((event) => JSON.stringify(event).length))).toBeLessThan(20_000);
  expect(checkGrammar(all)).toEqual([]);
});

it("[S5] calls a turn without a sign of life stalled", async () => {
  await session.send("hang", [], "queue");
  await until(session, (event) => event.type === "turn.started");
  session.tick(Date.now() + 10 * 60_000);
  const stalled = await until(session, (event) => event.type === "session.status" && event.data.status === "stalled");
  expect(stalled.data).toMatchObject({ detail: expect.stringContaining("No sign of life") });
});

it.skipIf(process.platform !== "linux")("[S5] ends a turn by force whose agent does not confirm the interrupt", async () => {
  const { turn_id } = await session.send("hang", [], "queue");
  await until(session, (event) => event.type === "turn.started");
  const pid = agentPid();
  if (pid === undefined) throw new Error("the agent's process was not found");
  process.kill(pid, "SIGSTOP");
  await session.interrupt();
  expect((await turnEnd(session, turn_id)).data).toMatchObject({ stop_reason: "interrupted" });
});
