import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Slots } from "./slots.ts";

const STALL_MS = 20;
const open: { server: Server; sockets: Socket[] }[] = [];

afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<{ url: string; deaf(path: string): Promise<Socket> }> {
  const server = createServer(listener);
  const sockets: Socket[] = [];
  open.push({ server, sockets });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async deaf(path) {
      const socket = connect(port, "127.0.0.1");
      sockets.push(socket);
      socket.on("error", () => {}).pause();
      await once(socket, "connect");
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      return socket;
    },
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe("a place that somebody waits for", () => {
  it("is not taken from a client that waits for us, however long we take", async () => {
    const slots = new Slots(1, STALL_MS);
    const { url } = await serve(async (request, response) => {
      await slots.take(response, request.socket);
      if (request.url === "/slow") await pause(STALL_MS * 10);
      response.end(request.url);
    });
    const texts = ["/slow", "/next"].map(async (path) => (await fetch(url + path)).text());
    expect(await Promise.all(texts)).toEqual(["/slow", "/next"]);
  });

  it("is taken from a client that does not read", async () => {
    const slots = new Slots(1, STALL_MS);
    const { url, deaf } = await serve(async (request, response) => {
      await slots.take(response, request.socket);
      response.end(request.url === "/large" ? Buffer.alloc(64 * 1024 * 1024) : request.url);
    });
    const client = await deaf("/large");
    await once(client, "readable");
    expect(await (await fetch(`${url}/next`)).text()).toBe("/next");
  });
});
