/**
 * Agents that come from npm packages: `agents.<id>.package` names a package, a folder or a file, whose default export is what `defineAgent` made. It runs
 * inside the daemon with all its rights, as every program that the configuration names does.
 */
import { readFileSync, statSync } from "node:fs";
import { register } from "node:module";
import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { AGENT_CONTRACT, type Agent, type AgentPackage } from "../agents/contract.ts";
import { isRecord, rec, str } from "../agents/json.ts";
import { builtFile } from "../package-root.ts";
import { type Config, ConfigError } from "./config.ts";

export async function packagedAgents(config: Config, dataDir: string): Promise<Agent[]> {
  const { acp: _, ...agents } = config.agents ?? {};
  const entries = Object.entries(agents).flatMap(([id, settings]) => {
    const name = str(rec(settings).package);
    return name === undefined ? [] : [{ id, name }];
  });
  if (entries.length > 0) offerKit();
  return Promise.all(entries.map(({ id, name }) => load(id, name, dataDir)));
}

/** Hooks of imports run in a thread of their own, as a module; there is no file of it in a bundle. */
const HOOKS = `let kit; export const initialize = (url) => { kit = url; };
export const resolve = (name, context, next) => name === "dragoman/agent" ? { url: kit, shortCircuit: true } : next(name, context);`;
let offered = false;

/**
 * Whoever imports `dragoman/agent` in this process gets that of this daemon, wherever the package lies and whichever dragoman npm put beside it: an
 * `AgentError` of another copy would be no `AgentError` here.
 */
function offerKit(): void {
  if (offered) return;
  offered = true;
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data: builtFile("agents/kit/index.js").href });
}

async function load(id: string, name: string, dataDir: string): Promise<Agent> {
  const where = `agents.${id}.package`;
  let module: unknown;
  try {
    module = await import(sourceOf(id, name, dataDir));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = `Install it with \`npm install --prefix ${join(dataDir, "agents", id)} ${name}\`, or name its folder.`;
    throw new ConfigError(`${where}: ${JSON.stringify(name)} cannot be loaded: ${reason}. ${advice}`);
  }
  const found = rec(module).default;
  if (!isPackage(found)) throw new ConfigError(`${where}: the default export of ${name} must be what defineAgent() makes.`);
  if (found.contract !== AGENT_CONTRACT)
    throw new ConfigError(
      `${where}: ${name} is made for version ${found.contract} of the agent contract, and this daemon has version ${AGENT_CONTRACT}. Install a version of it that fits.`,
    );
  if (found.agent.id !== id)
    throw new ConfigError(`${where}: ${name} is the agent ${found.agent.id}: configure it as agents.${found.agent.id}.`);
  return found.agent;
}

/** A path, what was installed into the agent's folder, or a package beside the daemon. */
function sourceOf(id: string, name: string, dataDir: string): string {
  const installed = join(dataDir, "agents", id, "node_modules", name);
  const path = isAbsolute(name) ? name : installed;
  const kind = statSync(path, { throwIfNoEntry: false });
  if (kind?.isFile()) return pathToFileURL(path).href;
  if (kind?.isDirectory()) return pathToFileURL(join(path, entryOf(path))).href;
  if (isAbsolute(name)) throw new Error("there is no such file or folder");
  return name;
}

function entryOf(folder: string): string {
  const { exports, main } = rec(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")));
  const root = isRecord(exports) ? (exports["."] ?? exports) : exports;
  return str(root) ?? str(rec(root).import) ?? str(rec(root).default) ?? str(main) ?? "index.js";
}

const isPackage = (value: unknown): value is AgentPackage =>
  isRecord(value) && typeof value.contract === "number" && isRecord(value.agent) && typeof value.agent.connect === "function";
