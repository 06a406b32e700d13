// What the daemon tells about its agents: installed or not, what they can do, which models they offer; and how one is installed.
import { AgentError, type AgentHost, type AgentInspection } from "../agents/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { AgentInfo, VerifyReport } from "../schema/session.ts";
import type { AgentDirectory, InstallProgress } from "../server/agent-directory.ts";
import type { HostedAgent } from "./core.ts";
import { installPackage } from "./install.ts";
import { readVerifyReport } from "./verify-reports.ts";

/** A program that does not answer is shown as installed with unknown version, not waited for. */
const INSPECT_MS = 20_000;
/** Looking at a program starts it; what it said holds for this long. */
const FRESH_MS = 30_000;
const STALE_MS = 3_600_000;

export class Directory implements AgentDirectory {
  readonly #agents: ReadonlyMap<string, HostedAgent>;
  readonly #defaultDirectory: string;
  readonly #dataDir: string;
  readonly #seen = new Map<string, { at: number; inspection: Promise<AgentInspection> }>();

  constructor(agents: ReadonlyMap<string, HostedAgent>, options: { defaultDirectory: string; dataDir: string }) {
    this.#agents = agents;
    this.#defaultDirectory = options.defaultDirectory;
    this.#dataDir = options.dataDir;
  }

  list(): Promise<AgentInfo[]> {
    return Promise.all([...this.#agents.keys()].map((id) => this.inspect(id)));
  }

  async inspect(id: string): Promise<AgentInfo> {
    const { agent } = this.#find(id);
    const [inspection, report] = await Promise.all([this.look(id), readVerifyReport(this.#dataDir, id)]);
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
    return this.#ask(id, async ({ agent, host }) => (await agent.models?.(host, directory ?? this.#defaultDirectory)) ?? []);
  }

  modes(id: string, directory: string | undefined) {
    return this.#ask(id, async ({ agent, host }) => (await agent.modes?.(host, directory ?? this.#defaultDirectory)) ?? []);
  }

  async verifyReport(id: string): Promise<VerifyReport> {
    const { agent } = this.#find(id);
    const report = await readVerifyReport(this.#dataDir, agent.id);
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
    await installPackage(agent.npmPackage, host.stateDir, host.environment({}), (message) => onProgress({ message }));
    this.#seen.delete(id);
    return this.inspect(id);
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
    const inspection = within(agent.inspect(host), INSPECT_MS).catch((error: unknown) => unanswered(host, error));
    this.#seen.set(id, { at: Date.now(), inspection });
    void inspection.then(({ installed }) => {
      if (!installed) this.#seen.delete(id);
    });
    return inspection;
  }

  async #ask<T>(id: string, question: (found: HostedAgent) => Promise<T>): Promise<T> {
    try {
      return await question(this.#find(id));
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

async function within<T>(promise: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It did not answer within ${ms / 1000} s.`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
