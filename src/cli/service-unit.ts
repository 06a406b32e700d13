// The text of a service that keeps the daemon running for its user: a systemd user unit, a launchd agent. Pure; nothing is written here.
import { EXIT } from "./command.ts";

export type ServiceSpec = {
  /** Node and the command line, absolute. */
  node: string;
  cli: string;
  /** Further arguments of `serve`. */
  args: string[];
  env: Record<string, string>;
  /** Variables of the person's own, such as DRAGOMAN_TOKEN; may be missing. */
  envFile: string;
  logFile: string;
};

export const UNIT_NAME = "dragoman.service";
export const LAUNCHD_LABEL = "dev.dragoman.daemon";

export function systemdUnit({ node, cli, args, env, envFile }: ServiceSpec): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${unitQuote(`${name}=${value}`)}`);
  return `${[
    "[Unit]",
    "Description=dragoman, the daemon that drives coding agents",
    "",
    "[Service]",
    `ExecStart=${[node, cli, "serve", "--no-open", ...args].map((word) => unitQuote(word).replaceAll("$", "$$$$")).join(" ")}`,
    ...variables,
    `EnvironmentFile=-${envFile.replaceAll("%", "%%")}`,
    "Restart=on-failure",
    "RestartSec=2",
    // A damaged log stays refused until a person decides.
    `RestartPreventExitStatus=${EXIT.damaged}`,
    // Agents are ended by the daemon, each in its own way; systemd only takes what is left.
    "KillMode=mixed",
    // Lets the daemon put each agent into a control group of its own.
    "Delegate=yes",
    "TimeoutStopSec=30",
    "",
    "[Install]",
    "WantedBy=default.target",
  ].join("\n")}\n`;
}

/** Quotes, backslashes and the specifiers of systemd. */
const unitQuote = (word: string): string =>
  `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("\n", "\\n")}"`;

export function launchdPlist({ node, cli, args, env, logFile }: ServiceSpec): string {
  const words = [node, cli, "serve", "--no-open", ...args].map((word) => `    <string>${xml(word)}</string>`);
  const variables = Object.entries(env).map(([name, value]) => `    <key>${xml(name)}</key><string>${xml(value)}</string>`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LAUNCHD_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join("\n")}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>30</integer>
  <key>StandardErrorPath</key><string>${xml(logFile)}</string>
</dict>
</plist>
`;
}

const xml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
