/** A fleet as users run it, for tests: real nodes and gateways in processes of their own, on a real Postgres. Tests kill and stop them. Test helper. */
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { Dragoman } from "../../src/client/dragoman.ts";
import { startPostgres, type TestPostgres } from "../../src/log/postgres/test-postgres.ts";
import type { UniversalEvent } from "../../src/schema/event.ts";
import { checkGrammar } from "../../src/schema/grammar.ts";
import type { Node } from "../../src/schema/node.ts";
import type { Session } from "../../src/schema/session.ts";
import { type DaemonProcess, removeDir, startDaemonProcess } from "../daemon-process.ts";

export const SECRET = "a secret of the cluster, for tests only";
export const TOKEN = "a-token-for-tests-0123456789abcdef";
/** Seconds; a machine that is too busy needs more (DRAGOMAN_FLEET_LEASE). */
export const LEASE_S = Number(process.env.DRAGOMAN_FLEET_LEASE ?? 3);
const PLACE = "shared";

type Body = Record<string, unknown>;
/** `url`: another way to the database. `program`: of another build. */
type StartOptions = { url?: string; env?: NodeJS.ProcessEnv; args?: readonly string[]; program?: string };

export class TestCluster {
  readonly home: string;
  readonly shared: string;
  readonly postgres: TestPostgres;
  readonly nodes = new Map<string, DaemonProcess>();

  static async start(names: readonly string[], postgres?: TestPostgres): Promise<TestCluster> {
    const cluster = new TestCluster(postgres ?? (await startPostgres()));
    // One after the other: each finds the tables as the first made them.
    for (const name of names) await cluster.start(name);
    return cluster;
  }

  constructor(postgres: TestPostgres) {
    this.home = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-fleet-")));
    this.shared = join(this.home, "shared");
    mkdirSync(this.shared);
    this.postgres = postgres;
  }

  /** `gateway…` is a gateway. Again under the same name: it returns. */
  async start(
    name: string,
    { url = this.postgres.url, env: more = {}, args: given = [], program }: StartOptions = {},
  ): Promise<DaemonProcess> {
    const dataDir = join(this.home, name);
    mkdirSync(dataDir, { recursive: true });
    const args = ["--cluster", url, "--node-id", name, "--labels", `name=${name}`, "--lease", String(LEASE_S)];
    const env = { DRAGOMAN_CLUSTER_SECRET: SECRET, DRAGOMAN_TOKEN: TOKEN, ...more };
    const command = name.startsWith("gateway") ? "gateway" : "serve";
    const places = ["--place", `${this.shared}=${PLACE}`];
    const node = await startDaemonProcess(dataDir, [...args, ...places, ...given], env, command, program);
    this.nodes.set(name, node);
    return node;
  }

  async stop(): Promise<void> {
    await Promise.all(
      [...this.nodes.values()].map(async (node) => {
        node.child.kill("SIGCONT");
        await node.kill("SIGTERM");
      }),
    );
    await this.postgres.stop();
    removeDir(this.home);
  }

  node(name: string): DaemonProcess {
    const node = this.nodes.get(name);
    if (!node) throw new Error(`there is no node ${name}`);
    return node;
  }

  /** kill -9. */
  async kill(name: string): Promise<void> {
    await this.node(name).kill("SIGKILL");
  }

  client(name: string): Dragoman {
    return new Dragoman({ url: this.node(name).url, token: TOKEN });
  }

  call(name: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const type = body === undefined ? {} : { "content-type": "application/json" };
    return fetch(`${this.node(name).url}${path}`, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...type, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async json<T>(name: string, path: string): Promise<T> {
    const answer = await this.call(name, "GET", path);
    expect(answer.status, `${path} through ${name}: ${await answer.clone().text()}`).toBe(200);
    return (await answer.json()) as T;
  }

  /** On this node, in the directory that all have; the agent's memory is there too. Under a key: a machine that is too busy for the lease may lose the answer. */
  async create(on: string, through = on, more: Body = {}): Promise<string> {
    const body = {
      ...{ agent: "mock", directory: this.shared, trust: "trusted", node: on },
      ...{ env: { MOCK_AGENT_MEMORY: this.shared }, ...more },
    };
    const made = await this.call(through, "POST", "/v1/sessions", body, { "idempotency-key": randomUUID() });
    expect(made.status, await made.clone().text()).toBe(201);
    return ((await made.json()) as Session).session_id;
  }

  /** A directory that only this node has. */
  alone(name: string): string {
    const directory = join(this.home, `${name}-alone`);
    mkdirSync(directory, { recursive: true });
    return directory;
  }

  send(through: string, id: string, message: string, key?: string): Promise<Response> {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    return this.call(through, "POST", `/v1/sessions/${id}/messages`, { message }, headers);
  }

  view(through: string, id: string): Promise<Session> {
    return this.json<Session>(through, `/v1/sessions/${id}`);
  }

  async events(through: string, id: string, type?: UniversalEvent["type"]): Promise<UniversalEvent[]> {
    const all: UniversalEvent[] = [];
    for (let after = 0; ; ) {
      const only = type === undefined ? "" : `&types=${type}`;
      const page = await this.json<{ events: UniversalEvent[]; has_more: boolean; next: number }>(
        through,
        `/v1/sessions/${id}/events?after=${after}&limit=10000${only}`,
      );
      all.push(...page.events);
      if (!page.has_more) return all;
      after = page.next;
    }
  }

  /** For the report of a failure: its owner by the registry and by each node that answers, its queue, its last events. */
  async whatIsKnown(id: string): Promise<string> {
    const answers = [...this.nodes.keys()].map(async (name) => {
      const view = await this.call(name, "GET", `/v1/sessions/${id}`).then((answer) => answer.text(), String);
      return `${name} says ${view}`;
    });
    const queue = this.call("gateway", "GET", `/v1/sessions/${id}/queue`).then((answer) => answer.text(), String);
    const last = (await this.events("gateway", id))
      .slice(-20)
      .map(({ type, data, time }) => JSON.stringify({ time, type, data }));
    return [...(await Promise.all(answers)), `queue ${await queue}`, ...last].join("\n");
  }

  async nodeRows(through: string): Promise<Node[]> {
    return (await this.json<{ nodes: Node[] }>(through, "/v1/nodes")).nodes;
  }

  /** Every node that lives has a lease, unbroken for a whole term: only then does it fence others. */
  async settled(through: string, names: readonly string[]): Promise<void> {
    await expect
      .poll(async () => {
        const rows = await this.nodeRows(through);
        return names.filter((name) =>
          rows.some(({ node_id, state, lease_ms }) => node_id === name && state === "up" && lease_ms > 0),
        );
      })
      .toEqual([...names]);
  }

  async hasEvents(through: string, id: string, type: UniversalEvent["type"], count = 1): Promise<void> {
    await expect.poll(async () => (await this.events(through, id, type)).length).toBeGreaterThanOrEqual(count);
  }
}

/** What a client saw of a session, whatever it was connected to. */
export class Follower {
  readonly seen: UniversalEvent[] = [];
  readonly id: string;
  readonly #stop = new AbortController();
  readonly #done: Promise<void>;

  /** `through`: asked for each connection; a node that died is no answer. */
  constructor(cluster: TestCluster, id: string, through: () => string) {
    this.id = id;
    this.#done = this.#follow(cluster, through);
  }

  get last(): number {
    return this.seen.at(-1)?.sequence ?? 0;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }

  /** 1 to n, once each, as the log has them. */
  check(log: readonly UniversalEvent[]): void {
    expect(this.seen.map(({ sequence }) => sequence)).toEqual(this.seen.map((_, index) => index + 1));
    expect(this.seen).toEqual(log.slice(0, this.seen.length));
  }

  async #follow(cluster: TestCluster, through: () => string): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const at = through();
      const gone = new AbortController();
      const signal = AbortSignal.any([gone.signal, this.#stop.signal]);
      // The client of one address tries that one again; a person's browser, or a load balancer, takes another.
      const onState = ({ state }: { state: string }): void => void (state === "reconnecting" && through() !== at && gone.abort());
      try {
        const events = cluster.client(at).session(this.id).events({ after: this.last, signal, onState });
        for await (const event of events) this.seen.push(event);
        if (!signal.aborted) return;
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }
}

/** Gapless, no event twice, and right by the grammar. */
export function checkStory(events: readonly UniversalEvent[]): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(events.length);
  expect(checkGrammar([...events])).toEqual([]);
}

/** A few at once: many sessions in little time, and no more work at a time than a client would give. */
export async function inPortions<T, R>(all: readonly T[], work: (one: T, index: number) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  for (let from = 0; from < all.length; from += 8)
    done.push(...(await Promise.all(all.slice(from, from + 8).map((one, index) => work(one, from + index)))));
  return done;
}

/** All that was said. */
export const textOf = (events: readonly UniversalEvent[]): string =>
  events.map(({ type, data }) => (type === "item.delta" ? (data as { delta: string }).delta : "")).join("");

export const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
