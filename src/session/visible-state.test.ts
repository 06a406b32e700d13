// [D1] What clients read of a session is committed, and nothing else. The commit is held back by not letting the event loop turn.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Core, openCore } from "../daemon/core.ts";
import type { Session } from "./session.ts";
import { TestAgent } from "./test-agent.ts";
import { until } from "./test-session.ts";

let dataDir: string;
let core: Core;
let session: Session;
let test: TestAgent;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-visible-"));
  test = new TestAgent();
  core = await openCore({
    dataDir,
    config: {},
    agents: [test.agent],
    env: process.env,
    defaultDirectory: dataDir,
    log: () => {},
  });
  session = await core.manager.get(
    (await core.manager.create({ agent: "test", session_id: "s", directory: dataDir })).session_id,
  );
});

afterEach(async () => {
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const shown = async () => {
  const { status, title, last_sequence, queued, pending, usage } = (await core.manager.get("s")).view();
  const listed = (await core.manager.list({ limit: 1 })).sessions[0];
  expect(listed).toMatchObject({ status, title, last_sequence, queued, pending, usage });
  return { status, title, last_sequence, queued, pending, open: session.pending().permissions.length };
};

it("[D1] shows a title, a status, a sequence, a usage and a permission when they are committed", async () => {
  await session.send("hang", [], "queue");
  await until(session, (event) => event.type === "session.status" && event.data.status === "running");
  const before = await shown();
  expect(before).toMatchObject({ status: "running", title: "hang", open: 0 });
  test.emit({ type: "event", event: { type: "session.updated", data: { title: "New" } } });
  test.emit({ type: "event", event: { type: "usage.updated", data: { scope: "session", input_tokens: 1, output_tokens: 2 } } });
  test.emit({ type: "call", c: "c1", name: "shell", kind: "shell", title: "ls", input: {} });
  test.emit({ type: "ask", id: "a1", c: "c1", action: "Run: ls", name: "shell", input: {}, options: [] });
  expect(session.stream.last).toBeGreaterThan(before.last_sequence);
  expect(await shown()).toEqual(before);
  await core.log.documents.committed();
  expect(await shown()).toMatchObject({ status: "waiting", title: "New", open: 1, last_sequence: session.stream.last });
  test.emit({ type: "withdrawn", id: "a1" });
  expect(await shown()).toMatchObject({ status: "waiting", open: 1 });
  await core.log.documents.committed();
  expect(await shown()).toMatchObject({ status: "running", open: 0 });
});

it("an agent's title does not make every list long, and what is no name of a mode is not given back to it", async () => {
  await session.send("hang", [], "queue");
  await until(session, (event) => event.type === "session.status" && event.data.status === "running");
  const change = (data: object) => test.emit({ type: "event", event: { type: "config.changed", data } });
  change({ agent_mode: "build", model: "m" });
  for (const agent_mode of ["--dangerously", "a\0b", "x".repeat(201)]) change({ agent_mode });
  change({ model: "-c" });
  test.emit({ type: "event", event: { type: "session.updated", data: { title: "T".repeat(900_000) } } });
  await core.log.documents.committed();
  const { title, agent_mode, model } = session.view();
  expect({ title: title?.length, agent_mode, model }).toEqual({ title: 500, agent_mode: "build", model: "m" });
});

it("[D1] shows a queued message, and an end, when they are committed", async () => {
  await session.send("hang", [], "queue");
  await until(session, (event) => event.type === "turn.started");
  const sent = session.send("later", [], "queue");
  expect((await shown()).queued).toBe(0);
  await sent;
  expect((await shown()).queued).toBe(1);
  const ended = session.terminate();
  while (session.stream.last === session.stream.lastCommitted) await Promise.resolve();
  expect(await shown()).toMatchObject({ status: "running", queued: 1 });
  await ended;
  expect(await shown()).toMatchObject({ status: "ended", queued: 0 });
});
