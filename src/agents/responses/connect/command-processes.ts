/**
 * The commands of a session as processes: in the person's environment without the daemon's keys. All of them are one family, with one mark and one record while
 * the session is open: what a command left running is found by it, at the session's end and after a crash of the daemon, and a call to the daemon that comes
 * from one of them is recognised as the agent's, also when it has dropped its environment.
 */
import type { Ids, TaskWatcher } from "../../../runtime/ports.ts";
import { ShellTasks, shellEnvironment, type TrackedProcess, type WrapCommand } from "../../../runtime/shell-tasks.ts";
import {
  endFamily,
  formatMark,
  noteActivity,
  noteOwner,
  PROCESS_MARK_VARIABLE,
  ProcessFamily,
  ProcessRegistry,
  readStartTime,
  unwatchFamily,
  type Watched,
  watchFamily,
} from "../../../transports/index.ts";
import type { AgentHost } from "../../contract.ts";
import { OWN_PREFIX } from "../../own-environment.ts";

const GRACE_MS = 500;

export class CommandProcesses {
  readonly #registry: ProcessRegistry;
  readonly #mark;
  readonly #environment: NodeJS.ProcessEnv;
  /** The first command leads it. */
  #commands: Watched | null = null;

  constructor(host: AgentHost, env: Record<string, string>) {
    this.#registry = new ProcessRegistry(host.processDir);
    this.#mark = this.#registry.newMark();
    // The daemon recognises its agents by these; everything else of its own is withheld.
    const own = Object.entries(host.environment(env)).filter(([name]) => name.startsWith(OWN_PREFIX));
    this.#environment = { ...shellEnvironment(host.environment({})), ...env, ...Object.fromEntries(own) };
  }

  tasks(wrap: WrapCommand, ids: Ids, watch: TaskWatcher): ShellTasks {
    return new ShellTasks({ ids, wrap, watch, environment: this.environment, track: () => this.#tracked() });
  }

  /** For every program of the session: the mark by which it is found. */
  get environment(): NodeJS.ProcessEnv {
    return { ...this.#environment, [PROCESS_MARK_VARIABLE]: formatMark(this.#mark) };
  }

  started(pid: number, command: string): void {
    const startTime = readStartTime(pid);
    if (startTime === null) return;
    if (this.#commands === null) this.#lead({ pid, startTime, command });
    else this.#commands.family.adopt({ pid, startTime });
    this.#remember();
  }

  #lead(first: { pid: number; startTime: string; command: string }): void {
    const { cgroup } = this.#registry.register({ ...first, mark: this.#mark });
    const family = new ProcessFamily({ leader: first, record: this.#mark.record, cgroup });
    this.#commands = { family, onGrowth: () => this.#remember() };
    noteOwner({ ...first, mark: this.#mark }, this.environment, () => family.members);
    watchFamily(this.#commands);
  }

  #remember(): void {
    if (this.#commands === null) return;
    const { family } = this.#commands;
    noteActivity(this.#commands);
    this.#registry.noteMembers(family.leader.pid, family.members);
  }

  #tracked(): TrackedProcess {
    return { environment: {}, started: (pid, command) => this.started(pid, command), ended: () => {} };
  }

  /** Nothing that a command started is left. */
  async end(): Promise<void> {
    const commands = this.#commands;
    if (commands === null) return;
    this.#commands = null;
    unwatchFamily(commands);
    await endFamily(commands.family, { graceMs: GRACE_MS });
    this.#registry.release(commands.family.leader.pid);
  }
}
