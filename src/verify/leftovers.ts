// What a scenario may leave behind: nothing. Finds processes that live on in a folder, and files that nobody asked for.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join, sep } from "node:path";

const POLL_MS = 50;

/** Live processes that work inside the folder, or were given it in their environment. Linux only; elsewhere none is found. */
export function processesIn(folder: string, where: "directory" | "environment"): { pid: number; command: string }[] {
  if (process.platform !== "linux") return [];
  const found: { pid: number; command: string }[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const cwd = readlinkSync(`/proc/${name}/cwd`);
      const inside = cwd === folder || cwd.startsWith(folder + sep);
      const told = where === "environment" && readFileSync(`/proc/${name}/environ`, "latin1").includes(folder + sep);
      if (!inside && !told) continue;
      found.push({ pid: Number(name), command: readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim() });
    } catch {
      // It is gone, or another user's.
    }
  }
  return found;
}

/** Those still there after the grace: a process that was asked to end needs a moment. */
export async function lingering(folder: string, where: "directory" | "environment", graceMs: number) {
  const until = Date.now() + graceMs;
  for (;;) {
    const found = processesIn(folder, where);
    if (found.length === 0 || Date.now() >= until) return found;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Paths of all files in the folder, relative to it; what git keeps for itself is left out. */
export function filesIn(folder: string, under = ""): string[] {
  return readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) => {
    const path = under === "" ? entry.name : `${under}/${entry.name}`;
    if (path === ".git") return [];
    return entry.isDirectory() ? filesIn(folder, path) : [path];
  });
}

/** Files whose name the scenario does not mention anywhere: nobody asked for them. */
export function unexplainedFiles(folder: string, scenario: unknown): string[] {
  const text = JSON.stringify(scenario);
  return filesIn(folder).filter((path) => !text.includes(path.split("/").at(-1) ?? path));
}
