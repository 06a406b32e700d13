import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AuditList } from "../schema/audit.ts";
import { ageMs, type PruneResult } from "../schema/prune.ts";
import type { SessionList } from "../schema/session.ts";
import type { RetentionPolicy } from "../session/pruning.ts";
import { QUEUED } from "../session/stored-queue.ts";
import { Audit } from "./audit.ts";
import { Retention } from "./retention.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.close());

const DAY = 86_400_000;

const prune = (body: object): Promise<PruneResult> => server.json<PruneResult>("POST", "/v1/sessions/prune", body);
const left = async (): Promise<string[]> =>
  (await server.json<SessionList>("GET", "/v1/sessions")).sessions.map(({ session_id }) => session_id).sort();

/** Created one after the other, the oldest first. */
async function ended(...ids: string[]): Promise<void> {
  for (const session_id of ids) {
    await server.createSession({ session_id });
    await server.call("POST", `/v1/sessions/${session_id}/terminate`, {});
  }
}

const records = async (): Promise<AuditList["records"]> => (await server.json<AuditList>("GET", "/v1/audit?limit=100")).records;

describe("POST /v1/sessions/prune", () => {
  it("says what would go, and removes nothing with dry_run", async () => {
    await ended("a", "b");
    const plan = await prune({ older_than: "0m", dry_run: true });
    expect(plan).toMatchObject({ dry_run: true, count: 2, has_more: false });
    expect(plan.sessions.map(({ session_id }) => session_id)).toEqual(["b", "a"]);
    expect(plan.events).toBe(plan.sessions.reduce((sum, { events }) => sum + events, 0));
    expect(plan.oldest).toBe(plan.sessions[1]?.updated_at);
    expect(plan.newest).toBe(plan.sessions[0]?.updated_at);
    expect(await left()).toEqual(["a", "b"]);
    expect((await records()).filter(({ operation }) => operation === "session.pruned")).toEqual([]);
  });

  it("keeps the newest, and records each removal with who asked for it", async () => {
    await ended("a", "b", "c");
    expect(await prune({ older_than: "0m", keep: 1 })).toMatchObject({ dry_run: false, count: 2, has_more: false });
    expect(await left()).toEqual(["c"]);
    const pruned = (await records()).filter(({ operation }) => operation === "session.pruned");
    expect(pruned.map(({ session_id }) => session_id).sort()).toEqual(["a", "b"]);
    expect(pruned[0]).toMatchObject({ outcome: "done", actor: { role: "admin" } });
    expect((await server.call("GET", "/v1/sessions/a")).status).toBe(404);
    expect(await prune({ older_than: "0m", keep: 1 })).toMatchObject({ count: 0 });
  });

  it("removes nothing that is younger", async () => {
    await ended("a");
    expect(await prune({ older_than: "1h" })).toMatchObject({ count: 0, oldest: null, newest: null });
    expect(await left()).toEqual(["a"]);
  });

  it("removes only of one agent or directory", async () => {
    const elsewhere = join(server.dataDir, "elsewhere");
    mkdirSync(elsewhere);
    await ended("a");
    await server.createSession({ session_id: "b", directory: elsewhere });
    expect(await prune({ older_than: "0m", agent: "codex" })).toMatchObject({ count: 0 });
    expect(await prune({ older_than: "0m", directory: elsewhere })).toMatchObject({ count: 1 });
    expect(await left()).toEqual(["a"]);
  });

  it("never removes what is live, waits for a person, has queued messages, or is pinned or tagged", async () => {
    await ended("old");
    await server.createSession({ session_id: "pinned" });
    await server.call("PATCH", "/v1/sessions/pinned", { pinned: true });
    await server.createSession({ session_id: "tagged", tags: ["release"] });
    await server.createSession({ session_id: "live" });
    await server.play("live", "say hello");
    await server.createSession({ session_id: "waiting" });
    const { manager } = server.core;
    await server.call("POST", "/v1/sessions/waiting/messages", { message: "ask" });
    await server.call("POST", "/v1/sessions/waiting/messages", { message: "say later" });
    expect((await manager.get("waiting")).queued + Number((await manager.get("waiting")).alive)).toBeGreaterThan(0);
    expect(await prune({ older_than: "0m" })).toMatchObject({ count: 1, sessions: [{ session_id: "old" }] });
    expect(await left()).toEqual(["live", "pinned", "tagged", "waiting"]);
    for (const id of ["live", "waiting"]) expect(await manager.removeUnused(id)).toBe(false);
  });

  it("never removes a session without a process for which a message waits", async () => {
    const { log, manager } = server.core;
    await ended("a");
    const writer = await log.writer("session", "a");
    writer?.documents.put(QUEUED, "1", "{}");
    await writer?.committed();
    expect(await prune({ older_than: "0m" })).toMatchObject({ count: 0 });
    expect(await manager.removeUnused("a")).toBe(false);
    writer?.documents.delete(QUEUED, "1");
    await writer?.committed();
    expect(await prune({ older_than: "0m" })).toMatchObject({ count: 1 });
  });

  it.each([
    [{}, /older_than/],
    [{ older_than: "a month" }, /older_than/],
    [{ older_than: "-1d" }, /older_than/],
    [{ older_than: "1.5d" }, /older_than/],
    [{ older_than: "30" }, /older_than/],
    [{ older_than: "30y" }, /older_than/],
    [{ older_than: 30 }, /older_than/],
    [{ older_than: "999999d" }, /older_than/],
    [{ older_than: "1d", keep: -1 }, /keep/],
    [{ older_than: "1d", keep: 1.5 }, /keep/],
    [{ older_than: "1d", keep: "5" }, /keep/],
    [{ older_than: "1d", directory: "" }, /directory/],
    [{ older_than: "1d", dry_run: "yes" }, /dry_run/],
    [{ older_than: "1d", colour: "red" }, /colour/],
    [[], /./],
  ])("refuses %j", async (body, fault) => {
    await ended("a");
    const { status, text } = await server.call("POST", "/v1/sessions/prune", body);
    expect(status).toBe(400);
    expect((JSON.parse(text) as { detail: string }).detail).toMatch(fault);
    expect(await left()).toEqual(["a"]);
  });

  it("needs operate, and admin where it would remove almost everything", async () => {
    await ended("a");
    const as = async (role: string, body: object): Promise<number> => {
      const { token } = await server.json<{ token: string }>("POST", "/v1/auth/tokens", { role });
      return (await server.call("POST", "/v1/sessions/prune", body, { authorization: `Bearer ${token}` })).status;
    };
    expect(await as("approve", { older_than: "90d", dry_run: true })).toBe(403);
    expect(await as("operate", { older_than: "0m", dry_run: true })).toBe(200);
    expect(await as("operate", { older_than: "90d" })).toBe(200);
    expect(await as("operate", { older_than: "0m" })).toBe(403);
    expect(await as("operate", { older_than: "23h" })).toBe(403);
    expect(await left()).toEqual(["a"]);
    expect(await as("operate", { older_than: "0m", keep: 1 })).toBe(200);
    expect(await as("admin", { older_than: "0m" })).toBe(200);
    expect(await left()).toEqual([]);
  });

  it("shows and removes only what the token reaches", async () => {
    await ended("a", "b");
    const scope = { sessions: ["b"] };
    const { token } = await server.json<{ token: string }>("POST", "/v1/auth/tokens", { role: "operate", scope });
    const reply = await server.call(
      "POST",
      "/v1/sessions/prune",
      { older_than: "0m", agent: "mock" },
      { authorization: `Bearer ${token}` },
    );
    expect(JSON.parse(reply.text)).toMatchObject({ count: 1, sessions: [{ session_id: "b" }] });
    expect(await left()).toEqual(["a"]);
  });
});

describe("retention", () => {
  const run = (policy: RetentionPolicy, days: number): Promise<number> => {
    const { log, manager } = server.core;
    const logger = pino({ level: "silent" });
    const context = { log, manager, logger, audit: new Audit(log, logger), now: () => Date.now() + days * DAY };
    return new Retention(context, policy).run();
  };

  it("removes ended sessions at one age and dormant ones at another", async () => {
    await ended("ended");
    await server.createSession({ session_id: "dormant" });
    const policy = { ended_ms: ageMs("30d"), dormant_ms: ageMs("8w"), keep: 0 };
    expect(await run(policy, 29)).toBe(0);
    expect(await run(policy, 31)).toBe(1);
    expect(await left()).toEqual(["dormant"]);
    expect(await run({ ended_ms: 0, keep: 0 }, 1_000)).toBe(0);
    expect(await run(policy, 57)).toBe(1);
    expect(await left()).toEqual([]);
    const pruned = (await records()).filter(({ operation }) => operation === "session.pruned");
    expect(pruned).toHaveLength(2);
    expect(pruned[0]).toMatchObject({ actor: { token_id: null, role: null, surface: "daemon" } });
  });

  it("keeps the newest in any case", async () => {
    await ended("a", "b", "c", "d");
    expect(await run({ ended_ms: 0, keep: 3 }, 1)).toBe(1);
    expect(await left()).toEqual(["b", "c", "d"]);
    expect(await run({ ended_ms: 0, keep: 100 }, 1)).toBe(0);
  });

  it("removes nothing without a policy", async () => {
    await ended("a");
    expect(await run({ keep: 0 }, 10_000)).toBe(0);
    expect(await left()).toEqual(["a"]);
  });
});
