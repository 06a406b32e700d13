/**
 * The other end of a unix socket, as an inode. The kernel reports it over netlink only, which Node cannot speak: `ss` of iproute2 is asked. Without `ss`
 * nothing is known, and the daemon opens no unix socket on Linux.
 */
import { execFile } from "node:child_process";
import { accessSync, constants, readlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const TIMEOUT_MS = 5_000;
/** Where systems keep it, also when the daemon's PATH is short. */
const PLACES = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];

let found: string | null | undefined;

function ssCommand(): string | null {
  if (found !== undefined) return found;
  const folders = [...PLACES, ...(process.env.PATH ?? "").split(delimiter).filter((each) => each.startsWith("/"))];
  found = folders.map((each) => join(each, "ss")).find(isProgram) ?? null;
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** True when the process at the other end of a unix socket can be found on this system. */
export const knowsUnixPeers = (): boolean => process.platform === "linux" && ssCommand() !== null;

/** The inode of the other end of the socket with this descriptor; null when nobody holds it any more, or nothing is known. */
export async function unixPeerInode(fd: number): Promise<string | null> {
  const command = ssCommand();
  const own = /^socket:\[(\d+)\]$/.exec(readLink(`/proc/self/fd/${fd}`))?.[1];
  if (command === null || own === undefined) return null;
  const options = { timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
  const { stdout } = await run(command, ["-xH", "state", "connected"], options).catch(() => ({ stdout: "" }));
  const line = new RegExp(`^u_\\S+ .*\\s${own}\\s+\\S+\\s+(\\d+)\\s*$`);
  const peers = new Set(stdout.split("\n").flatMap((text) => line.exec(text)?.[1] ?? []));
  // A socket's name may hold anything, even what looks like a line of this table: two answers are none.
  const [peer] = peers;
  return peers.size === 1 && peer !== undefined && peer !== "0" ? peer : null;
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
