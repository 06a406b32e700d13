// What the daemon says about its agents: installed or not, what they can do, which models they offer; and how one is installed.
import { mkdirSync } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, type AgentHost, type AgentInspection, type ProbePlace } from "../agents/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { AgentInfo, VerifyReport } from "../schema/session.ts";
import type { AgentDirectory, InstallProgress } from "../server/agent-directory.ts";
import type { HostedAgent } from "./agent-host.ts";
import { installPackage } from "./install.ts";
import { Probes, within } from "./probes.ts";
import { readVerifyReport } from "./verify-reports.ts";

/** A program that does not answer is shown as installed with unknown version, not waited for. */
const INSPECT_MS = 20_000;
/** Looking at a program starts it; what it said holds for this long. */
const FRESH_MS = 30_000;
const STALE_MS = 3_600_000;
/** Versions: short, and kept here rather than there. */
const INSPECTIONS = { running: 4, waiting: 200, timeout_ms: 60_000, fresh_ms: 0 };
/** Models and modes: each question starts a whole agent. */
const PROBES = { running: 2, waiting: 16, timeout_ms: 60_000, fresh_ms: 5 * 60_000 };

export type DirectoryOptions = {
  defaultDirectory: string;
  dataDir: string;
  trust: { isTrusted(directory: string): boolean };
};

export class Directory implements AgentDirectory {
  readonly #agents: ReadonlyMap<string, HostedAgent>;
  readonly #options: DirectoryOptions;
  readonly #seen = new Map<string, { at: number; inspection: Promise<AgentInspection> }>();
  readonly #inspections = new Probes(INSPECTIONS);
  readonly #probes = new Probes(PROBES);

  constructor(agents: ReadonlyMap<string, HostedAgent>, options: DirectoryOptions) {
    this.#agents = agents;
    this.#options = options;
  }

  list(start: boolean): Promise<AgentInfo[]> {
    return Promise.all([...this.#agents.keys()].map((id) => this.inspect(id, start)));
  }

  async inspect(id: string, start: boolean): Promise<AgentInfo> {
    const { agent } = this.#find(id);
    const known = start || agent.inspectStarts === false ? this.look(id) : this.#known(id);
    const [inspection, report] = await Promise.all([known, readVerifyReport(this.#options.dataDir, id)]);
    return {
      agent: agent.id,
      name: agent.name,
      ...inspection,
      installable: agent.npmPackage !== null,
      verified_at: report?.verified_at ?? null,
      capabilities: { ...agent.capabilities },
    };
  }

  models(id: string, directory: string | undefined) {
    return this.#probe(id, "models", directory, async ({ agent, host }, place) => (await agent.models?.(host, place)) ?? []);
  }

  modes(id: string, directory: string | undefined) {
    return this.#probe(id, "modes", directory, async ({ agent, host }, place) => (await agent.modes?.(host, place)) ?? []);
  }

  async verifyReport(id: string): Promise<VerifyReport> {
    const { agent } = this.#find(id);
    const report = await readVerifyReport(this.#options.dataDir, agent.id);
    if (report) return report;
    throw new ProblemError(
      "never_verified",
      `${agent.name} was never verified here. Run \`dragoman verify ${agent.id}\` on the daemon's machine.`,
    );
  }

  async install(id: string, onProgress: (progress: InstallProgress) => void): Promise<AgentInfo> {
    const { agent, host } = this.#find(id);
    if (!agent.npmPackage)
      throw new ProblemError(
        "unsupported",
        `${agent.name} cannot be installed from the npm registry. Install it yourself and put it on the PATH.`,
      );
    // A package's scripts get what an agent gets: nothing of the daemon's own, and the mark of an agent.
    await installPackage(agent.npmPackage, host.stateDir, host.environment({}), (message) => onProgress({ message }));
    this.#seen.delete(id);
    this.#probes.forget(`${id} `);
    return this.inspect(id, true);
  }

  #find(id: string): HostedAgent {
    const found = this.#agents.get(id);
    if (!found)
      throw new ProblemError(
        "agent_unknown",
        `There is no agent ${JSON.stringify(id)}. Known are: ${[...this.#agents.keys()].join(", ")}.`,
      );
    return found;
  }

  /** What is known of the program. Asked again when that is old; `stale` takes an old answer too, for those who cannot wait for a slow program. */
  look(id: string, stale = false): Promise<AgentInspection> {
    const seen = this.#seen.get(id);
    const age = seen ? Date.now() - seen.at : Number.POSITIVE_INFINITY;
    if (seen && (age < FRESH_MS || (stale && age < STALE_MS))) return seen.inspection;
    const { agent, host } = this.#find(id);
    const inspection = this.#inspections
      .ask(id, () => within(agent.inspect(host), INSPECT_MS))
      .catch((error: unknown) => unanswered(host, error));
    this.#seen.set(id, { at: Date.now(), inspection });
    void inspection.then(({ installed }) => {
      if (!installed) this.#seen.delete(id);
    });
    return inspection;
  }

  /** Without starting anything: the last answer, or whether the program is there. */
  #known(id: string): Promise<AgentInspection> {
    return (
      this.#seen.get(id)?.inspection ??
      unanswered(this.#find(id).host, "Its version is not known yet: it is asked for with an operate token.")
    );
  }

  /** In a trusted directory with its settings; for any other one in a directory of the daemon's, so that nothing of it is loaded. */
  async #place(directory: string): Promise<ProbePlace> {
    const real = await realpath(directory).catch(() => null);
    if (real === null || !(await stat(real)).isDirectory())
      throw new ProblemError("directory_not_found", `${directory} is not a directory on the daemon's machine.`);
    if (this.#options.trust.isTrusted(real)) return { directory: real, trusted: true };
    const neutral = join(this.#options.dataDir, "neutral");
    mkdirSync(neutral, { recursive: true, mode: 0o700 });
    return { directory: neutral, trusted: false };
  }

  async #probe<T>(
    id: string,
    what: string,
    directory: string | undefined,
    question: (found: HostedAgent, place: ProbePlace) => Promise<T>,
  ): Promise<T> {
    try {
      const found = this.#find(id);
      const place = await this.#place(directory ?? this.#options.defaultDirectory);
      return await this.#probes.ask(`${id} ${what} ${place.directory}`, () => question(found, place));
    } catch (error) {
      if (error instanceof AgentError) throw new ProblemError(error.code, error.message, { cause: error });
      throw error;
    }
  }
}

/** A program that is there and does not answer in time is slow, not missing. */
async function unanswered(host: AgentHost, error: unknown): Promise<AgentInspection> {
  const advice = error instanceof Error ? error.message : String(error);
  try {
    const { command } = await host.resolveCommand();
    return { installed: true, path: command, version: null, signed_in: null, advice };
  } catch (missing) {
    return {
      installed: false,
      path: null,
      version: null,
      signed_in: null,
      advice: missing instanceof Error ? missing.message : advice,
    };
  }
}
