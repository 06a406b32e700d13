/**
 * Starts a function of a TypeScript module as a process of its own, on any Node. Test helper.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export function runModule(
  module: URL,
  call: string,
  args: unknown[],
  identity: { uid?: number; gid?: number } = {},
): ChildProcess {
  const code = `
    import { createServer } from "vite";
    const server = await createServer({ configFile: false, logLevel: "error", appType: "custom", cacheDir: "/nonexistent",
      optimizeDeps: { noDiscovery: true }, server: { middlewareMode: true, watch: null, hmr: false, ws: false } });
    const module = await server.ssrLoadModule(${JSON.stringify(fileURLToPath(module))});
    await module[${JSON.stringify(call)}](...${JSON.stringify(args)});
    await server.close();`;
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  return spawn(process.execPath, ["--input-type=module", "-e", code], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    ...identity,
  });
}
