/** Nodes of a fleet in one process, on one real Postgres: any node and a gateway answer for any session; sessions are moved, and come back. Deaths of nodes are in `deaths.test.ts`. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { Dragoman } from "../../src/client/dragoman.ts";
import { hashOf, NodeSecret } from "../../src/cluster/signature.ts";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { startPostgres, type TestPostgres, withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { startProxy } from "../../src/log/postgres/test-proxy.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";

const SECRET = "a secret of the cluster, for tests only";
const TOKEN = "a-token-for-tests-0123456789abcdef";

describe.skipIf(withoutPostgres())("a fleet", () => {
  let postgres: TestPostgres;
  let home: string;
  const daemons: Daemon[] = [];
  let [a, b, gateway]: Daemon[] = [];

  const start = async (nodeId: string, kind: "node" | "gateway" = "node", url = postgres.url): Promise<Daemon> => {
    const daemon = await startDaemon({
      port: 0,
      dataDir: join(home, nodeId),
      token: TOKEN,
      env: { ...process.env, HOME: home },
      cluster: {
        url,
        kind,
        nodeId,
        labels: { name: nodeId },
        places: [{ path: join(home, "shared"), name: "shared" }],
        secret: SECRET,
        leaseMs: 3_000,
      },
    });
    daemons.push(daemon);
    return daemon;
  };
  const client = (daemon: Daemon | undefined): Dragoman => new Dragoman({ url: daemon?.url ?? "", token: TOKEN });
  const call = (daemon: Daemon | undefined, method: string, path: string, body?: unknown, token = TOKEN): Promise<Response> =>
    fetch(`${daemon?.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const json = async <T>(...given: Parameters<typeof call>): Promise<T> => (await call(...given)).json() as Promise<T>;
  const eventsOf = async (daemon: Daemon | undefined, id: string): Promise<UniversalEvent[]> =>
    (await json<{ events: UniversalEvent[] }>(daemon, "GET", `/v1/sessions/${id}/events`)).events;
  const create = async (node: string): Promise<string> => {
    const made = await call(gateway, "POST", "/v1/sessions", {
      agent: "mock",
      directory: join(home, "shared"),
      trust: "trusted",
      node,
      env: { MOCK_AGENT_MEMORY: join(home, "shared") },
    });
    expect(made.status, await made.clone().text()).toBe(201);
    return ((await made.json()) as { session_id: string }).session_id;
  };
  const ended = async (daemon: Daemon | undefined, id: string, turns: number): Promise<void> => {
    await expect
      .poll(async () => (await eventsOf(daemon, id)).filter(({ type }) => type === "turn.ended").length)
      .toBeGreaterThanOrEqual(turns);
  };

  beforeAll(async () => {
    home = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-fleet-")));
    mkdirSync(join(home, "shared"));
    postgres = await startPostgres();
    [a, b, gateway] = [await start("a"), await start("b"), await start("gateway", "gateway")];
  });

  afterAll(async () => {
    await Promise.allSettled(daemons.map((daemon) => daemon.close()));
    await postgres?.stop();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  it("a session on one node is read, streamed and driven through another and through a gateway", async () => {
    const id = await create("a");
    expect(await json(b, "GET", `/v1/sessions/${id}`)).toMatchObject({
      session_id: id,
      node: "a",
      epoch: 1,
      place: "shared",
      reachable: true,
    });
    const seen: number[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const event of client(gateway).session(id).events({ signal: stop.signal })) seen.push(event.sequence);
    })().catch(() => undefined);
    const accepted = await call(b, "POST", `/v1/sessions/${id}/messages`, { message: "say hello" });
    expect(accepted.status).toBe(202);
    expect(accepted.headers.get("dragoman-node")).toBe("a");
    await ended(gateway, id, 1);
    const events = await eventsOf(a, id);
    expect(await eventsOf(b, id)).toEqual(events);
    expect(await eventsOf(gateway, id)).toEqual(events);
    await expect.poll(() => seen.length).toBeGreaterThanOrEqual(events.length);
    stop.abort();
    await following;
    expect(seen.slice(0, events.length)).toEqual(events.map(({ sequence }) => sequence));
    const views = await Promise.all([a, b, gateway].map((each) => json(each, "GET", `/v1/sessions/${id}`)));
    expect(views[1]).toEqual(views[0]);
    expect(views[2]).toEqual(views[0]);
    const lists = await Promise.all([a, b, gateway].map((each) => json<{ sessions: unknown[] }>(each, "GET", "/v1/sessions")));
    expect(lists[1]?.sessions).toEqual(lists[0]?.sessions);
    expect(lists[2]?.sessions).toEqual(lists[0]?.sessions);
  });

  it("every route about a session answers the same on its owner, on another node and on a gateway", async () => {
    const id = await create("b");
    await call(b, "POST", `/v1/sessions/${id}/messages`, { message: "say one" });
    await ended(b, id, 1);
    const paths = [
      "",
      "/events",
      "/items",
      "/snapshot",
      "/queue",
      "/pending",
      "/native",
      "/coverage",
      "/settings",
      "/artifacts",
      "/checkpoints",
      "/fs/list?path=.",
      "/tasks",
      "/export",
    ];
    const answerOf = async (daemon: Daemon | undefined, path: string): Promise<{ status: number; text: string }> => {
      const answer = await call(daemon, "GET", `/v1/sessions/${id}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    // Between two of the answers the mock may still say something behind its turn.
    for (const path of paths) {
      const answers = expect.poll(
        async () => {
          const read = await Promise.all([b, a, gateway].map((each) => answerOf(each, path)));
          return read.map(({ status, text }) => ({ status, same: text === read[0]?.text }));
        },
        { message: path },
      );
      await answers.toEqual([b, a, gateway].map(() => ({ status: 200, same: true })));
    }
    const none = await call(a, "POST", "/v1/sessions/sess_none/messages", { message: "x" });
    expect(none.status).toBe(404);
  });

  it("what has a NUL in its name is not found, anywhere", async () => {
    for (const daemon of [a, b, gateway])
      for (const [method, path] of [
        ["GET", "/v1/sessions/no%00ne"],
        ["DELETE", "/v1/sessions/no%00ne"],
        ["POST", "/v1/sessions/no%00ne/interrupt"],
        ["GET", "/v1/tasks/no%00ne"],
        ["POST", "/v1/nodes/no%00ne/fence"],
      ] as const)
        expect([path, (await call(daemon, method, path)).status]).toEqual([path, 404]);
  });

  it("a gateway tells what the owner sends it, also while it cannot reach the database", async () => {
    const proxy = await startProxy(postgres.url);
    const cut = await start("gateway-2", "gateway", proxy.url);
    const id = await create("a");
    const seen: UniversalEvent[] = [];
    const stop = new AbortController();
    const following = (async () => {
      for await (const event of client(cut).session(id).events({ signal: stop.signal })) seen.push(event);
    })().catch(() => undefined);
    await call(a, "POST", `/v1/sessions/${id}/messages`, { message: "say one" });
    await ended(a, id, 1);
    // The owner sends to this gateway, not only to another one.
    const metric = async (): Promise<string> => (await call(cut, "GET", "/metrics")).text();
    await expect.poll(metric).toMatch(/^dragoman_tail_sessions 1$/m);
    await expect.poll(async () => seen.length).toBe((await eventsOf(a, id)).length);
    proxy.shut();
    await call(a, "POST", `/v1/sessions/${id}/messages`, { message: "say two" });
    await ended(a, id, 2);
    await expect.poll(async () => seen.length).toBe((await eventsOf(a, id)).length);
    // What the owner could not send is read from the log, when it is there again.
    proxy.open();
    stop.abort();
    await following;
    expect(seen).toEqual(await eventsOf(a, id));
    await cut.close();
    await proxy.close();
  });

  it("the metrics of a node say what it owns, what its commits cost, and how long its lease holds", async () => {
    const id = await create("b");
    await call(b, "POST", `/v1/sessions/${id}/messages`, { message: "say one" });
    await ended(b, id, 1);
    const text = await (await call(b, "GET", "/metrics")).text();
    const value = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    const { nodes } = await json<{ nodes: { node_id: string; sessions: number }[] }>(a, "GET", "/v1/nodes");
    expect(value("dragoman_owned_sessions")).toBe(nodes.find(({ node_id }) => node_id === "b")?.sessions);
    expect(value("dragoman_commit_seconds_count")).toBeGreaterThan(0);
    expect(value("dragoman_commit_rows_count")).toBe(value("dragoman_commit_seconds_count"));
    expect(value('dragoman_commit_rows_bucket{le="\\+Inf"}')).toBe(value("dragoman_commit_rows_count"));
    expect(value("dragoman_commit_rows_sum")).toBeGreaterThan(0);
    expect(value("dragoman_lease_seconds")).toBeLessThanOrEqual(3);
    for (const name of ["takeovers_total", "fenced_total", "fencings_total", "ambiguous_total", "tail_peers"])
      expect(value(`dragoman_${name}`), name).toBeGreaterThanOrEqual(0);
  });

  it("a WebSocket through a gateway takes commands and tells events", async () => {
    const id = await create("a");
    const socket = new WebSocket(`${gateway?.url.replace("http", "ws")}/v1/sessions/${id}/ws`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const texts: string[] = [];
    socket.on("message", (data) => texts.push(String(data)));
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    await expect.poll(() => texts.join("")).toContain("session.started");
    socket.close();
  });

  it("[A2] an agent of one node answers no request through another node or a gateway", async () => {
    const id = await create("a");
    await call(a, "POST", `/v1/sessions/${id}/messages`, { message: "ask touch it" });
    const pending = () => json<{ permissions: { permission_id: string }[] }>(a, "GET", `/v1/sessions/${id}/pending`);
    await expect.poll(async () => (await pending()).permissions.length).toBe(1);
    const [permission] = (await pending()).permissions;
    // As programs inside an agent say who they are; elsewhere the same is found in the environment of the process that calls.
    const marked = { authorization: `Bearer ${TOKEN}`, "dragoman-agent": `${"a".repeat(32)}:${"b".repeat(32)}` };
    for (const node of [b, gateway]) {
      const refused = await fetch(`${node?.url}/v1/sessions/${id}/permissions/${permission?.permission_id}/reply`, {
        method: "POST",
        headers: { ...marked, "content-type": "application/json" },
        body: JSON.stringify({ reply: "once" }),
      });
      expect(await refused.json()).toMatchObject({ code: "own_request" });
      const socket = new WebSocket(`${node?.url.replace("http", "ws")}/v1/sessions/${id}/ws`, { headers: marked });
      const answer = new Promise((resolve) => {
        socket.on("message", (data) => {
          const said = JSON.parse(data.toString()) as { type?: string; id?: string };
          const reply = { id: "1", op: "reply_permission", permission_id: permission?.permission_id, reply: "once" };
          if (said.type === "hello") socket.send(JSON.stringify(reply));
          if (said.id === "1") resolve(said);
        });
      });
      expect(await answer).toMatchObject({ ok: false, problem: { code: "own_request" } });
      socket.terminate();
    }
    expect((await pending()).permissions).toHaveLength(1);
    await call(b, "POST", `/v1/sessions/${id}/terminate`);
  });

  it("[O10] a session is moved to another node, and goes on there with what its agent knew", async () => {
    const id = await create("a");
    await call(gateway, "POST", `/v1/sessions/${id}/messages`, { message: "say before the move" });
    await ended(gateway, id, 1);
    const moved = await call(gateway, "POST", `/v1/sessions/${id}/move`, { node: "b" });
    expect(moved.status, await moved.text()).toBe(202);
    await expect.poll(async () => json(a, "GET", `/v1/sessions/${id}`)).toMatchObject({ node: "b", epoch: 2 });
    expect((await call(gateway, "POST", `/v1/sessions/${id}/messages`, { message: "say after the move" })).status).toBe(202);
    await ended(a, id, 2);
    const events = await eventsOf(a, id);
    expect(events.find(({ type }) => type === "session.moved")?.data).toEqual({ from: "a", to: "b", epoch: 2, reason: "move" });
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  });

  it("[O6] a session whose new owner did not get the answer to its claim is taken up all the same, and says once that it moved", async () => {
    const proxy = await startProxy(postgres.url);
    const late = await start("late", "node", proxy.url);
    const id = await create("a");
    await call(gateway, "POST", `/v1/sessions/${id}/messages`, { message: "say before the move" });
    await ended(gateway, id, 1);
    const isThere = async (): Promise<boolean> =>
      (await json<{ node: string | null }>(a, "GET", `/v1/sessions/${id}`)).node === "late";
    let lost = proxy.next("lose_answer", "WITH free AS");
    await call(gateway, "POST", `/v1/sessions/${id}/move`, { node: "late" });
    for (await lost; !(await isThere()); await lost) lost = proxy.next("lose_answer", "WITH free AS");
    expect((await call(gateway, "POST", `/v1/sessions/${id}/messages`, { message: "say after the move" })).status).toBe(202);
    await ended(a, id, 2);
    const moved = async (): Promise<unknown[]> =>
      (await eventsOf(a, id)).filter(({ type }) => type === "session.moved").map(({ data }) => data);
    await expect.poll(moved).toEqual([{ from: "a", to: "late", epoch: 2, reason: "move" }]);
    await late.close();
    await proxy.close();
  });

  it("a key of a request is known to all nodes", async () => {
    const id = await create("a");
    const send = (daemon: Daemon | undefined) =>
      fetch(`${daemon?.url}/v1/sessions/${id}/messages`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", "idempotency-key": "once" },
        body: JSON.stringify({ message: "say once" }),
      });
    const answers = await Promise.all([send(a), send(b), send(gateway)]);
    const ids = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { turn_id: string }).turn_id));
    expect(new Set(ids).size).toBe(1);
    await ended(a, id, 1);
    expect((await eventsOf(a, id)).filter(({ type }) => type === "turn.started")).toHaveLength(1);
  });

  it("a node's secret opens nothing of the public API, and a token nothing between nodes; what was signed cannot be changed", async () => {
    const secret = new NodeSecret(SECRET);
    const caller = JSON.stringify({
      id: "x",
      role: "observe",
      kind: "root",
      scope: null,
      actor: { token_id: "x", role: "observe", surface: "http" },
    });
    const signed = (path: string, message: Partial<{ to: string; body: string }> = {}, at = Date.now(), by = secret) =>
      by.sign("GET", path, { from: "b", to: message.to ?? "a", caller, bodyHash: hashOf(message.body ?? "") }, at);
    const get = async (path: string, headers: Record<string, string>): Promise<number> =>
      (await fetch(`${a?.url}${path}`, { headers })).status;
    const path = "/internal/v1/forward/v1/sessions";
    expect(await get(path, signed(path))).toBe(200);
    expect(await get("/v1/sessions", signed("/v1/sessions"))).toBe(401);
    expect(await get(path, { authorization: `Bearer ${TOKEN}` })).toBe(401);
    expect(await get(path, signed(path, {}, Date.now() - 61_000))).toBe(401);
    expect(await get(path, signed(path, { to: "b" }))).toBe(401);
    expect(await get(path, signed(path, { body: "other" }))).toBe(401);
    expect(await get(path, signed(path, {}, Date.now(), new NodeSecret("another secret, as long as the right one")))).toBe(401);
    // The same request once more: it was taken, and is taken once.
    const once = signed(path);
    expect([await get(path, once), await get(path, once)]).toEqual([200, 401]);
    const raised = { "x-dragoman-caller": Buffer.from(caller.replaceAll("observe", "admin")).toString("base64url") };
    expect(await get(path, { ...signed(path), ...raised })).toBe(401);
  });

  it("[O10] a session is drained also when the registry did not answer on the way", async () => {
    const proxy = await startProxy(postgres.url);
    const cut = await start("cut", "node", proxy.url);
    const id = await create("cut");
    const asked = proxy.next("lose_request", "SELECT jsonb_array_elements_text");
    await call(a, "POST", "/v1/nodes/cut/drain");
    await asked;
    await proxy.next("lose_request", "released_by = $1");
    await expect.poll(async () => json(a, "GET", `/v1/sessions/${id}`)).toMatchObject({ node: expect.stringMatching(/^[ab]$/) });
    expect((await call(a, "POST", `/v1/sessions/${id}/messages`, { message: "say on" })).status).toBe(202);
    await ended(a, id, 1);
    await cut.close();
    await proxy.close();
  });

  it("nodes are listed; a node that is drained gives its sessions away, and takes new ones after that is taken back", async () => {
    const id = await create("b");
    expect(
      (await json<{ nodes: { node_id: string; state: string }[] }>(gateway, "GET", "/v1/nodes")).nodes
        .filter(({ state }) => state !== "left")
        .map(({ node_id }) => node_id),
    ).toEqual(["a", "b", "gateway"]);
    expect((await call(gateway, "POST", "/v1/nodes/b/drain")).status).toBe(202);
    await expect.poll(async () => json(gateway, "GET", `/v1/sessions/${id}`)).toMatchObject({ node: "a" });
    expect(
      (await call(gateway, "POST", "/v1/sessions", { agent: "mock", directory: join(home, "shared"), node: "b" })).status,
    ).toBe(503);
    await call(gateway, "POST", "/v1/nodes/b/drain", { undo: true });
    await expect.poll(async () => (await json<{ state: string }>(gateway, "GET", "/v1/nodes/b")).state).toBe("up");
    expect((await call(gateway, "GET", "/v1/nodes/nobody")).status).toBe(404);
  });
});
