// `dragoman config`: what is in force, where it comes from, and changing it. The daemon reads the file when it starts.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { escapedJson } from "../../schema/visible-text.ts";
import { type Command, done, EXIT, flag, type Invocation, need, text, UsageError } from "../command.ts";

const load = () => import("../../daemon/config.ts");

/** Values of `env` may be keys: shown are their names. */
const withoutSecrets = (key: string, value: unknown): unknown =>
  key === "env" && typeof value === "object" && value !== null
    ? Object.fromEntries(Object.keys(value).map((name) => [name, "***"]))
    : value;

export const configShow: Command = {
  name: "config show",
  usage: "config show",
  about: "print the configuration in force, as JSON",
  async run({ values, terminal, print }) {
    const { defaultConfigFile, defaultDataDir, defaults, readConfig } = await load();
    const file = defaultConfigFile(terminal.env);
    const config = readConfig(file);
    const shown = {
      file,
      data_dir: text(values, "data-dir") ?? defaultDataDir(terminal.env),
      ...config,
      limits: { ...defaults.limits, ...config.limits },
      times: { ...defaults.times, ...config.times },
      retention: { ...defaults.retention, ...config.retention },
    };
    print(escapedJson(JSON.stringify(shown, withoutSecrets, flag(values, "json") ? 0 : 2)));
    return EXIT.ok;
  },
};

export const configPath: Command = {
  name: "config path",
  usage: "config path",
  about: "print where the configuration file is",
  async run({ values, terminal, json, print }) {
    const file = (await load()).defaultConfigFile(terminal.env);
    if (flag(values, "json")) json({ file, exists: existsSync(file) });
    else print(file);
    return EXIT.ok;
  },
};

export const configCheck: Command = {
  name: "config check",
  usage: "config check [<file>]",
  about: "check the configuration file",
  completes: ["files"],
  async run(call) {
    const { defaultConfigFile, readConfig } = await load();
    const file = call.words[0] ?? defaultConfigFile(call.terminal.env);
    if (call.words[0] !== undefined && !existsSync(file)) throw new UsageError(`there is no file ${file}`);
    readConfig(file);
    if (!flag(call.values, "json")) call.say(`${file} is right.`);
    return done(call, { file, ok: true });
  },
};

export const configSet: Command = {
  name: "config set",
  usage: "config set <key> <value>",
  about: "change the configuration file: config set limits.sessions 50",
  help: `  The key is a path with dots, the value JSON or plain text. Nothing is written that the daemon would not take.
  Example: dragoman config set agents.claude.command /opt/claude/bin/claude`,
  run: (call) =>
    write(call, (config) => put(config, need(call.words, 0, "the key"), jsonOrText(need(call.words, 1, "the value")))),
};

export const configUnset: Command = {
  name: "config unset",
  usage: "config unset <key>",
  about: "remove a key from the configuration file",
  run: (call) => write(call, (config) => put(config, need(call.words, 0, "the key"), undefined)),
};

type Json = { [key: string]: unknown };

async function write(call: Invocation, change: (config: Json) => void): Promise<number> {
  const { defaultConfigFile, readConfig } = await load();
  const file = defaultConfigFile(call.terminal.env);
  const config: Json = existsSync(file) ? { ...readConfig(file) } : {};
  change(config);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}.tmp`;
  // An env block may hold keys.
  writeFileSync(draft, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  try {
    readConfig(draft);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error instanceof Error ? new UsageError(notTaken(error.message, call.words[0] ?? "").replace(draft, file)) : error;
  }
  if (!flag(call.values, "json")) call.say(`Written to ${file}. A running daemon takes it up when it starts again.`);
  return done(call, { file, config: JSON.parse(readFileSync(file, "utf8"), withoutSecrets) });
}

/** Why the daemon would not take it. A setting that does not exist is named as it was written. */
const notTaken = (message: string, key: string): string =>
  message.includes("has unknown fields")
    ? `there is no setting ${key}; \`dragoman config show\` prints those in force`
    : message.replace(/\.$/, "");

function put(config: Json, key: string, value: unknown): void {
  const names = key.split(".");
  const last = names.pop() ?? "";
  if (last === "" || [...names, last].some((name) => name === "" || name === "__proto__"))
    throw new UsageError(`${JSON.stringify(key)} is no key`);
  let place = config;
  for (const name of names) {
    const next = Object.hasOwn(place, name) ? place[name] : undefined;
    if (next !== undefined && (typeof next !== "object" || next === null || Array.isArray(next)))
      throw new UsageError(`${name} holds a value, not further keys`);
    const inside: Json = { ...(next as Json | undefined) };
    place[name] = inside;
    place = inside;
  }
  if (value === undefined) delete place[last];
  else place[last] = value;
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
