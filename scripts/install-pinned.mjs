// Installs one pinned package into the user's cache, once, and returns its folder. Nothing of it becomes a dependency of the project.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "dragoman-conformance");
const INSTALL_MS = 10 * 60_000;

/** `--force`: npm refuses packages that ask for a newer Node, although their programs are native or are run with another Node. */
export async function installPinned(name, { npm, version }) {
  const folder = join(CACHE, `${name}-${version}`);
  const manifest = join(folder, "node_modules", npm, "package.json");
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version) return folder;
  console.log(`installing ${npm}@${version}`);
  mkdirSync(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--force", `${npm}@${version}`];
  await run("npm", args, { timeout: INSTALL_MS, maxBuffer: 64 * 1024 * 1024 });
  return folder;
}
