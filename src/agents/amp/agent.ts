// Amp, driven by its command line in stream JSON. What it can do, how it is found and whether somebody is signed in; driving it is the connection's work.
import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Agent } from "../contract.ts";
import { rec } from "../json.ts";
import { capabilities } from "../kit/capabilities.ts";
import { inspectProgram } from "../kit/inspect.ts";
import { QUIET } from "./connect/ask-amp.ts";
import { connectAmp } from "./connect/connection.ts";
import { ampFiles } from "./connect/directory-files.ts";
import { repositoryRefusal } from "./connect/launch.ts";
import { LOGIN_ADVICE } from "./translate/plain-text.ts";
import { AmpTranslator } from "./translate/translator.ts";

const able = capabilities({
  permissions: false,
  questions: false,
  fork: false,
  system_prompt: false,
  deltas: false,
  // Sub-agents run, but what they do inside is not on the wire.
  subagents: false,
  // Amp chooses its models itself.
  settings: { model: false },
  live: { model: false, variant: false },
});

/** Modes by build: local-loop builds first, then those of the newest. The installed one refuses what it does not know with a clear sentence. */
const MODES = [
  { id: "smart", name: "Smart", description: "the best model; builds up to mid 2026" },
  { id: "rush", name: "Rush", description: "faster and cheaper; builds up to mid 2026, not January 2026" },
  { id: "large", name: "Large", description: "a larger context window; builds up to mid 2026" },
  { id: "deep", name: "Deep", description: "long thinking; builds of spring and mid 2026" },
  { id: "low", name: "Low", description: "newest builds" },
  { id: "medium", name: "Medium", description: "newest builds" },
  { id: "high", name: "High", description: "newest builds" },
  { id: "ultra", name: "Ultra", description: "newest builds" },
];

export const ampAgent: Agent = {
  id: "amp",
  name: "Amp",
  capabilities: able,
  skills: { project: [".agents"], user: [], upwards: false, door: "mcp_server" },
  npmPackage: { name: "@ampcode/cli", version: "0.0.1790712063-gb89205", bin: "amp" },
  createTranslator: () => new AmpTranslator(),
  inspect: (host) => inspectProgram(host, { ...QUIET, signedIn, signInAdvice: { when: "signed_out", advice: LOGIN_ADVICE } }),
  refusal: (config, host) => repositoryRefusal(config, host.settings.trust_repository === true),
  modes: async () => MODES,
  directoryFiles: ampFiles,
  connect: connectAmp,
};

/** Only whether there is a key for this server, never the key. Builds that keep it in the system's keyring cannot be determined. */
async function signedIn(env: Record<string, string>): Promise<boolean | null> {
  if (env.AMP_API_KEY) return true;
  const base = env.XDG_DATA_HOME || (env.HOME ? join(env.HOME, ".local", "share") : undefined);
  if (base === undefined) return null;
  const file = join(base, "amp", "secrets.json");
  try {
    await access(join(base, "amp"));
    const names = Object.keys(rec(JSON.parse(await readFile(file, "utf8"))));
    return names.some((name) => name.startsWith("apiKey")) ? true : null;
  } catch {
    return false;
  }
}
