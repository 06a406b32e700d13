// `dragoman doctor`: looks at everything that can be wrong on this machine and says what to do about it.
import { accessSync, constants, existsSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Dragoman } from "../../client/dragoman.ts";
import type * as Configuration from "../../daemon/config.ts";
import type { AgentInfo } from "../../schema/session.ts";
import { type Command, EXIT, flag, type Invocation, text, UsageError } from "../command.ts";
import { exactLine } from "../output.ts";
import { type Paint, paintFor } from "../style.ts";
import { tableColumns, wrap } from "../text-layout.ts";

/** `ok` false: something is wrong. `note`: nothing is wrong, but something is left to do. */
type Finding = { check: string; ok: boolean; note?: boolean; detail: string };

const MIN_FREE_BYTES = 200 * 1024 * 1024;

export const doctor: Command = {
  name: "doctor",
  usage: "doctor [responses]",
  about: "check this machine: Node, data directory, configuration, daemon, agents; or the endpoint of our own agent",
  help: `  \`doctor responses\` asks the endpoint what it can do, in a few small requests to the model: streams, tools, reasoning, compaction, WebSocket.
  Example: dragoman doctor responses --endpoint http://127.0.0.1:11434/v1 --model qwen3`,
  options: {
    endpoint: { type: "string", value: "<url>", about: "the endpoint to ask (default: the configured one)" },
    model: { type: "string", short: "m", value: "<model>", about: "the model to ask (default: the first it lists)" },
  },
  completes: [{ word: "responses" }],
  async run(call) {
    const config = await import("../../daemon/config.ts");
    const [what] = call.words;
    if (what !== undefined && what !== "responses")
      throw new UsageError(`there is nothing to check about ${what}: try \`doctor responses\``);
    const findings =
      what === undefined
        ? [
            node(),
            dataDirectory(call, config),
            ...(await log(call, config)),
            configuration(call, config),
            ...(await running(call)),
          ]
        : await endpoint(call, config);
    const paint = paintFor(call.terminal.stdout, call.terminal.env);
    const columns = tableColumns(call.terminal.stdout, call.terminal.env);
    for (const finding of findings) {
      if (flag(call.values, "json")) call.json(finding);
      else
        call.print(
          wrap(`${markOf(finding, paint)} ${exactLine(`${finding.check}: ${finding.detail}`)}`, columns, "  ").join("\n"),
        );
    }
    return findings.every((finding) => finding.ok) ? EXIT.ok : EXIT.failed;
  },
};

const markOf = ({ ok, note }: Finding, paint: Paint): string =>
  !ok ? paint.red("✗") : note ? paint.yellow("!") : paint.green("✓");

/** The endpoint of our own agent, with the keys of this environment and of the daemon's file. */
async function endpoint(
  call: Invocation,
  { agentSettings, defaultConfigFile, defaultDataDir, readConfig }: typeof Configuration,
) {
  const { examineEndpoint } = await import("../../agents/responses/connect/examine.ts");
  const { env } = call.terminal;
  const settings = agentSettings(readConfig(defaultConfigFile(env)), "responses");
  const host = {
    settings,
    stateDir: join(text(call.values, "data-dir") ?? defaultDataDir(env), "agents", "responses"),
    environment: (extra: Record<string, string>) => ({ ...(env as Record<string, string>), ...settings.env, ...extra }),
  };
  const [address, model] = [text(call.values, "endpoint"), text(call.values, "model")];
  const asked = { ...(address ? { endpoint: address } : {}), ...(model ? { model } : {}), signal: call.terminal.signal };
  try {
    return await examineEndpoint(host, asked);
  } catch (error) {
    return [{ check: "Endpoint", ok: false, detail: error instanceof Error ? error.message : String(error) }];
  }
}

function node(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const ok = major > 20 || (major === 20 && minor >= 19);
  return { check: "Node.js", ok, detail: ok ? process.version : `${process.version} is too old: install 20.19 or newer` };
}

function dataDirectory({ values, terminal }: Invocation, { defaultDataDir }: typeof Configuration): Finding {
  const dataDir = text(values, "data-dir") ?? defaultDataDir(terminal.env);
  let place = dataDir;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  try {
    accessSync(place, constants.W_OK);
    const { bavail, bsize } = statfsSync(place);
    const free = bavail * bsize;
    if (free < MIN_FREE_BYTES)
      return {
        check: "Data directory",
        ok: false,
        detail: `${dataDir} has only ${Math.round(free / 1e6)} MB left: free some space`,
      };
    return { check: "Data directory", ok: true, detail: `${dataDir}, ${Math.round(free / 1e9)} GB free` };
  } catch (error) {
    return {
      check: "Data directory",
      ok: false,
      detail: `${dataDir} cannot be written (${error instanceof Error ? error.message : String(error)}): choose another with --data-dir`,
    };
  }
}

/** A log that is refused, and logs that were set aside: both stay until somebody does something about them. */
async function log({ values, terminal }: Invocation, { defaultDataDir }: typeof Configuration): Promise<Finding[]> {
  const { readRefusal, setAsideLogs } = await import("../../log/sqlite/refusal.ts");
  const dataDir = text(values, "data-dir") ?? defaultDataDir(terminal.env);
  const refusal = readRefusal(dataDir);
  const findings: Finding[] = [];
  if (refusal)
    findings.push({
      check: "Log",
      ok: false,
      detail: `damaged, found ${refusal.found_at} (${refusal.reason}): restore dragoman.db from a backup, or start once with \`dragoman serve --accept-empty\``,
    });
  for (const name of setAsideLogs(dataDir))
    findings.push({
      check: "Log",
      ok: false,
      detail: `a damaged log was set aside as ${name}: recover what you need with "sqlite3 ${name} .recover", then move or delete it`,
    });
  return findings;
}

function configuration({ terminal }: Invocation, { defaultConfigFile, readConfig }: typeof Configuration): Finding {
  const file = defaultConfigFile(terminal.env);
  try {
    readConfig(file);
    return { check: "Configuration", ok: true, detail: existsSync(file) ? file : `none (${file} would be read)` };
  } catch (error) {
    return { check: "Configuration", ok: false, detail: error instanceof Error ? error.message : String(error) };
  }
}

/** What a running daemon says of its log; nothing when it is well. */
async function storedData(daemon: Dragoman): Promise<Finding[]> {
  try {
    const { damage } = await daemon.ready();
    if (damage === undefined) return [];
    const where = damage.sessions.length > 0 ? ` (${damage.sessions.join(", ")})` : "";
    return [{ check: "Stored data", ok: false, detail: `${damage.places} damaged places${where}: ${damage.message}` }];
  } catch (error) {
    return [{ check: "Stored data", ok: false, detail: error instanceof Error ? error.message : String(error) }];
  }
}

/** A daemon that is not running is no fault; what a running one says of its agents is shown. */
async function running(call: Invocation): Promise<Finding[]> {
  try {
    const daemon = await call.daemon();
    const { version } = await daemon.health();
    const stored = await storedData(daemon);
    const agents = await daemon.agents();
    const { unreadable } = await daemon.sessions({ limit: 1 });
    return [
      { check: "Daemon", ok: true, detail: `version ${version} at ${daemon.url}` },
      ...unreadable.map(({ session_id, reason }) => ({
        check: `Session ${session_id}`,
        ok: false,
        detail: `cannot be read: ${reason}. Save its events with \`dragoman export ${session_id}\`, then \`dragoman rm ${session_id}\``,
      })),
      ...stored,
      ...agents.filter(({ installed }) => installed).map(agentFinding),
      ...absent(agents.filter(({ installed }) => !installed)),
    ];
  } catch (error) {
    return [{ check: "Daemon", ok: true, detail: `not running (${error instanceof Error ? error.message : String(error)})` }];
  }
}

const agentFinding = ({ name, version, path, signed_in, advice }: AgentInfo): Finding => ({
  check: name,
  ok: true,
  ...(signed_in === false ? { note: true } : {}),
  detail: signed_in === false && advice ? advice : `${version ?? "unknown version"} at ${path ?? "?"}`,
});

/** Nobody needs all of them: one line. */
const absent = (agents: readonly AgentInfo[]): Finding[] =>
  agents.length === 0
    ? []
    : [
        {
          check: "Not installed",
          ok: true,
          detail: `${agents.map(({ agent }) => agent).join(", ")}. Install one with \`dragoman agents install <agent>\``,
        },
      ];
