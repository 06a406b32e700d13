/**
 * The commands of a session as processes: in the person's environment without the daemon's keys. All of them carry one mark, and one record of it is kept while the
 * session is open: what a command left running is found by it, at the session's end and after a crash of the daemon.
 */
import type { Ids } from "../../../runtime/ports.ts";
import { ShellTasks, shellEnvironment, type TrackedProcess, type WrapCommand } from "../../../runtime/shell-tasks.ts";
import {
  endFamily,
  formatMark,
  type KnownProcess,
  PROCESS_MARK_VARIABLE,
  ProcessFamily,
  ProcessRegistry,
  readStartTime,
} from "../../../transports/index.ts";
import type { AgentHost } from "../../contract.ts";
import { OWN_PREFIX } from "../../own-environment.ts";

const GRACE_MS = 500;

export class CommandProcesses {
  readonly #registry: ProcessRegistry;
  readonly #mark;
  readonly #environment: NodeJS.ProcessEnv;
  /** The first command stands for all of them. */
  #first: (KnownProcess & { cgroup: string | null }) | null = null;

  constructor(host: AgentHost, env: Record<string, string>) {
    this.#registry = new ProcessRegistry(host.processDir);
    this.#mark = this.#registry.newMark();
    // The daemon recognises its agents by these; everything else of its own is withheld.
    const own = Object.entries(host.environment(env)).filter(([name]) => name.startsWith(OWN_PREFIX));
    this.#environment = { ...shellEnvironment(host.environment({})), ...env, ...Object.fromEntries(own) };
  }

  tasks(wrap: WrapCommand, ids: Ids): ShellTasks {
    return new ShellTasks({ ids, wrap, environment: this.environment, track: () => this.#tracked() });
  }

  /** For every program of the session: the mark by which it is found. */
  get environment(): NodeJS.ProcessEnv {
    return { ...this.#environment, [PROCESS_MARK_VARIABLE]: formatMark(this.#mark) };
  }

  started(pid: number, command: string): void {
    if (this.#first !== null) return;
    const startTime = readStartTime(pid);
    if (startTime === null) return;
    const { cgroup } = this.#registry.register({ pid, startTime, command, mark: this.#mark });
    this.#first = { pid, startTime, cgroup };
  }

  #tracked(): TrackedProcess {
    return { environment: {}, started: (pid, command) => this.started(pid, command), ended: () => {} };
  }

  /** Nothing that a command started is left. */
  async end(): Promise<void> {
    const first = this.#first;
    if (first === null) return;
    const { pid, startTime, cgroup } = first;
    const family = new ProcessFamily({ leader: { pid, startTime }, record: this.#mark.record, cgroup, members: [] });
    await endFamily(family, { graceMs: GRACE_MS });
    this.#registry.release(pid);
    this.#first = null;
  }
}
