/** The commands of a session as processes: in the person's environment without the daemon's keys, and recorded, so that a crash of the daemon leaves none behind. */
import type { Ids, TaskStarter } from "../../../runtime/ports.ts";
import { ShellTasks, shellEnvironment, type TrackedProcess, type WrapCommand } from "../../../runtime/shell-tasks.ts";
import { formatMark, PROCESS_MARK_VARIABLE, ProcessRegistry, readStartTime } from "../../../transports/index.ts";
import type { AgentHost } from "../../contract.ts";
import { OWN_PREFIX } from "../../own-environment.ts";

export function commandProcesses(host: AgentHost, env: Record<string, string>, ids: Ids) {
  const registry = new ProcessRegistry(host.processDir);
  const all = host.environment(env);
  // The daemon recognises its agents by these; everything else of its own is withheld.
  const own = Object.entries(all).filter(([name]) => name.startsWith(OWN_PREFIX));
  const environment = { ...shellEnvironment(host.environment({})), ...env, ...Object.fromEntries(own) };
  return (wrap: WrapCommand): TaskStarter => new ShellTasks({ ids, wrap, environment, track: () => tracked(registry) });
}

function tracked(registry: ProcessRegistry): TrackedProcess {
  const mark = registry.newMark();
  let registered: number | null = null;
  return {
    environment: { [PROCESS_MARK_VARIABLE]: formatMark(mark) },
    started: (pid, command) => {
      registry.register({ pid, startTime: readStartTime(pid), command, mark });
      registered = pid;
    },
    ended: () => {
      if (registered !== null) registry.release(registered);
    },
  };
}
