import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hexAddress, peerOf } from "./peer-process.ts";
import { knowsUnixPeers } from "./unix-peer.ts";

const linux = process.platform === "linux";
let dir: string;
const open: { close(): void }[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "peer-"));
});
afterEach(() => {
  for (const each of open.splice(0)) each.close();
  rmSync(dir, { recursive: true, force: true });
});

async function listen(
  where: { host: string; port: 0 } | { path: string },
): Promise<{ server: Server; accepted: Promise<Socket> }> {
  const server = createServer();
  open.push(server);
  const accepted = once(server, "connection").then(([socket]: Socket[]) => {
    if (!socket) throw new Error("no socket");
    open.push({ close: () => void socket.destroy() });
    return socket;
  });
  server.listen(where);
  await once(server, "listening");
  return { server, accepted };
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Another process that connects and waits. */
function connector(target: string): ChildProcess {
  const child = spawn(process.execPath, ["-e", `require("net").connect(${target}).resume()`]);
  open.push({ close: () => void child.kill("SIGKILL") });
  return child;
}

describe("an address as the kernel writes it", () => {
  it.each([
    ["127.0.0.1", "0100007F"],
    ["::ffff:127.0.0.1", "0100007F"],
    ["::1", "00000000000000000000000001000000"],
    ["fe80::1%eth0", "000080FE000000000000000001000000"],
    ["2001:db8:1:2:3:4:5:6", "B80D0120020001000400030006000500"],
  ])("%s", (address, hex) => expect(hexAddress(address)).toBe(hex));
});

describe.runIf(linux)("the process at the other end", () => {
  it.each(["127.0.0.1", "::1", "::"])("of a TCP connection to %s", async (host) => {
    const { server, accepted } = await listen({ host, port: 0 });
    const child = connector(`${portOf(server)}, "${host === "::1" ? host : "127.0.0.1"}"`);
    expect(await peerOf(await accepted)).toEqual({ kind: "process", pid: child.pid });
  });

  it("is found when it uses an IPv6 socket for an IPv4 address", async () => {
    const { server, accepted } = await listen({ host: "127.0.0.1", port: 0 });
    const child = connector(`${portOf(server)}, "::ffff:127.0.0.1"`);
    expect(await peerOf(await accepted)).toEqual({ kind: "process", pid: child.pid });
  });

  it.runIf(knowsUnixPeers())("of a unix socket", async () => {
    const path = join(dir, "a 1 * 2");
    const { accepted } = await listen({ path });
    const child = connector(JSON.stringify(path));
    expect(await peerOf(await accepted)).toEqual({ kind: "process", pid: child.pid });
  });

  it("is gone when it has closed its end, and not taken for another", async () => {
    const { server, accepted } = await listen({ host: "127.0.0.1", port: 0 });
    const client = connect(portOf(server), "127.0.0.1");
    const socket = await accepted;
    client.destroy();
    await once(socket.resume(), "end");
    expect(await peerOf(socket)).toEqual({ kind: "gone" });
    socket.destroy();
    expect(await peerOf(socket)).toEqual({ kind: "gone" });
  });
});
