// The daemon without its network: log, agents and sessions, put together. What embeds dragoman and what serves it both start here.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Agent, AgentHost } from "../agents/contract.ts";
import type { Log } from "../log/contract.ts";
import { atStart, type LogError } from "../log/log-error.ts";
import type { Indexer } from "../search/indexer.ts";
import { canMove } from "../session/carried-memory.ts";
import { isoClock, timeOrderedIds } from "../session/ids.ts";
import { removeUnfinishedImports } from "../session/import-mark.ts";
import { clearSpool } from "../session/import-source.ts";
import { SessionManager } from "../session/session-manager.ts";
import { parseRow } from "../session/session-row.ts";
import { type Reaped, reapOrphans, SESSION_VARIABLE } from "../transports/index.ts";
import { TrustStore } from "../trust/trust-store.ts";
import { AcpTerminals, type TaskService } from "../workspace/tasks/index.ts";
import { Directory } from "./agent-directory.ts";
import { createAgentHost, type HostedAgent, type LogLevel } from "./agent-host.ts";
import { childSessions } from "./child-sessions.ts";
import type { ClusterMember, ClusterOptions } from "./cluster.ts";
import { agentSettings, type Config, defaults } from "./config.ts";
import { checkpointsOf } from "./directory-checkpoints.ts";
import { openLog } from "./open-log.ts";
import { SearchKeeper } from "./search-keeper.ts";
import { DaemonSkills } from "./skills.ts";
import { createTasks, type DaemonTasks } from "./tasks.ts";

/** How long agents and the log have for their end. With the server's own time, the daemon ends within ten seconds. */
const CLOSE_MS = 7_000;

export type CoreOptions = {
  dataDir: string;
  config: Config;
  agents: readonly Agent[];
  env: NodeJS.ProcessEnv;
  defaultDirectory: string;
  /** `postgres://…`: the log is there instead of in the data directory. */
  logUrl?: string;
  /** Begin with an empty log when the one that is there is damaged; it is kept aside. */
  acceptEmpty?: boolean;
  log(level: LogLevel, message: string, fields?: Record<string, unknown>): void;
  /** Further variables for a process that serves one session alone: how it reaches the daemon. */
  agentAccess?(sessionId: string): Record<string, string>;
  /** Absent: one daemon with its own log in the data directory. */
  cluster?: ClusterOptions | undefined;
  /** Called when the log cannot write, and with null when it can again. */
  onLogError?(error: LogError | null): void;
};

export type Core = {
  log: Log;
  manager: SessionManager;
  agents: ReadonlyMap<string, HostedAgent>;
  directory: Directory;
  trust: TrustStore;
  skills: DaemonSkills;
  indexer: Pick<Indexer, "status">;
  /** Null: one daemon by itself. */
  cluster: ClusterMember | null;
  tasks: TaskService;
  reaped: Reaped[];
  recovered: number;
  /** Stops every agent, leaves every session resumable, closes the log. */
  close(): Promise<void>;
};

/** In this order: the lock, the orphans of a crashed daemon, the sessions it left open. Only then may anything new begin. */
export async function openCore(options: CoreOptions): Promise<Core> {
  if (options.cluster) return openNode(options, options.cluster);
  let stopAgents = (): void => {};
  const log = await openLog({
    dataDir: options.dataDir,
    ...(options.logUrl === undefined ? {} : { url: options.logUrl }),
    acceptEmpty: options.acceptEmpty ?? false,
    onError: (error) => {
      options.onLogError?.(error);
      // Another daemon owns the sessions now: what these agents do could not be kept.
      if (error?.code === "fenced") stopAgents();
    },
  });
  try {
    return await openSessions(options, { log, cluster: null }, (stop) => {
      stopAgents = stop;
    });
  } catch (error) {
    await log.close().catch(() => undefined);
    throw atStart(error, options.dataDir);
  }
}

/** A node of a fleet: its sessions come when it joins, and each has its own owner, so losing one is no end of the others. */
async function openNode(options: CoreOptions, given: ClusterOptions): Promise<Core> {
  // Loaded here: one daemon by itself needs nothing of it.
  const { ClusterMember } = await import("./cluster.ts");
  const cluster = await ClusterMember.open(given, {
    agents: () => (given.kind === "gateway" ? [] : options.agents.map(({ id }) => id)),
    goesOn: (id, carry) =>
      canMove(
        options.agents.find((agent) => agent.id === id),
        { homes: carry },
      ),
    capacity: options.config.limits?.sessions ?? defaults.limits.sessions,
    log: options.log,
    onLogError: (error) => options.onLogError?.(error),
  });
  try {
    return await openSessions(options, { log: cluster.log, cluster }, () => undefined);
  } catch (error) {
    await cluster.leave();
    await cluster.log.close().catch(() => undefined);
    throw atStart(error, options.dataDir);
  }
}

/** What is left of imports that the last daemon did not end. What cannot be removed now stays hidden until the next start. */
async function removeImports({ dataDir, log: say }: CoreOptions, log: Log): Promise<void> {
  try {
    await clearSpool(dataDir);
    for (const session_id of await removeUnfinishedImports(log))
      say("warn", "an import that was cut off was removed", { session_id });
  } catch (error) {
    say("warn", "an import that was cut off could not be removed", { error: String(error) });
  }
}

type Opened = { log: Log; cluster: ClusterMember | null };

async function openSessions(options: CoreOptions, { log, cluster }: Opened, onFenced: (stop: () => void) => void): Promise<Core> {
  const processDir = join(options.dataDir, "processes");
  mkdirSync(processDir, { recursive: true, mode: 0o700 });
  const reaped = await reapOrphans(processDir);
  const agents = new Map<string, HostedAgent>();
  const trust = new TrustStore({
    dataDir: options.dataDir,
    configured: options.config.trusted_directories ?? [],
    ...(options.env.HOME ? { home: options.env.HOME } : {}),
    onDamage: (message) => options.log("warn", message),
  });
  const directory = new Directory(agents, { ...options, trust });
  let index: SearchKeeper | null = null;
  const checkpoints = checkpointsOf(options, log);
  const warn = (message: string, fields?: Record<string, unknown>): void => options.log("warn", message, fields);
  const [ids, clock] = [timeOrderedIds(), isoClock()];
  const tasks = createTasks({ ...options, log, ids, clock, manager: () => manager, warn });
  const skills = new DaemonSkills({
    folder: join(options.dataDir, "skills"),
    home: options.env.HOME,
    agents: () => [...agents.values()].map(({ agent }) => agent),
    isTrusted: (path) => trust.isTrusted(path),
    share: options.config.share_skills ?? true,
  });
  const manager = new SessionManager({
    log,
    ids,
    clock,
    now: Date.now,
    agent: (id) => agents.get(id),
    inspect: (id) => directory.look(id, true),
    directories: trust,
    checkpoints: checkpoints ?? undefined,
    skills,
    adoptTask: (command) => tasks.service.tasks.adopt(command),
    times: { ...defaults.times, ...options.config.times },
    limits: { ...defaults.limits, ...options.config.limits },
    defaultDirectory: options.defaultDirectory,
    agentEnvironment: (id) => ({ ...options.agentAccess?.(id), [SESSION_VARIABLE]: id }),
    warn,
    isUsed: (id) => tasks.service.isUsed(id) || cluster?.owns(id) === false,
    carry: options.cluster && { node: options.cluster.nodeId, homes: options.cluster.carry ?? false },
    whereabouts: cluster ? (id) => cluster.whereabouts(id) : undefined,
    onRemoved: (id) => tasks.service.removeOf(id),
    searchReady: () => index?.status().state === "ready",
  });
  const openChannel: AgentHost["openChannel"] = (translator) => manager.openChannel(translator);
  const openTerminals: NonNullable<AgentHost["openTerminals"]> = (asked) =>
    new AcpTerminals({ ...asked, tasks: tasks.service.tasks });
  const children = childSessions(manager, () => options.agents.map(({ id }) => id));
  for (const agent of options.agents) {
    const settings = agentSettings(options.config, agent.id);
    const { dataDir, env } = options;
    const given = { openChannel, openTerminals, skills: skills.forAgents, children };
    const host = createAgentHost({ agent, settings, dataDir, env, ...given, log: options.log });
    agents.set(agent.id, { agent: agent.open?.(host) ?? agent, host });
  }
  onFenced(() => void Promise.allSettled([manager.shutdown(), tasks.service.close()]));
  const recovered = cluster ? 0 : await recoverAll(options, log, manager, tasks);
  cluster?.attach(manager, () => tasks.closeLost());
  const indexer = new SearchKeeper({
    log,
    factsOf: sessionFacts,
    onError: (error) => options.log("error", "the search index cannot be kept; it is tried again", { error: String(error) }),
  });
  index = indexer;
  indexer.keep(cluster ? () => cluster.leads() : null);
  const stop = async (): Promise<void> => {
    await tasks.service.close();
    await manager
      .shutdown()
      .catch((error: unknown) => options.log("error", "the last events could not be written yet", { error: String(error) }));
    await Promise.allSettled([...agents.values()].map(({ agent }) => agent.close?.()));
    await checkpoints?.close();
  };
  const close = async (): Promise<void> => {
    const late = new AbortController();
    const stopped = stop().finally(() => late.abort());
    // An agent that starts just now, or one that does not end, must not keep the daemon.
    await Promise.race([stopped, delay(CLOSE_MS, undefined, { signal: late.signal }).catch(() => {})]);
    await indexer.close();
    await cluster?.leave();
    await log.close();
  };
  return { log, indexer, cluster, manager, tasks: tasks.service, agents, directory, trust, skills, reaped, recovered, close };
}

async function recoverAll(options: CoreOptions, log: Log, manager: SessionManager, tasks: DaemonTasks): Promise<number> {
  await removeImports(options, log);
  const { recovered } = await manager.recover();
  await tasks.closeLost();
  return recovered;
}

/** What search knows of a session. Undefined when its row cannot be read. */
function sessionFacts(state: string): { agent: string; directory: string; title: string | null } | undefined {
  try {
    const { agent, directory, title } = parseRow(state);
    return { agent, directory, title };
  } catch {
    return undefined;
  }
}
