// For tests: a server on a real socket over a real log in a temporary directory, with the mock agent.

import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { mockAgent } from "../agents/mock/agent.ts";
import { type Core, openCore } from "../daemon/core.ts";
import type { UniversalEvent } from "../schema/event.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { AgentInfo, Problem, Session } from "../schema/session.ts";
import type { AgentDirectory } from "./agent-directory.ts";
import { createServer, type ServerOptions, TokenStore } from "./server.ts";

const mockInfo: AgentInfo = {
  agent: "mock",
  name: "Mock agent",
  installed: true,
  path: "/mock",
  version: "1",
  signed_in: true,
  advice: null,
  installable: true,
  verified_at: null,
  capabilities: {},
};

const known = (id: string): AgentInfo => {
  if (id !== "mock") throw new ProblemError("agent_unknown");
  return mockInfo;
};

const directory: AgentDirectory = {
  list: async () => [mockInfo],
  inspect: async (id) => known(id),
  models: async (id) => [{ id: `${known(id).agent}-1` }],
  modes: async (id) => [{ id: `${known(id).agent}-build` }],
  verifyReport: async (id) => {
    throw new ProblemError("never_verified", `${known(id).name} was never verified.`);
  },
  async install(id, onProgress) {
    onProgress({ message: "fetching" });
    return known(id);
  },
};

export type Reply = { status: number; headers: IncomingMessage["headers"]; text: string };

export type TestServer = {
  url: string;
  port: number;
  token: string;
  dataDir: string;
  core: Core;
  tokens: TokenStore;
  /** Lines of the daemon's log. */
  logged: string[];
  /** Node's own client: it sends exactly these headers, also those that fetch forbids. */
  raw(method: string, path: string, headers?: Record<string, string>, body?: string | Buffer): Promise<Reply>;
  /** With the admin token and JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  json<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T>;
  createSession(more?: object): Promise<Session>;
  /** Sends a message and waits for the end of its turn. */
  play(sessionId: string, message: string): Promise<UniversalEvent[]>;
  /** The same for turns too large to keep; resolves at the turn's end. */
  flood(sessionId: string, message: string): Promise<void>;
  close(): Promise<void>;
};

export async function startTestServer(
  options: Partial<ServerOptions> & { token?: string } = {},
  address: { host: string; port: number; socket?: string } = { host: "127.0.0.1", port: 0 },
): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-server-"));
  const core = await openCore({
    dataDir,
    config: {},
    agents: [mockAgent],
    env: process.env,
    defaultDirectory: dataDir,
    log: () => {},
  });
  const tokens = TokenStore.open({ dataDir, ...(options.token === undefined ? {} : { token: options.token }) });
  const logged: string[] = [];
  const server = await createServer({
    log: core.log,
    indexer: core.indexer,
    dataDir,
    manager: core.manager,
    tasks: core.tasks,
    defaultDirectory: dataDir,
    agents: directory,
    tokens,
    limits: { body_bytes: 1024 * 1024, subscribers: 2_000 },
    version: "0.0.0-test",
    logger: pino({ level: "debug" }, { write: (line: string) => void logged.push(line) }),
    ...options,
  });
  const close = async (): Promise<void> => {
    await server.close();
    await core.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const { url, port } = await server.listen(address).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const token = tokens.secret("admin");
  const raw: TestServer["raw"] = (method, path, headers = {}, body) => send(port, method, path, headers, body);
  const call: TestServer["call"] = (method, path, body, headers = {}) =>
    raw(
      method,
      path,
      { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      body === undefined ? undefined : JSON.stringify(body),
    );
  const json = async <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T> =>
    JSON.parse((await call(method, path, body, headers)).text) as T;
  return {
    url,
    port,
    token,
    dataDir,
    core,
    tokens,
    logged,
    raw,
    call,
    json,
    createSession: (more = {}) => json<Session>("POST", "/v1/sessions", { agent: "mock", directory: dataDir, ...more }),
    async play(sessionId, message) {
      const { text } = await call("POST", `/v1/sessions/${sessionId}/messages/stream`, { message });
      return sseEvents(text);
    },
    async flood(sessionId, message) {
      const { turn_id } = await json<{ turn_id: string }>("POST", `/v1/sessions/${sessionId}/messages`, { message });
      const path = `/v1/sessions/${sessionId}/events/sse?types=turn.ended`;
      await readSse({ port, token }, path, (blocks) => blocks.some(({ data }) => data?.includes(turn_id)));
    },
    close,
  };
}

function send(
  port: number,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string | Buffer,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(chunks).toString() }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

export const problem = (reply: Reply): Problem => JSON.parse(reply.text) as Problem;

/** The data of all events in an SSE text. */
export const sseEvents = (text: string): UniversalEvent[] =>
  [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? "") as UniversalEvent);

export type SseBlock = { id: string | undefined; event: string | undefined; data: string | undefined };

/** Follows a live stream until the predicate is content with the blocks so far, then cuts it. */
export function readSse(
  server: Pick<TestServer, "port" | "token">,
  path: string,
  until: (blocks: SseBlock[]) => boolean,
  headers: Record<string, string> = {},
): Promise<SseBlock[]> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        host: "127.0.0.1",
        port: server.port,
        path,
        headers: { authorization: `Bearer ${server.token}`, ...headers },
        agent: false,
      },
      (response) => {
        let text = "";
        const look = (): SseBlock[] =>
          text
            .split("\n\n")
            .slice(0, -1)
            .map((block) => ({ id: field(block, "id"), event: field(block, "event"), data: field(block, "data") }));
        if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          const blocks = look();
          if (!until(blocks)) return;
          request.destroy();
          resolve(blocks);
        });
        response.on("end", () => resolve(look()));
        response.on("error", () => {});
      },
    );
    request.on("error", reject);
    request.end();
  });
}

const field = (block: string, name: string): string | undefined => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
