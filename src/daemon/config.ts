// The configuration file and the environment, parsed once. Agents' commands come from here and never from the API.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { defaultDataDir, ownFolder } from "../discovery/discovery-file.ts";
import { faultsOf } from "../schema/faults.ts";
import { onUse } from "../schema/on-use.ts";
import { ageMs } from "../schema/prune.ts";
import { AGENT_ACCESS } from "../server/agent-rights.ts";
import type { RetentionPolicy } from "../session/pruning.ts";

export { defaultDataDir };

const AgentSettings = Type.Object({
  command: Type.Optional(Type.String({ minLength: 1 })),
  args: Type.Optional(Type.Array(Type.String())),
  env: Type.Optional(Type.Record(Type.String(), Type.String())),
});

/** A timer that is set for longer is over at once. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;
/** A page's token ends after this time, whatever it does. */
const LONGEST_PAGE_MS = 30 * 24 * 60 * 60_000;

/** At least a day or an hour: a slip must not remove what was just made. */
const Retained = Type.String({ pattern: "^[1-9][0-9]{0,4}[hdw]$" });

export const Config = Type.Object(
  {
    /** `agents.<id>`: how to start one; `agents.acp.<name>`: a further agent that speaks ACP. */
    agents: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    limits: Type.Optional(
      Type.Object(
        {
          sessions: Type.Optional(Type.Integer({ minimum: 1 })),
          subscribers: Type.Optional(Type.Integer({ minimum: 1 })),
          queued: Type.Optional(Type.Integer({ minimum: 1 })),
          body_bytes: Type.Optional(Type.Integer({ minimum: 1024 })),
          artifact_bytes: Type.Optional(
            Type.Integer({
              minimum: 1024,
              description: "All artifacts together: above it, messages with attachments are refused.",
            }),
          ),
          requests_per_second: Type.Optional(Type.Integer({ minimum: 1 })),
          concurrent_requests: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        { additionalProperties: false },
      ),
    ),
    times: Type.Optional(
      Type.Object(
        {
          idle_ms: Type.Optional(Type.Integer({ minimum: 1000 })),
          stall_ms: Type.Optional(Type.Integer({ minimum: 1000 })),
          interrupt_ms: Type.Optional(Type.Integer({ minimum: 100, maximum: LONGEST_WAIT_MS })),
          page_token_ms: Type.Optional(Type.Integer({ minimum: 2000, maximum: LONGEST_PAGE_MS })),
        },
        { additionalProperties: false },
      ),
    ),
    agent_access: Type.Optional(
      Type.Enum([...AGENT_ACCESS], {
        description:
          "What agents may do with the daemon that drives them. read: read their own session. delegate: also create sessions and drive those, with no more rights than their own.",
      }),
    ),
    allow_hosts: Type.Optional(Type.Array(Type.String())),
    allow_origins: Type.Optional(Type.Array(Type.String())),
    daemons: Type.Optional(
      Type.Array(Type.String({ pattern: "^https?://[A-Za-z0-9.:\\[\\]-]+/?$" }), {
        description:
          "Addresses of other daemons that the inspector may show beside this one. Each must list this one's origin in allow_origins.",
      }),
    ),
    redaction: Type.Optional(
      Type.Enum(["known", "off"], {
        description: "known: tokens below operate, and exports, get no secrets (default). off: they get everything.",
      }),
    ),
    redact_patterns: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
        description: "Regular expressions for secrets of your own, beside the known shapes.",
      }),
    ),
    retention: Type.Optional(
      Type.Object(
        {
          ended: Type.Optional(Retained),
          dormant: Type.Optional(Retained),
          keep: Type.Optional(Type.Integer({ minimum: 0 })),
        },
        {
          additionalProperties: false,
          description:
            "Sessions that are removed by themselves: ended ones, and dormant ones, whose last event is older. The newest `keep` (100) stay, and those that are pinned or tagged.",
        },
      ),
    ),
    share_skills: Type.Optional(
      Type.Boolean({
        description:
          "false: agents are given no skills beside those they find themselves. `/name` in a message works all the same. Default true.",
      }),
    ),
    checkpoints: Type.Optional(
      Type.Object(
        {
          enabled: Type.Optional(Type.Boolean({ description: "false: none are taken. Default true." })),
          quota_bytes: Type.Optional(
            Type.Integer({ minimum: 1024 * 1024, description: "Of all directories together. Default 2 GiB." }),
          ),
          max_age: Type.Optional(Retained),
          wait_ms: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: LONGEST_WAIT_MS,
              description: "How long a prompt waits for its checkpoint. Default 10000.",
            }),
          ),
        },
        {
          additionalProperties: false,
          description:
            "What is stored of directories, so that the changes of agents can be shown and taken back. `max_age`: 30d.",
        },
      ),
    ),
    /** Directories whose settings agents may load, with all below them; `~` is the home directory. */
    trusted_directories: Type.Optional(Type.Array(Type.String({ pattern: "^(/|~$|~/)" }))),
  },
  { title: "Config", additionalProperties: false },
);
export type Config = Type.Static<typeof Config>;

export const defaults = {
  limits: {
    sessions: 200,
    subscribers: 5_000,
    queued: 100,
    body_bytes: 32 * 1024 * 1024,
    artifact_bytes: 20 * 1024 ** 3,
    requests_per_second: 2_000,
    concurrent_requests: 1_000,
  },
  retention: { keep: 100 },
  checkpoints: { quota_bytes: 2 * 1024 ** 3, max_age: "30d", wait_ms: 10_000 },
  times: { idle_ms: 30 * 60_000, stall_ms: 5 * 60_000, interrupt_ms: 15_000, page_token_ms: 60 * 60_000 },
};

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "invalid_config";
}

export const defaultConfigFile = (env: NodeJS.ProcessEnv = process.env): string =>
  env.DRAGOMAN_CONFIG || join(ownFolder(env.XDG_CONFIG_HOME, ".config"), "dragoman", "config.json");

const validator = onUse(() => Compile(Config));

/** A missing file is an empty configuration; a broken one is an error that names the place. */
export function readConfig(file: string): Config {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new ConfigError(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(
      `${file} is not JSON: ${error instanceof Error ? error.message : String(error)}. Correct it or move it away.`,
    );
  }
  if (validator().Check(value)) return withAddresses(withPatterns(value, file), file);
  const [fault] = faultsOf(validator().Errors(value));
  throw new ConfigError(`${file}: ${fault?.path || "/"} ${fault?.message ?? "is invalid"}.`);
}

/** A pattern that is no regular expression would only be found when the daemon is running. */
function withPatterns(config: Config, file: string): Config {
  for (const pattern of config.redact_patterns ?? [])
    try {
      new RegExp(pattern);
    } catch (error) {
      throw new ConfigError(`${file}: /redact_patterns: ${error instanceof Error ? error.message : String(error)}.`);
    }
  return config;
}

/** A port that no machine has passes every simple check. */
function withAddresses(config: Config, file: string): Config {
  for (const address of config.daemons ?? [])
    if (!URL.canParse(address)) throw new ConfigError(`${file}: /daemons: ${JSON.stringify(address)} is no address.`);
  return config;
}

/** What the file says about old sessions, in milliseconds. */
export function retentionOf({ retention = {} }: Config): RetentionPolicy {
  const { ended, dormant, keep = defaults.retention.keep } = retention;
  return {
    keep,
    ...(ended === undefined ? {} : { ended_ms: ageMs(ended) }),
    ...(dormant === undefined ? {} : { dormant_ms: ageMs(dormant) }),
  };
}

const settingsValidator = onUse(() => Compile(AgentSettings));

export type AgentSettings = { command?: string; args?: string[]; env?: Record<string, string> } & Record<string, unknown>;

/** What the file says about one agent; `acp` entries are agents of their own. */
export function agentSettings(config: Config, id: string): AgentSettings {
  const own = config.agents?.[id];
  const acp = config.agents?.acp;
  const entry = own ?? (typeof acp === "object" && acp !== null ? (acp as Record<string, unknown>)[id] : undefined);
  if (entry === undefined) return {};
  if (!settingsValidator().Check(entry))
    throw new ConfigError(`agents.${id} needs the form {"command": "…", "args": ["…"], "env": {"NAME": "value"}}.`);
  return entry as AgentSettings;
}

/** The ACP agents the file adds, by name. */
export function acpEntries(config: Config): Record<string, unknown> {
  const acp = config.agents?.acp;
  return typeof acp === "object" && acp !== null ? { ...acp } : {};
}
