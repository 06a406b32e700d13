/**
 * The daemon as a node of a fleet: the shared log in Postgres, its place in the registry, and what happens to its sessions when it gets or loses them. Loaded only where there is a cluster.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { Drain } from "../cluster/drain.ts";
import { Fleet } from "../cluster/fleet.ts";
import { fleetLog } from "../cluster/fleet-log.ts";
import { FLEET_TIMES, type FleetClock, FleetNode, type FleetTimes } from "../cluster/fleet-node.ts";
import { FLEET_TABLES } from "../cluster/fleet-tables.ts";
import type { Transport } from "../cluster/node-calls.ts";
import { type Place, Places } from "../cluster/places.ts";
import { PostgresRegistry } from "../cluster/postgres-registry.ts";
import { PostgresTokens } from "../cluster/postgres-tokens.ts";
import type { Claim, NodeKind, NodeProfile } from "../cluster/registry.ts";
import { NodeSecret } from "../cluster/signature.ts";
import type { Log } from "../log/contract.ts";
import { LogError } from "../log/log-error.ts";
import { ArtifactMover } from "../log/postgres/artifact-mover.ts";
import { type Connect, type Database, Postgres } from "../log/postgres/connection.ts";
import { openPostgresLog, type PostgresLog } from "../log/postgres/log.ts";
import { type S3, S3Error, s3From } from "../log/postgres/s3.ts";
import { DEFAULT_TENANT } from "../log/postgres/schema.ts";
import type { SessionWhereabouts } from "../schema/session.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { QUEUED } from "../session/stored-queue.ts";
import type { LogLevel } from "./agent-host.ts";
import { keepPacking } from "./packing.ts";
import { version } from "./version.ts";

export type ClusterOptions = {
  /** `postgres://…` */
  url: string;
  kind: NodeKind;
  nodeId: string;
  labels: Readonly<Record<string, string>>;
  places: readonly Place[];
  /** What agents keep in the user's folders is not shared: it is carried in the log. */
  carry?: boolean;
  /** Where other nodes reach this one; absent: where it listens. */
  advertiseUrl?: string;
  /** The same for all nodes. */
  secret: string;
  /** PEM, for nodes that talk over TLS. */
  ca?: string;
  /** Where artifacts are moved to: `s3://…`, with its keys in the environment. Absent: they stay in the database. */
  artifacts?: { place: string; env: NodeJS.ProcessEnv };
  /** How long a node may be silent before others take over. Default 10 s. */
  leaseMs?: number;
  /** The database and the network, for who brings their own: the simulation does. */
  outside?: { connect: Connect; peers: Transport };
};

export type ClusterHooks = {
  agents(): readonly string[];
  /** Whether a session of this agent can go on on another node that has its directory. `carry`: as the node was told. */
  goesOn(agent: string, carry: boolean): boolean;
  capacity: number;
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void;
  onLogError(error: LogError | null): void;
};

/** How many sessions are taken up at once, and when one is tried again. */
const AT_ONCE = 4;
const AGAIN_MS = 1_000;
/** How often it is looked for artifacts to move. */
const MOVE_MS = 2_000;

export class ClusterMember {
  readonly log: Log;
  readonly fleet: Fleet;
  /** Tokens that were made on any node. */
  readonly tokens: { node: string; table: PostgresTokens };
  readonly #node: FleetNode;
  readonly #registry: PostgresRegistry;
  readonly #places: Places;
  readonly #profile: NodeProfile;
  readonly #options: ClusterOptions;
  readonly #hooks: ClusterHooks;
  readonly #leases: Database;
  readonly #shared: PostgresLog;
  #manager: SessionManager | null = null;
  #closeLostTasks: () => Promise<unknown> = async () => undefined;
  readonly #waiting: Claim[] = [];
  /** Of sessions that came from other nodes: under which epoch `session.moved` is in the log. */
  readonly #told = new Map<string, number>();
  #working = 0;
  #moving: NodeJS.Timeout | undefined;
  #endPacking = (): void => undefined;
  readonly #drain: Drain;

  static async open(options: ClusterOptions, hooks: ClusterHooks): Promise<ClusterMember> {
    const bucket = await openBucket(options, hooks);
    const writer = `${options.nodeId}/${randomBytes(6).toString("hex")}`;
    const connect: Connect = options.outside?.connect ?? ((more) => Postgres.open({ url: options.url, ...more }));
    let member: ClusterMember | undefined;
    const log = await openPostgresLog({
      ...{ url: options.url, connect },
      as: { node: writer },
      rooms: [FLEET_TABLES],
      bucket,
      onError: hooks.onLogError,
      // It may be ours all the same by now: then it is taken up again, and its messages are delivered.
      onLost: (kind, id) => {
        if (member && kind === "session") member.#node.refused(id);
      },
    });
    // A connection of its own: a long commit must not look like death.
    const leases = await connect({ connections: 3, timeoutMs: 5_000, applicationName: "dragoman lease" });
    member = new ClusterMember(options, hooks, { log, leases, writer });
    if (options.kind === "node")
      member.#endPacking = keepPacking({
        ...{ registry: member.#registry, log, leads: () => member.leads() },
        warn: (message, fields) => hooks.log("warn", message, fields),
      });
    if (bucket) member.#keepMoving(new ArtifactMover(log.database, DEFAULT_TENANT, bucket));
    return member;
  }

  private constructor(
    options: ClusterOptions,
    hooks: ClusterHooks,
    opened: { log: PostgresLog; leases: Database; writer: string },
  ) {
    this.#options = options;
    this.#hooks = hooks;
    this.#leases = opened.leases;
    this.#shared = opened.log;
    const places = new Places(options.places, (agent) => hooks.goesOn(agent, options.carry ?? false));
    const registry = new PostgresRegistry(opened.leases);
    this.#places = places;
    this.#registry = registry;
    this.tokens = { node: options.nodeId, table: new PostgresTokens(opened.leases) };
    this.#profile = {
      node_id: options.nodeId,
      kind: options.kind,
      writer: opened.writer,
      url: options.advertiseUrl ?? "",
      version,
      labels: options.labels,
      places: places.names,
      agents: hooks.agents(),
      capacity: hooks.capacity,
    };
    this.#node = new FleetNode({
      registry,
      profile: this.#profile,
      times: timesOf(options.leaseMs ?? FLEET_TIMES.term_ms),
      clock,
      duties: {
        taken: (claims) => this.#taken(claims),
        lost: (ids) => this.#lost(ids),
        load: () => this.#manager?.counts().live ?? 0,
        state: (state) => (state === "draining" ? this.#drain.begin() : this.#drain.end()),
      },
      warn: (message, fields) => hooks.log("warn", message, fields),
    });
    this.fleet = new Fleet({
      ...{ node: this.#node, registry, profile: this.#profile, places },
      secret: new NodeSecret(options.secret),
      log: opened.log,
      now: Date.now,
      random: Math.random,
      clock,
      peers: options.outside?.peers,
      sessions: () => ({
        views: async (ids) => (await Promise.all(ids.map((id) => this.#viewOf(id)))).flatMap((view) => view ?? []),
        handOver: async (id, when) => {
          await this.#manager?.handOver(id, when);
          opened.log.giveUp("session", id);
        },
      }),
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    });
    this.#drain = new Drain({
      ...{ owned: () => this.#node.owned(), move: (id) => this.fleet.move(id, {}, "turn_end"), clock },
      warn: (message, fields) => hooks.log("warn", message, fields),
    });
    this.log = fleetLog(opened.log, { node: this.#node, placeOf: (agent, directory) => places.ofSession(agent, directory) });
  }

  owns(sessionId: string): boolean {
    return this.#node.epochOf(sessionId) !== undefined;
  }

  whereabouts(sessionId: string): SessionWhereabouts {
    return this.fleet.whereabouts(sessionId, this.#manager?.held(sessionId) ?? { agentId: "", directory: "" });
  }

  /** Before `start`. */
  attach(manager: SessionManager, closeLostTasks: () => Promise<unknown>): void {
    this.#manager = manager;
    this.#closeLostTasks = closeLostTasks;
  }

  /** Joins the fleet. From here on sessions come. */
  async start(url: string): Promise<void> {
    this.#profile.url = this.#options.advertiseUrl ?? url;
    this.#profile.agents = this.#hooks.agents();
    await this.#node.start();
    if (this.#profile.kind === "node") await this.#adopt();
    await this.#node.claimNow();
  }

  /** Sessions of a log that was moved here from one daemon: those whose directory this node has. */
  async #adopt(): Promise<void> {
    const unknown = await this.#registry.unknown();
    const ours = unknown.filter(({ directory }) => existsSync(directory));
    if (ours.length === 0) return;
    const homes = ours.map(({ session_id, agent, directory }) => ({
      session_id,
      agent,
      place: this.#places.ofSession(agent, directory),
    }));
    await this.#registry.adopt(this.#profile.node_id, homes);
    this.#hooks.log("info", "took up sessions of a log that was moved here", { sessions: ours.length });
  }

  /** True on one node of the fleet: it does what is done once for all. */
  async leads(): Promise<boolean> {
    const nodes = await this.fleet.nodes();
    return nodes.find(({ kind, state, lease_ms }) => kind === "node" && state === "up" && lease_ms > 0)?.self === true;
  }

  /** One node moves the artifacts of all into the bucket. */
  #keepMoving(mover: ArtifactMover): void {
    let moving = false;
    let fault = "";
    const turn = async (): Promise<void> => {
      try {
        if (!(await this.leads())) return;
        while ((await mover.move()) > 0);
        await mover.sweep();
        if (fault !== "") this.#hooks.log("info", "artifacts are moved into the bucket again");
        fault = "";
      } catch (error) {
        // They stay in the database; it is said once.
        if (String(error) !== fault)
          this.#hooks.log("warn", "artifacts cannot be moved into the bucket; they stay in the database", {
            error: String(error),
          });
        fault = String(error);
      }
    };
    this.#moving = setInterval(() => {
      if (moving) return;
      moving = true;
      void turn().finally(() => {
        moving = false;
      });
    }, MOVE_MS).unref();
  }

  /** After everything is committed: others go on with its sessions at once. */
  async leave(): Promise<void> {
    clearInterval(this.#moving);
    this.#endPacking();
    this.#drain.end();
    await this.#node
      .leave()
      .catch((error: unknown) => this.#hooks.log("warn", "the fleet could not be left", { error: String(error) }));
    this.fleet.close();
    await this.#leases.close();
  }

  async #viewOf(id: string): Promise<Awaited<ReturnType<SessionManager["view"]>> | undefined> {
    return this.owns(id) ? this.#manager?.view(id).catch(() => undefined) : undefined;
  }

  #taken(claims: readonly Claim[]): void {
    this.#waiting.push(...claims);
    while (this.#working < AT_ONCE && this.#waiting.length > 0) void this.#work();
  }

  async #work(): Promise<void> {
    this.#working++;
    for (let claim = this.#waiting.shift(); claim; claim = this.#waiting.shift()) {
      const { session_id, epoch } = claim;
      if (this.#node.epochOf(session_id) !== epoch) continue;
      await this.#takeUp(claim).catch((error: unknown) => {
        this.#hooks.log("warn", "a session could not be taken up", { session_id, error: String(error) });
        // A log that does not answer, or refuses us, says nothing about the session: its messages wait for us, as long as it is ours.
        if (error instanceof LogError) clock.after(AGAIN_MS, () => this.#taken([claim]));
      });
    }
    this.#working--;
    if (this.#working === 0) await this.#closeLostTasks().catch(() => undefined);
  }

  async #takeUp({ session_id, epoch, from, reason }: Claim): Promise<void> {
    // A node that was refused by the log finds out that the session is its own all the same: its last move was told.
    const elsewhere = reason !== "restart" && this.#told.get(session_id) !== epoch;
    // Its owner was lost before it had made the session: there is nothing to take up, and from here on nobody makes it.
    if (!(await this.log.row("session", session_id))) return this.#node.forget(session_id);
    if (!elsewhere && !(await this.#isOpen(session_id))) return;
    const moved = elsewhere ? { from, to: this.#profile.node_id, epoch, reason } : null;
    await this.#manager?.takeUp(session_id, moved);
    if (!elsewhere) return;
    this.#told.set(session_id, epoch);
    this.#hooks.log("info", "took a session over", { session_id, from, epoch, reason });
  }

  /** Something was left open, or a message waits. */
  async #isOpen(id: string): Promise<boolean> {
    const row = await this.log.row("session", id);
    if (!row) return false;
    return row.open_since !== null || (await this.log.documents.list(QUEUED, { prefix: `${id}/`, limit: 1 })).length > 0;
  }

  #lost(ids: readonly string[]): void {
    for (const id of ids) {
      this.#manager?.abandon(id);
      this.#shared.giveUp("session", id);
    }
    this.fleet.lost(ids);
    this.#hooks.log("warn", "other nodes own these sessions now", { sessions: ids.length });
  }
}

/** A bucket that refuses keys or name is a fault of the configuration; one that does not answer may do so later. */
async function openBucket({ artifacts }: ClusterOptions, { log }: ClusterHooks): Promise<S3 | undefined> {
  if (artifacts === undefined) return undefined;
  try {
    const bucket = s3From(artifacts.place, artifacts.env);
    await bucket.check().catch((error: unknown) => {
      if (!(error instanceof S3Error) || error.reason !== "unreachable") throw error;
      log("warn", "the bucket of artifacts does not answer; they stay in the database", { error: error.message });
    });
    return bucket;
  } catch (error) {
    throw Object.assign(new Error(error instanceof Error ? error.message : String(error), { cause: error }), {
      name: "DaemonError",
      code: "artifacts_refused",
    });
  }
}

const clock: FleetClock = {
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Renewed often enough that two heartbeats may be lost. */
const timesOf = (term_ms: number): FleetTimes => ({
  ...FLEET_TIMES,
  term_ms,
  renew_ms: Math.round(term_ms * 0.3),
  claim_ms: Math.round(term_ms * 0.2),
});
