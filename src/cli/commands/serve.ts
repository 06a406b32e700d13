// `dragoman serve`: runs the daemon until it is asked to stop.
import { existsSync } from "node:fs";
import type { Config } from "../../daemon/config.ts";
import { DEFAULT_PORT, defaultDataDir } from "../../discovery/discovery-file.ts";
import { escapedJson } from "../../schema/visible-text.ts";
import { clusterFrom, clusterOptions } from "../cluster-options.ts";
import { type Command, EXIT, flag, type Invocation, list, type OptionSpec, text, UsageError, type Values } from "../command.ts";
import { storeCompiledCode, takeCompiledCode } from "../compiled-code.ts";
import { givenToken, typedToken } from "../given-token.ts";
import { openBrowser } from "../open-browser.ts";
import { paintFor } from "../style.ts";

/** The same for the daemon in the background. */
export const listenOptions: Record<string, OptionSpec> = {
  host: { type: "string", value: "<address>", about: "address to bind (default 127.0.0.1; others need a token of your own)" },
  port: { type: "string", value: "<port>", about: `port (default ${DEFAULT_PORT}; 0 takes a free one)` },
  config: { type: "string", value: "<file>", about: "configuration file" },
  log: {
    type: "string",
    value: "<url>",
    about: "keep the log in a Postgres: postgres://… (or DRAGOMAN_LOG; default: the data directory)",
  },
};

export const serve: Command = {
  name: "serve",
  usage: "serve [options]",
  about: "run the daemon, with its inspector in the browser",
  help: `  Listens on 127.0.0.1 and on a socket in the data directory, and prints a link to the inspector that is good for one visit
  within a minute; later, use \`dragoman open\`. With --json, prints one line {"url","token","pid","data_dir"} when it is ready,
  and nothing else on stdout.
  With --no-token-file the root token is not on the disk: give it with --token-file (a pipe will do), or type it when asked.
  Ctrl-C stops it; agents are ended, sessions stay and are resumed by their next message.`,
  options: {
    ...listenOptions,
    "no-token-file": { type: "boolean", about: "keep no root token on the disk; it must be given or typed" },
    "accept-empty": { type: "boolean", about: "if the log is damaged, keep it aside and begin with an empty one" },
    "allow-origin": {
      type: "string",
      multiple: true,
      value: "<origin>",
      about: "let the pages of this origin call the daemon, with a token of their own; may be repeated",
    },
    daemon: {
      type: "string",
      multiple: true,
      value: "<url>",
      about: "let the inspector show this daemon too; it must allow this one's origin; may be repeated",
    },
    "no-open": { type: "boolean", about: "do not open the browser" },
    "log-level": { type: "string", value: "<level>", default: "warn", about: "trace, debug, info, warn, error or silent" },
    ...clusterOptions,
  },
  run: (call) => serveAs("node", call),
};

export const gateway: Command = {
  name: "gateway",
  usage: "gateway --cluster <url> [options]",
  about: "run a gateway of a fleet: it answers for all sessions and runs no agents",
  help: `  Any number of them, behind any load balancer: they keep nothing. Their options are those of serve.`,
  options: { ...serve.options },
  run: (call) => serveAs("gateway", call),
};

async function serveAs(kind: "node" | "gateway", { values, terminal, print, json, say }: Invocation): Promise<number> {
  const env = terminal.env;
  const port = Number(text(values, "port") ?? env.DRAGOMAN_PORT ?? DEFAULT_PORT);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--port needs a number from 0 to 65535, not ${text(values, "port")}`);
  const level = text(values, "log-level") ?? "warn";
  if (!["trace", "debug", "info", "warn", "error", "silent"].includes(level))
    throw new UsageError(`--log-level does not know ${level}`);
  const { descriptorAdvice } = await import("../../server/descriptors.ts");
  const tooFew = descriptorAdvice();
  if (tooFew !== null) throw Object.assign(new Error(tooFew), { name: "DaemonError", code: "too_few_descriptors" });
  const dataDir = text(values, "data-dir");
  const configFile = text(values, "config");
  // Without it the daemon would run with fewer limits than somebody wanted.
  if (configFile !== undefined && !existsSync(configFile)) throw new UsageError(`there is no configuration file ${configFile}`);
  const logUrl = text(values, "log") ?? env.DRAGOMAN_LOG;
  if (logUrl && !/^postgres(ql)?:/.test(logUrl)) throw new UsageError("--log needs an address that begins with postgres://");
  const tokenFile = !flag(values, "no-token-file");
  const cluster = clusterFrom(values, terminal, kind);
  const token = givenToken(values, terminal) ?? (tokenFile ? undefined : await typedToken(terminal));
  takeCompiledCode(dataDir ?? defaultDataDir(env));
  // Loaded here: no other command needs the daemon's code, and each should start at once.
  const [{ pino }, { startDaemon }, { defaultConfigFile, readConfig }, { watchProcessFaults }, { giveMemoryBack }] =
    await Promise.all([
      import("pino"),
      import("../../daemon/daemon.ts"),
      import("../../daemon/config.ts"),
      import("../../daemon/process-faults.ts"),
      import("../../daemon/idle-memory.ts"),
    ]);
  // Log lines hold what agents said; a terminal must not obey it.
  const errors = pino.destination({ dest: 2, sync: true });
  const logger = pino({ level }, { write: (line) => errors.write(escapedJson(line)) });
  const fault = new AbortController();
  watchProcessFaults({ log: (at, message, fields) => logger[at](fields, message), stop: (error) => fault.abort(error) });
  const daemon = await startDaemon({
    host: text(values, "host") ?? env.DRAGOMAN_HOST ?? "127.0.0.1",
    port,
    config: withOrigins(readConfig(configFile ?? defaultConfigFile(env)), values),
    logger,
    acceptEmpty: flag(values, "accept-empty"),
    ...(cluster ? { cluster } : {}),
    ...(dataDir ? { dataDir } : {}),
    ...(logUrl ? { logUrl } : {}),
    tokenFile,
    ...(token ? { token } : {}),
  });
  if (flag(values, "json")) json({ url: daemon.url, token: daemon.token, pid: process.pid, data_dir: daemon.dataDir });
  else {
    const paint = paintFor(terminal.stdout, env);
    print(`${paint.bold("dragoman")} is running at ${paint.cyan(daemon.url)}`);
    const link = daemon.makeLink();
    print(`  Inspector  ${paint.cyan(link.url)}`);
    print(paint.dim("             for one visit within a minute; later: dragoman open"));
    print(`  Docs       ${daemon.url}/docs`);
    print(`  Data       ${daemon.dataDir}`);
    if (cluster) print(`  Fleet      ${cluster.nodeId}, with the log in ${placeOf(cluster.url)}; its nodes: dragoman nodes ls`);
    print(paint.dim(`  Try it in another terminal: dragoman run mock "help". Ctrl-C stops the daemon.`));
    if (!flag(values, "no-open") && terminal.stdout.isTTY) openBrowser(link.file);
  }
  storeCompiledCode();
  giveMemoryBack();
  const end = AbortSignal.any([terminal.signal, fault.signal]);
  await new Promise<void>((resolve) => {
    if (end.aborted) resolve();
    end.addEventListener("abort", () => resolve());
  });
  if (fault.signal.aborted) say("Stopping after an error of the daemon, which is in its log. Sessions are kept: start it again.");
  else if (!flag(values, "json")) say("Stopping: agents are ended, sessions are kept.");
  await daemon.close();
  return fault.signal.aborted ? EXIT.failed : EXIT.ok;
}

/** The database, without its password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

/** What the configuration lists, and what this call adds. */
function withOrigins(config: Config, values: Values): Config {
  const [origins, daemons] = [list(values, "allow-origin"), list(values, "daemon")];
  for (const each of [...origins, ...daemons])
    if (!/^https?:\/\/[A-Za-z0-9.:[\]-]+\/?$/.test(each)) throw new UsageError(`${each} is no origin: write http://name:port`);
  return {
    ...config,
    allow_origins: [...(config.allow_origins ?? []), ...origins],
    daemons: [...(config.daemons ?? []), ...daemons],
  };
}
