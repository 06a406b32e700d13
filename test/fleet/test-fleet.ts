/** Nodes of a fleet in one process, on a real Postgres of their own. Test helper. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { Dragoman } from "../../src/client/dragoman.ts";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { Postgres } from "../../src/log/postgres/connection.ts";
import { startPostgres, type TestPostgres } from "../../src/log/postgres/test-postgres.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";

export const SECRET = "a secret of the cluster, for tests only";
export const TOKEN = "a-token-for-tests-0123456789abcdef";

export type NodeSpec = { id: string; kind?: "node" | "gateway"; labels?: Record<string, string> };

export class TestFleet {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-fleet-")));
  readonly shared = join(this.home, "shared");
  readonly daemons = new Map<string, Daemon>();
  #postgres: TestPostgres | undefined;

  async start(...specs: NodeSpec[]): Promise<void> {
    mkdirSync(this.shared);
    this.#postgres = await startPostgres();
    for (const spec of specs) await this.startNode(spec);
  }

  async startNode({ id, kind = "node", labels = {} }: NodeSpec): Promise<Daemon> {
    const daemon = await startDaemon({
      port: 0,
      dataDir: join(this.home, id),
      token: TOKEN,
      env: { ...process.env, HOME: this.home },
      cluster: {
        url: this.#postgres?.url ?? "",
        kind,
        nodeId: id,
        labels,
        places: [{ path: this.shared, name: "shared" }],
        secret: SECRET,
        leaseMs: 3_000,
      },
    });
    this.daemons.set(id, daemon);
    return daemon;
  }

  async stopNode(id: string): Promise<void> {
    await this.daemons.get(id)?.close();
    this.daemons.delete(id);
  }

  /** One statement, past all nodes. */
  async query(statement: string): Promise<void> {
    const database = await Postgres.open({ url: this.#postgres?.url ?? "", connections: 1 });
    await database.query(statement).finally(() => database.close());
  }

  async stop(): Promise<void> {
    await Promise.allSettled([...this.daemons.values()].map((daemon) => daemon.close()));
    await this.#postgres?.stop();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }

  url(id: string): string {
    return this.daemons.get(id)?.url ?? "";
  }

  client(id: string): Dragoman {
    return new Dragoman({ url: this.url(id), token: TOKEN });
  }

  call(id: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.url(id)}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async json<T>(...given: Parameters<TestFleet["call"]>): Promise<T> {
    return (await this.call(...given)).json() as Promise<T>;
  }

  /** On a node, asked for through any. */
  async create(through: string, node: string, more: Record<string, unknown> = {}): Promise<string> {
    const made = await this.call(through, "POST", "/v1/sessions", {
      agent: "mock",
      directory: this.shared,
      trust: "trusted",
      node,
      env: { MOCK_AGENT_MEMORY: this.shared },
      ...more,
    });
    expect(made.status, await made.clone().text()).toBe(201);
    return ((await made.json()) as { session_id: string }).session_id;
  }

  async events(through: string, id: string): Promise<UniversalEvent[]> {
    return (await this.json<{ events: UniversalEvent[] }>(through, "GET", `/v1/sessions/${id}/events`)).events;
  }

  /** Sends a message and waits for the end of its turn. */
  async turn(through: string, id: string, message: string): Promise<void> {
    const count = async (): Promise<number> =>
      (await this.events(through, id)).filter(({ type }) => type === "turn.ended").length;
    const before = await count();
    expect((await this.call(through, "POST", `/v1/sessions/${id}/messages`, { message })).status).toBe(202);
    await expect.poll(count).toBeGreaterThan(before);
  }
}
