/**
 * Which process of this machine holds the other end of a connection, by /proc on Linux; elsewhere nothing is known. A TCP socket is found by its pair of
 * addresses in /proc/net/tcp and tcp6, its holder by the inode among the open files of processes. Not here: what the process may do.
 */
import { readdirSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isIPv4, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { SharedSearch } from "./shared-search.ts";
import { unixPeerInode } from "./unix-peer.ts";

/**
 * `process`: it holds the socket. `gone`: the peer is of this machine and has closed its end, so nobody can say who
 * it was. `hidden`: a process of this user holds it that we cannot look into; `unreadable` are those it can be. `other_user`: a process of another user
 * holds it. `remote`: not a process of this machine. `unsupported`: this system does not say.
 */
export type Peer =
  | { kind: "process"; pid: number }
  | { kind: "hidden"; unreadable: number[] }
  | { kind: "gone" | "other_user" | "remote" | "unsupported" };

/** Costs a few milliseconds, of which no two in a row block the event loop. Ask once a connection. */
export async function peerOf(socket: Socket): Promise<Peer> {
  if (process.platform !== "linux") return { kind: "unsupported" };
  const entry = await entryOf(socket);
  // A socket that no process holds any more belongs to inode 0.
  if (entry === null || entry === "remote") return { kind: entry ?? "gone" };
  const holder = await holders.get(entry.inode);
  if (holder.pid !== null) return { kind: "process", pid: holder.pid };
  return entry.uid === (process.getuid?.() ?? 0) ? { kind: "hidden", unreadable: holder.unreadable } : { kind: "other_user" };
}

/** The socket at the other end. Null: it is closed. */
async function entryOf(socket: Socket): Promise<SocketEntry | "remote" | null> {
  const { localAddress, localPort, remoteAddress, remotePort } = socket;
  if (remoteAddress && localAddress && remotePort && localPort) {
    // Its local end is our remote one.
    const entry = await findSocket(endpoint(remoteAddress, remotePort), endpoint(localAddress, localPort));
    if (!entry) return isOwnAddress(remoteAddress) ? null : "remote";
    return entry.inode === "0" ? null : entry;
  }
  const fd = socket.destroyed ? undefined : descriptorOf(socket);
  const inode = fd === undefined ? null : await unixPeerInode(fd);
  // Only this user, and root, can open the daemon's unix socket.
  return inode === null ? null : { uid: process.getuid?.() ?? 0, inode };
}

/** Node shows the descriptor of a socket nowhere else. */
function descriptorOf(socket: Socket): number | undefined {
  const handle: unknown = "_handle" in socket ? socket._handle : undefined;
  const fd = typeof handle === "object" && handle !== null && "fd" in handle ? handle.fd : undefined;
  return typeof fd === "number" && fd >= 0 ? fd : undefined;
}

const LONGEST_BLOCK_MS = 1;

type SocketEntry = { uid: number; inode: string };

async function findSocket(local: string, remote: string): Promise<SocketEntry | null> {
  const wanted = ` ${local} ${remote} `;
  for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const table = await tables.get(file);
    // Each table writes addresses in its own length; one holds IPv4 addresses as they are, the other inside IPv6 ones.
    for (const pair of file.endsWith("6") ? [wanted, mapped(local, remote)] : [wanted]) {
      const at = table.indexOf(pair);
      if (at === -1) continue;
      // After the addresses: st, tx:rx queues, tr:tm, retrnsmt, uid, timeout, inode.
      const fields = table
        .slice(at + pair.length, table.indexOf("\n", at))
        .trim()
        .split(/\s+/);
      const [, , , , uid, , inode] = fields;
      if (uid !== undefined && inode !== undefined) return { uid: Number(uid), inode };
    }
  }
  return null;
}

const MAPPED = "0000000000000000FFFF0000";
const mapped = (local: string, remote: string): string => ` ${MAPPED}${local} ${MAPPED}${remote} `;

/** As the kernel prints it: 32-bit words in the byte order of the machine, which is little-endian wherever Node runs. */
export function hexAddress(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").replace(/%.*$/, "");
  const bytes = isIPv4(plain) ? plain.split(".").map(Number) : ipv6Bytes(plain);
  let text = "";
  for (let word = 0; word < bytes.length; word += 4)
    for (let i = 3; i >= 0; i--) text += (bytes[word + i] ?? 0).toString(16).padStart(2, "0");
  return text.toUpperCase();
}

function ipv6Bytes(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [before, after] = [groups(head), groups(tail ?? "")];
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return [...before, ...zeros, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [(value >> 8) & 0xff, value & 0xff];
  });
}

const endpoint = (address: string, port: number): string => `${hexAddress(address)}:${hexPort(port)}`;
const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, "0");

/** Read in a thread of its own: the kernel walks its whole table of connections, which takes milliseconds. */
const tables = new SharedSearch<string>(async (files) => {
  const read = [...files].map(async (file) => [file, await readFile(file, "latin1").catch(() => "")] as const);
  return new Map(await Promise.all(read));
});

type Holder = { pid: number | null; unreadable: number[] };

/** Newest processes first: a command line tool that just connected is found at once. */
const holders = new SharedSearch<Holder>(async (inodes) => {
  const wanted = new Map([...inodes].map((inode) => [`socket:[${inode}]`, inode]));
  const found = new Map<string, Holder>();
  const unreadable: number[] = [];
  const pids = list("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number);
  let blockedSince = performance.now();
  for (const pid of pids.sort((a, b) => b - a)) {
    if (found.size === wanted.size) break;
    if (performance.now() - blockedSince > LONGEST_BLOCK_MS) {
      await nextTurn();
      blockedSince = performance.now();
    }
    let files: string[];
    try {
      files = readdirSync(`/proc/${pid}/fd`);
    } catch (error) {
      if (isDenied(error)) unreadable.push(pid);
      continue;
    }
    // A connection is mostly among the last files that were opened.
    for (let i = files.length - 1; i >= 0 && found.size < wanted.size; i--) {
      const inode = wanted.get(linkOf(`/proc/${pid}/fd/${files[i]}`));
      if (inode !== undefined && !found.has(inode)) found.set(inode, { pid, unreadable });
    }
  }
  for (const inode of inodes) if (!found.has(inode)) found.set(inode, { pid: null, unreadable });
  return found;
});

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}

const isDenied = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM");

function isOwnAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "");
  if (/^127\./.test(plain) || plain === "::1") return true;
  return Object.values(networkInterfaces()).some((all) => all?.some((each) => each.address === plain));
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
