// Bytes that never become a request are answered like every other error, on the port and on the socket of the data directory alike.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ProblemCode, problemCodes } from "../schema/problem-codes.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
const directory = mkdtempSync(join(tmpdir(), "dragoman-malformed-"));
const path = join(directory, "daemon.sock");
beforeAll(async () => {
  server = await startTestServer({}, { host: "127.0.0.1", port: 0, socket: path });
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

async function talk(target: { port: number; host: string } | { path: string }, bytes: string): Promise<string> {
  let answer = "";
  const socket = connect(target, () => socket.write(bytes, "latin1"));
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString();
  });
  await once(socket, "close");
  return answer;
}

const post = "POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
const upgrade = (more: string): string =>
  `GET /v1/sessions/ID/ws HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer TOKEN\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`;

it.each<[string, string, ProblemCode]>([
  ["no HTTP", "\x16\x03\x01\x00\xa5\x01\r\n\r\n", "malformed_request"],
  ["another HTTP", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "malformed_request"],
  ["a header with a NUL", "GET / HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n", "malformed_request"],
  ["two lengths", `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`, "malformed_request"],
  ["a length and chunks", `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, "malformed_request"],
  ["headers without end", `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"a".repeat(33_000)}\r\n\r\n`, "headers_too_large"],
  ["a tunnel", "CONNECT example.com:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", "method_not_allowed"],
  ["a WebSocket without its key", upgrade("Sec-WebSocket-Version: 13\r\n"), "malformed_request"],
  [
    "a WebSocket of another version",
    upgrade("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 12\r\n"),
    "malformed_request",
  ],
])("%s", async (_, bytes, code) => {
  const { session_id } = await server.createSession();
  const said = bytes.replace("ID", session_id).replace("TOKEN", server.token);
  for (const target of [{ port: server.port, host: "127.0.0.1" }, { path }]) {
    const [head = "", body = ""] = (await talk(target, said)).split("\r\n\r\n");
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${problemCodes[code].status} `));
    expect(head).toContain("content-type: application/problem+json");
    expect(head).toContain("cache-control: no-store");
    expect(JSON.parse(body)).toMatchObject({ code, status: problemCodes[code].status, detail: expect.any(String) });
  }
});

it("an expectation that nobody knows is passed over", async () => {
  const answer = await talk(
    { port: server.port, host: "127.0.0.1" },
    "GET /v1/health HTTP/1.1\r\nHost: localhost\r\nExpect: surprise\r\nConnection: close\r\n\r\n",
  );
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
});
