/**
 * The file through which programs of this user find the daemon: written whole, with mode 0600, again when the root token changes, and removed at the end.
 * Not here: how it is read (client/discover).
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type DiscoveryFile, discoveryFile } from "../discovery/discovery-file.ts";
import { processStart } from "../discovery/process-start.ts";
import { writePrivate } from "../server/token-files.ts";

/** What a system takes as the path of a socket: 108 bytes on Linux, 104 on macOS, the ending zero included. */
const MAX_SOCKET_PATH = 103;

/** Undefined: the path is too long for a socket. The daemon is then reached by its port alone. */
export function socketPath(dataDir: string): string | undefined {
  const path = join(dataDir, "daemon.sock");
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH && process.platform !== "win32" ? path : undefined;
}

export function writeDiscovery(dataDir: string, facts: Omit<DiscoveryFile, "pid" | "started">): void {
  const file: DiscoveryFile = { ...facts, pid: process.pid, started: processStart(process.pid) ?? "" };
  writePrivate(discoveryFile(dataDir), JSON.stringify(file));
}

/** Only if it is still ours: another daemon may have taken the data directory over. */
export function removeDiscovery(dataDir: string): void {
  const file = discoveryFile(dataDir);
  try {
    const found: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (Object(found).pid === process.pid) rmSync(file, { force: true });
  } catch {
    // It is gone already.
  }
}
