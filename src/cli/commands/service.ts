// `dragoman service`: the daemon as a service of this user, started at login and again when it fails. systemd on Linux, launchd on macOS.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { builtFile } from "../../package-root.ts";
import { type Command, EXIT, flag, type Invocation, text } from "../command.ts";
import { LAUNCHD_LABEL, launchdPlist, type ServiceSpec, systemdUnit, UNIT_NAME } from "../service-unit.ts";

type Manager = {
  name: "systemd" | "launchd";
  file: string;
  text: string;
  start: string[][];
  /** Before the file is taken away; a service that does not run is no fault. */
  stop: string[][];
  /** After the file was taken away. */
  forget: string[][];
  state: string[];
  /** Says whether the manager answers at all. */
  ping: string[];
  absent: string;
};

export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: "service_unavailable" | "service_failed";
  constructor(code: ServiceError["code"], message: string) {
    super(message);
    this.code = code;
  }
}

const serviceOptions: Command["options"] = {
  "dry-run": { type: "boolean", about: "only say what would be done" },
};

export const serviceInstall: Command = {
  name: "service install",
  usage: "service install",
  about: "run the daemon as a service of this user, from now on and at each login",
  help: `  Linux: a systemd user unit. macOS: a launchd agent. The file names this Node and this copy of dragoman.
  Variables of your own, such as DRAGOMAN_TOKEN, go into ~/.config/dragoman/service.env (systemd).
  To keep it running while you are logged out on Linux: loginctl enable-linger`,
  options: {
    ...serviceOptions,
    port: { type: "string", value: "<port>", about: "port of the daemon" },
    host: { type: "string", value: "<address>", about: "address to bind (others than 127.0.0.1 need DRAGOMAN_TOKEN)" },
    config: { type: "string", value: "<file>", about: "configuration file" },
  },
  async run(call) {
    const manager = managerOf(call);
    mustAnswer(call, manager);
    if (manager.text.includes("/_npx/"))
      call.say("Note: this copy lives in npx's cache and may vanish. Install dragoman for good first: npm install -g dragoman");
    step(call, `write ${manager.file}`, () => {
      mkdirSync(dirname(manager.file), { recursive: true });
      writeFileSync(manager.file, manager.text);
    });
    if (flag(call.values, "dry-run") && !flag(call.values, "json")) call.print(manager.text);
    for (const command of manager.start) step(call, command.join(" "), () => must(call, command));
    return finish(call, manager, { installed: true });
  },
};

export const serviceStatus: Command = {
  name: "service status",
  usage: "service status",
  about: "show whether the service is installed and running",
  help: "  Exit code: 0 it runs, 1 it does not.",
  async run(call) {
    const manager = managerOf(call);
    mustAnswer(call, manager);
    const installed = existsSync(manager.file);
    const running = installed && attempt(call, manager.state).status === 0;
    if (flag(call.values, "json")) call.json({ manager: manager.name, file: manager.file, installed, running });
    else call.print(`${manager.name}: ${installed ? (running ? "running" : "installed, not running") : "not installed"}`);
    return running ? EXIT.ok : EXIT.failed;
  },
};

export const serviceUninstall: Command = {
  name: "service uninstall",
  usage: "service uninstall",
  about: "stop and remove the service; sessions and data stay",
  options: serviceOptions,
  async run(call) {
    const manager = managerOf(call);
    mustAnswer(call, manager);
    for (const command of manager.stop) step(call, command.join(" "), () => void attempt(call, command));
    step(call, `remove ${manager.file}`, () => rmSync(manager.file, { force: true }));
    for (const command of manager.forget) step(call, command.join(" "), () => must(call, command));
    return finish(call, manager, { installed: false });
  },
};

function step({ values, say }: Invocation, what: string, act: () => void): void {
  const dry = flag(values, "dry-run");
  if (!flag(values, "json")) say(`${dry ? "would " : ""}${what}`);
  if (!dry) act();
}

function finish({ values, json }: Invocation, { name, file, text: content }: Manager, state: { installed: boolean }): number {
  const dry_run = flag(values, "dry-run");
  if (flag(values, "json")) json({ manager: name, file, dry_run, ...(dry_run ? { text: content } : state) });
  return EXIT.ok;
}

/** A dry run needs no manager: it only shows. */
function mustAnswer(call: Invocation, { ping, absent }: Manager): void {
  if (!flag(call.values, "dry-run") && attempt(call, ping).status !== 0) throw new ServiceError("service_unavailable", absent);
}

const attempt = ({ terminal }: Invocation, [program = "", ...args]: string[]) =>
  process
    .getBuiltinModule("node:child_process")
    .spawnSync(program, args, { env: terminal.env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

function must(call: Invocation, command: string[]): void {
  const { status, stderr, error } = attempt(call, command);
  if (status !== 0)
    throw new ServiceError("service_failed", `\`${command.join(" ")}\` failed: ${(stderr || error?.message || "").trim()}`);
}

function managerOf(call: Invocation): Manager {
  const home = call.terminal.env.HOME ?? homedir();
  const spec = specOf(call, home);
  if (process.platform === "darwin") return launchd(home, spec);
  if (process.platform === "linux") return systemd(call.terminal.env.XDG_CONFIG_HOME ?? join(home, ".config"), spec);
  throw new ServiceError(
    "service_unavailable",
    "There are services for Linux and macOS only. Start `dragoman serve` by your own means.",
  );
}

function specOf({ values, terminal: { env } }: Invocation, home: string): ServiceSpec {
  const passed = ["host", "port", "config"].flatMap((name) => {
    const value = text(values, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  const dataDir = text(values, "data-dir");
  return {
    node: process.execPath,
    cli: fileURLToPath(builtFile("cli/main.js")),
    args: [...passed, ...(dataDir ? ["--data-dir", dataDir] : [])],
    // Agents are looked for on the PATH, and a service manager's is a short one.
    env: { PATH: env.PATH ?? "/usr/local/bin:/usr/bin:/bin" },
    envFile: join(env.XDG_CONFIG_HOME ?? join(home, ".config"), "dragoman", "service.env"),
    logFile: join(home, "Library", "Logs", "dragoman.log"),
  };
}

const systemd = (configHome: string, spec: ServiceSpec): Manager => ({
  name: "systemd",
  file: join(configHome, "systemd", "user", UNIT_NAME),
  text: systemdUnit(spec),
  start: [
    ["systemctl", "--user", "daemon-reload"],
    ["systemctl", "--user", "enable", UNIT_NAME],
    ["systemctl", "--user", "restart", UNIT_NAME],
  ],
  stop: [["systemctl", "--user", "disable", "--now", UNIT_NAME]],
  forget: [["systemctl", "--user", "daemon-reload"]],
  state: ["systemctl", "--user", "is-active", "--quiet", UNIT_NAME],
  ping: ["systemctl", "--user", "show-environment"],
  absent:
    "systemd does not answer for this user: there is none here (a container?), or no session of it. Start `dragoman serve` by your own means, or see the unit with --dry-run.",
});

function launchd(home: string, spec: ServiceSpec): Manager {
  const file = join(home, "Library", "LaunchAgents", `${LAUNCHD_LABEL}.plist`);
  const domain = `gui/${userInfo().uid}`;
  return {
    name: "launchd",
    file,
    text: launchdPlist(spec),
    start: [
      ["launchctl", "bootstrap", domain, file],
      ["launchctl", "kickstart", "-k", `${domain}/${LAUNCHD_LABEL}`],
    ],
    stop: [["launchctl", "bootout", `${domain}/${LAUNCHD_LABEL}`]],
    forget: [],
    state: ["launchctl", "print", `${domain}/${LAUNCHD_LABEL}`],
    ping: ["launchctl", "version"],
    absent: "launchctl does not answer. Start `dragoman serve` by your own means, or see the agent with --dry-run.",
  };
}
