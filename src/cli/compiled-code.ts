/**
 * Keeps the compiled code of the daemon in its data directory, so that the next start does not compile it again. Node 22.8 and newer can do that; with an
 * older one nothing happens. Not here: the data directory itself, which the daemon makes, with rights and checks of its own.
 */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Not in the types of the oldest Node that is supported. */
type CompileCache = { enableCompileCache?(folder: string): unknown; flushCompileCache?(): void };
const cache: CompileCache = createRequire(import.meta.url)("node:module");

/** Before the daemon's code is loaded. What an earlier build left is removed. A folder that cannot be used costs nothing but the gain. */
export function takeCompiledCode(dataDir: string): void {
  if (!cache.enableCompileCache || !existsSync(dataDir)) return;
  const folder = join(dataDir, "code-cache");
  try {
    const build = String(Math.trunc(statSync(fileURLToPath(import.meta.url)).mtimeMs));
    if (existsSync(folder))
      for (const name of readdirSync(folder)) if (name !== build) rmSync(join(folder, name), { recursive: true });
    cache.enableCompileCache(join(folder, build));
  } catch {
    // Another user's folder, or a full disk.
  }
}

/** Now, because a daemon that is killed writes nothing at its end. */
export const storeCompiledCode = (): void => cache.flushCompileCache?.();
