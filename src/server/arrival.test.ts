import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { limitArrival, takeTime } from "./arrival.ts";

let server: Server;
afterEach(() => void server.close());

const SOON_MS = 50;

/** What a client gets that sends a head and then goes on as it likes. */
async function answerTo(
  serve: (request: IncomingMessage, response: ServerResponse) => void,
  send: (socket: Socket) => void,
): Promise<string> {
  server = createServer(serve);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  socket.on("error", () => {});
  socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\nConnection: close\r\n\r\n");
  send(socket);
  await once(socket, "close");
  return text;
}

it("gives up on a body that does not come", async () => {
  const answer = await answerTo(
    (request, response) => {
      limitArrival(request, response, SOON_MS);
      request.resume();
    },
    (socket) => void socket.write("abc"),
  );
  expect(answer).toMatch(/^HTTP\/1.1 408 [\s\S]*"code":"request_timeout"/);
});

it("lets a streamed body take its time, but not stand still", async () => {
  const still = await answerTo(
    (request, response) => {
      limitArrival(request, response, SOON_MS);
      takeTime(request, response, SOON_MS * 4);
      request.resume();
    },
    (socket) => void socket.write("abc"),
  );
  expect(still).toMatch(/^HTTP\/1.1 408 /);
  server.close();
  const slow = await answerTo(
    (request, response) => {
      limitArrival(request, response, SOON_MS);
      takeTime(request, response, 60_000);
      request.resume().on("end", () => response.end("thanks"));
    },
    (socket) => void setTimeout(() => socket.write("abcdef"), SOON_MS * 4),
  );
  expect(slow).toMatch(/^HTTP\/1.1 200 [\s\S]*thanks/);
});

it("does nothing to a body that has come", async () => {
  const answer = await answerTo(
    (request, response) => {
      limitArrival(request, response, SOON_MS);
      request.resume().on("end", () => setTimeout(() => response.end("late answer"), SOON_MS * 4));
    },
    (socket) => void socket.write("abcdef"),
  );
  expect(answer).toMatch(/^HTTP\/1.1 200 [\s\S]*late answer/);
});
