import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { leaveUnreadBody } from "./unread-bodies.ts";

const MB = 1024 * 1024;
let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** A server that answers every request with 401 before its body has come. */
async function refusing(): Promise<{ client: Socket; accepted: Promise<Socket> }> {
  server = createServer((request, response) => {
    leaveUnreadBody(request, response);
    response.writeHead(401, { "content-length": 0 }).end();
  });
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => {});
  return { client, accepted };
}

const post = (size: string): string => `POST / HTTP/1.1\r\nHost: localhost\r\n${size}\r\n\r\n`;

describe("a body that nobody wants", () => {
  it.each([
    ["of a known size", `Content-Length: ${31 * MB}`],
    ["of an unknown size", "Transfer-Encoding: chunked"],
  ])("is not read, the answer arrives, and the connection is closed (%s)", async (_, size) => {
    const { client, accepted } = await refusing();
    let answer = "";
    client.on("data", (chunk) => {
      answer += chunk.toString();
    });
    const socket = await accepted;
    const closed = new Promise<number>((resolve) => socket.once("close", () => resolve(socket.bytesRead)));
    client.write(post(size));
    if (size.startsWith("Transfer")) client.write(`${(30 * MB).toString(16)}\r\n`);
    for (let sent = 0; sent < 30; sent++) client.write(Buffer.alloc(MB, "x"));
    expect(await closed).toBeLessThan(256 * 1024);
    expect(answer).toMatch(/^HTTP\/1.1 401/);
  });

  it("is read away when it is moderate, and the next request is answered", async () => {
    const { client } = await refusing();
    let answers = "";
    const both = new Promise<void>((resolve) =>
      client.on("data", (chunk) => {
        answers += chunk.toString();
        if ((answers.match(/HTTP\/1.1 401/g) ?? []).length === 2) resolve();
      }),
    );
    client.write(post(`Content-Length: ${900 * 1024}`));
    client.write(Buffer.alloc(900 * 1024, "x"));
    client.write(post("Content-Length: 0"));
    await both;
  });
});
