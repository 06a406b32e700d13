// The daemon: core and server together, with its discovery file. `dragoman serve`, embedding and tests all start it here.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { agentsWith } from "../agents/registry.ts";
import { framesWithLedger } from "../dialects/frames/index.ts";
import { messagesDialect } from "../dialects/messages.ts";
import { DEFAULT_PORT } from "../discovery/discovery-file.ts";
import { atStart } from "../log/log-error.ts";
import { setAsideLogs } from "../log/sqlite/refusal.ts";
import { builtFile } from "../package-root.ts";
import { namedSecrets } from "../redaction/secret-values.ts";
import type { AgentAccess } from "../server/agent-rights.ts";
import { linkOf } from "../server/link-pages.ts";
import { type Logger, silentLogger } from "../server/logger.ts";
import type { RedactionOptions } from "../server/redactions.ts";
import { skillRoutes } from "../server/routes/skills.ts";
import { transferRoutes } from "../server/routes/transfer.ts";
import { trustRoutes } from "../server/routes/trust.ts";
import { createServer } from "../server/server.ts";
import { TokenStore } from "../server/token-store.ts";
import type { SessionManager } from "../session/session-manager.ts";
import { instanceId, knowsUnixPeers } from "../transports/index.ts";
import { packagedAgents } from "./agent-packages.ts";
import type { ClusterOptions } from "./cluster.ts";
import { acpEntries, agentSettings, type Config, defaultDataDir, defaults, retentionOf } from "./config.ts";
import { openCore } from "./core.ts";
import { removeDiscovery, socketPath, writeDiscovery } from "./discovery.ts";
import { version } from "./version.ts";

export type DaemonOptions = {
  host?: string;
  /** 0 takes a free one. */
  port?: number;
  dataDir?: string;
  /** Instead of the token that is made at first start. */
  token?: string;
  /** False: no root token lies on the disk, neither in its files nor in the discovery file. Needs `token`. Default true. */
  tokenFile?: boolean;
  config?: Config;
  /** Where sessions work that name no directory. */
  directory?: string;
  env?: NodeJS.ProcessEnv;
  /** `postgres://…`: the log is there instead of in the data directory, which keeps everything else. */
  logUrl?: string;
  /** Begin with an empty log when the one that is there is damaged; it is kept aside. */
  acceptEmpty?: boolean;
  /** Absent: one daemon with its own log. */
  cluster?: ClusterOptions;
  logger?: Logger;
};

export type Daemon = {
  url: string;
  port: number;
  token: string;
  /** Null without token files. */
  observeToken: string | null;
  /** Where else it listens; null when the data directory's path is too long for a socket. */
  socket: string | null;
  dataDir: string;
  /** A link to the inspector for one visit of a browser within a minute, and a file that leads a browser there. */
  makeLink(): { url: string; file: string | null };
  /** Idempotent. Every agent is stopped; every session stays resumable. */
  close(): Promise<void>;
};

const TOKEN_WATCH_MS = 1_000;
const LOOPBACK = new Set(["127.0.0.1", "localhost", "::1"]);

export class DaemonError extends Error {
  readonly code: "token_required" | "port_taken" | "address_unavailable";
  constructor(code: DaemonError["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DaemonError";
    this.code = code;
  }
}

export async function startDaemon(options: DaemonOptions = {}): Promise<Daemon> {
  const host = options.host ?? "127.0.0.1";
  if (!LOOPBACK.has(host) && options.token === undefined)
    throw new DaemonError(
      "token_required",
      `Binding ${host} opens the daemon to the network. Choose a token of your own with --token-file or DRAGOMAN_TOKEN, or bind 127.0.0.1.`,
    );
  const files = options.tokenFile !== false;
  if (!files && options.token === undefined)
    throw new DaemonError(
      "token_required",
      "Without token files the token must be given at the start: with --token-file or DRAGOMAN_TOKEN.",
    );
  const dataDir = options.dataDir ?? defaultDataDir();
  const config = options.config ?? {};
  const logger = options.logger ?? silentLogger;
  const directory = options.directory ?? process.cwd();
  // Known once the server listens; an agent that is resumed before that goes without.
  let reach: { url: string; tokens: TokenStore } | null = null;
  const access = config.agent_access ?? "read";
  const core = await openCore({
    dataDir,
    config,
    agents: [...agentsWith(acpEntries(config)), ...(await packagedAgents(config, dataDir))],
    env: options.env ?? process.env,
    defaultDirectory: directory,
    ...(options.logUrl === undefined ? {} : { logUrl: options.logUrl }),
    acceptEmpty: options.acceptEmpty ?? false,
    cluster: options.cluster,
    log: (level, message, fields) => logger[level](fields ?? {}, message),
    agentAccess: (id) => (reach ? agentVariables(reach, core.manager, id, access) : {}),
    onLogError: (error) =>
      error ? logger.error({ code: error.code }, error.message) : logger.info({}, "the log can write again"),
  });
  if (core.reaped.length > 0 || core.recovered > 0)
    logger.info({ reaped: core.reaped, recovered: core.recovered }, "taken up after the last stop");
  try {
    const tokens = TokenStore.open({
      dataDir,
      files,
      pageLifetimeMs: config.times?.page_token_ms ?? defaults.times.page_token_ms,
      ...(options.token === undefined ? {} : { token: options.token }),
      shared: core.cluster?.tokens,
    });
    const server = await createServer({
      log: core.log,
      indexer: core.indexer,
      dataDir,
      retention: retentionOf(config),
      setAsideLogs: () => setAsideLogs(dataDir).length,
      manager: core.manager,
      ...(core.cluster ? { fleet: core.cluster.fleet } : {}),
      tasks: core.tasks,
      agents: core.directory,
      tokens,
      limits: { ...defaults.limits, ...config.limits },
      defaultDirectory: directory,
      agentInstance: instanceId(join(dataDir, "processes")),
      agentAccess: access,
      allowHosts: config.allow_hosts ?? [],
      allowOrigins: config.allow_origins ?? [],
      daemons: (config.daemons ?? []).map((url) => new URL(url).origin),
      redaction: redactionOf(config, options.env ?? process.env),
      version,
      logger,
      routes: [transferRoutes, trustRoutes(core.trust), skillRoutes(core.skills)],
      dialects: new Map([
        ["messages", messagesDialect],
        ["frames", framesWithLedger((agent) => core.agents.get(agent)?.agent.createLedgerReader?.())],
      ]),
      ...built("inspectorDir", "inspector/"),
      ...built("docsDir", "docs/"),
    });
    // On Linux, only where its callers can be recognised as they are over TCP.
    const socket = process.platform === "linux" && !knowsUnixPeers() ? undefined : socketPath(dataDir);
    const wanted = { host, port: options.port ?? DEFAULT_PORT, ...(socket === undefined ? {} : { socket }) };
    const { url, port } = await server.listen(wanted).catch((error: unknown) => {
      throw listenFault(error, host, wanted.port);
    });
    reach = { url, tokens };
    await core.cluster?.start(url);
    const describe = (): void =>
      writeDiscovery(dataDir, {
        url,
        ...(files ? { token: tokens.secret("admin") } : {}),
        ...(socket === undefined ? {} : { socket }),
      });
    describe();
    const unwatch = watchTokens(tokens, describe);
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      unwatch();
      removeDiscovery(dataDir);
      await server.close();
      tokens.close();
      await core.close();
    };
    return {
      url,
      port,
      token: tokens.secret("admin"),
      observeToken: files ? tokens.secret("observe") : null,
      socket: socket ?? null,
      dataDir,
      makeLink: () => {
        const { token, file } = server.makeLink();
        return { url: linkOf(url, token), file };
      },
      close: () => {
        closing ??= close();
        return closing;
      },
    };
  } catch (error) {
    await core.close().catch(() => undefined);
    throw atStart(error, dataDir);
  }
}

/** A root token that was rotated by its file stands in the discovery file within a second. */
function watchTokens(tokens: TokenStore, onChange: () => void): () => void {
  tokens.onRootChange = () => {
    try {
      onChange();
    } catch {
      // The token file is gone: there is nothing to write, and nobody gets in until it is back.
    }
  };
  const timer = setInterval(() => tokens.refresh(), TOKEN_WATCH_MS).unref();
  return () => clearInterval(timer);
}

/**
 * How the agent of a session reaches the daemon: with a token for that session alone, which ends with the daemon. A process gets a new one at each start;
 * the one before is ended.
 */
function agentVariables(
  { url, tokens }: { url: string; tokens: TokenStore },
  manager: SessionManager,
  sessionId: string,
  access: AgentAccess,
): Record<string, string> {
  for (const { kind, session_id, id } of tokens.list()) if (kind === "agent" && session_id === sessionId) tokens.revoke(id);
  const directory = manager.held(sessionId)?.directory;
  const delegates = access === "delegate" && directory !== undefined;
  const scope = { sessions: [sessionId], ...(delegates ? { directories: [directory] } : {}) };
  const { secret } = tokens.issueForAgent(sessionId, { role: delegates ? "operate" : "observe", scope });
  return { DRAGOMAN_URL: url, DRAGOMAN_TOKEN: secret };
}
/** Beside the known shapes: what this daemon and its configured agents have in their environment under the name of a key or token. */
const redactionOf = (config: Config, env: NodeJS.ProcessEnv): RedactionOptions => {
  const { acp: _, ...agents } = config.agents ?? {};
  const configured = [...Object.keys(agents), ...Object.keys(acpEntries(config))].map(
    (id) => agentSettings(config, id).env ?? {},
  );
  return {
    mode: config.redaction ?? "known",
    patterns: config.redact_patterns ?? [],
    values: [env, ...configured].flatMap(namedSecrets),
  };
};

/** A folder that the build makes; left out while it does not exist. */
function built<K extends string>(name: K, path: string): Partial<Record<K, string>> {
  const folder = fileURLToPath(builtFile(path));
  return existsSync(folder) ? ({ [name]: folder } as Partial<Record<K, string>>) : {};
}

function listenFault(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return new DaemonError("port_taken", `Port ${port} on ${host} is taken. Choose another with --port, or 0 for any free one.`, {
      cause: error,
    });
  if (code === "EADDRNOTAVAIL" || code === "EACCES" || code === "ENOTFOUND")
    return new DaemonError(
      "address_unavailable",
      `Cannot listen on ${host}:${port} (${String(code)}). Choose another address with --host and --port.`,
      { cause: error },
    );
  return error;
}
