/**
 * When a process began, as a text that is equal for the same process only: pids are given again. Node, Bun and Deno; Linux by /proc, elsewhere by `ps`.
 */

// Asked for at run time, not imported: a bundler that builds for browsers has nothing to resolve here.
const { readFileSync } = process.getBuiltinModule("node:fs");

/** Field 22 of /proc/<pid>/stat, counted behind the name, which may hold spaces and brackets. */
const START_FIELD = 19;

/** Undefined when there is no such process. */
export function processStart(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  try {
    return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
  } catch {
    return undefined;
  }
}

function fromProc(pid: number): string | undefined {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const ticks = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .at(START_FIELD);
  // Ticks count from the boot.
  return ticks && `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}:${ticks}`;
}

function fromPs(pid: number): string | undefined {
  // Loaded here: where it is not needed, it would be a tenth of a call of the command line.
  const { execFileSync } = process.getBuiltinModule("node:child_process");
  const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
  });
  return text.trim() || undefined;
}
