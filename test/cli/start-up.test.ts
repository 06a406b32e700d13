// Commands start at once: nothing of the daemon is loaded unless the command needs it. Walks the static imports of what is built.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CLI, linux, removeDir, temporaryDir } from "../daemon-process.ts";

/** Module by module: the bundled files have the same imports, and no names. */
const MAIN = fileURLToPath(new URL("../../build/cli/main.js", import.meta.url));

function loaded(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const match of readFileSync(file, "utf8").matchAll(/^(?:import|export)\b[^;]*?from "([^"]+)"|^import "([^"]+)"/gm)) {
    const name = match[1] ?? match[2] ?? "";
    if (name.startsWith(".")) loaded(join(dirname(file), name), seen);
    else seen.add(name);
  }
  return seen;
}

it("loads the client and the command line, and no room of the daemon", () => {
  const dist = join(dirname(MAIN), "..");
  const names = [...loaded(MAIN)].map((name) => (name.startsWith("/") ? relative(dist, name) : name));
  expect(names).toContain("cli/commands.js");
  expect(names.filter((name) => /^(daemon|server|log|session|agents|verify|transports|mcp)\//.test(name))).toEqual([]);
  // It takes longer to load than all of the command line.
  expect(names).not.toContain("node:crypto");
  expect(names.filter((name) => ["fastify", "pino", "typebox", "ws"].includes(name.split("/")[0] ?? ""))).toEqual([]);
});

it.runIf(linux)("says what to do when the system allows too few open files, in the foreground and in the background", () => {
  const dataDir = temporaryDir("few-files");
  for (const command of ["serve", "start"]) {
    const words = [process.execPath, CLI, command, "--port", "0", "--data-dir", dataDir];
    const { status, stderr } = spawnSync("sh", ["-c", 'ulimit -n 120 && exec "$0" "$@"', ...words], { encoding: "utf8" });
    expect({ command, failed: status !== 0, stderr }).toEqual({
      command,
      failed: true,
      stderr: expect.stringContaining("ulimit -n 4096"),
    });
  }
  removeDir(dataDir);
});
