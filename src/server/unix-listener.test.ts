import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, get, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listenOnSocket } from "./unix-listener.ts";

let dir: string;
let path: string;
const servers: Server[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "dragoman-socket-"));
  path = join(dir, "daemon.sock");
});

afterEach(async () => {
  for (const server of servers.splice(0)) await close(server);
  rmSync(dir, { recursive: true, force: true });
});

const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

async function daemon(name: string): Promise<{ server: Server; remove: () => void }> {
  const server = createServer((_, reply) => void reply.end(name));
  servers.push(server);
  return { server, remove: await listenOnSocket(server, path) };
}

const answer = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get({ socketPath: path, agent: false }, (reply) => {
      let text = "";
      reply.setEncoding("utf8").on("data", (piece) => {
        text += piece;
      });
      reply.on("end", () => resolve(text));
    });
    request.on("error", reject);
  });

describe.skipIf(process.platform === "win32")("the unix socket", () => {
  it("is private, the only file, and gone when its daemon stops", async () => {
    const { server, remove } = await daemon("first");
    expect(await answer()).toBe("first");
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(["daemon.sock"]);
    remove();
    await close(server);
    expect(readdirSync(dir)).toEqual([]);
  });

  it("[D8] of the daemon that took the data directory over stays when the one before stops", async () => {
    const loser = await daemon("loser");
    const winner = await daemon("winner");
    loser.remove();
    await close(loser.server);
    expect(await answer()).toBe("winner");
    winner.remove();
    await close(winner.server);
    expect(existsSync(path)).toBe(false);
  });
});
