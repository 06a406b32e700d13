/** One hop to another node: a client's request, or the upgrade to a WebSocket, is sent on as it is, signed, and the answer comes back as it is. What is sent where is decided elsewhere. */
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { pipeline } from "node:stream";
import { SIGNED_HEADERS } from "./signature.ts";

/** `answered`: the other side's answer is on its way to the client. `unsent`: it was not reached. `lost`: it was reached, and gave no answer. `misdirected`: it does not own the session. */
export type Forwarded = "answered" | "unsent" | "lost" | "misdirected";

/** Of one connection; of another, or made anew by whoever sends. */
const NOT_PASSED = new Set([
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"],
  ...[
    "host",
    "authorization",
    "cookie",
    "content-length",
    "expect",
    "origin",
    "sec-fetch-site",
    "sec-fetch-mode",
    "sec-fetch-dest",
  ],
  ...SIGNED_HEADERS,
]);
const TOKEN_PROTOCOL = /^token\./;
/** Nobody who listens needs longer to accept a connection. */
const CONNECT_MS = 3_000;
export const MISDIRECTED = 421;
/** Names the node that answered. */
export const NODE_HEADER = "dragoman-node";

/** Where it goes, and the headers that make it a node's request. */
type Hop = { url: string; path: string; signed: Record<string, string> };

export class Peers {
  readonly #http = new HttpAgent({ keepAlive: true, maxFreeSockets: 32 });
  readonly #https: HttpsAgent;

  /** `ca`: certificates by which nodes are known where they talk over TLS. */
  constructor(ca?: string) {
    this.#https = new HttpsAgent({ keepAlive: true, maxFreeSockets: 32, ...(ca === undefined ? {} : { ca }) });
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  /** `onAnswer`: the answer is there, and about to be written. `gone`: the other side is taken to be dead, although it has not closed its connection. */
  forward(
    request: IncomingMessage,
    response: ServerResponse,
    to: Hop & {
      node_id: string;
      body: Buffer | null;
      headers: Readonly<Record<string, string>>;
      gone: AbortSignal;
      onAnswer(): void;
    },
  ): Promise<Forwarded> {
    return new Promise((resolve) => {
      const length = to.body === null ? {} : { "content-length": String(to.body.length) };
      const sent = this.#open(to.url, to.path, request.method ?? "GET", { ...passed(request.headers), ...length, ...to.signed });
      let reached = false;
      sent.once("socket", (socket) => {
        reached = !socket.connecting;
        if (!reached)
          socket.once("connect", () => {
            reached = true;
          });
      });
      sent.setTimeout(CONNECT_MS, () => {
        if (!reached) sent.destroy();
      });
      // Beside those of the server: each hop listens too.
      response.setMaxListeners(30);
      const gone = (): void => void sent.destroy();
      const unwatch = (): void => void response.off("close", gone);
      response.once("close", gone);
      to.gone.addEventListener("abort", () => void sent.destroy(new Error(`${to.node_id} is gone`)), { once: true });
      sent.once("error", () => {
        unwatch();
        resolve(reached ? "lost" : "unsent");
      });
      sent.once("response", (answer) => {
        if (answer.statusCode === MISDIRECTED) {
          answer.resume();
          unwatch();
          return resolve("misdirected");
        }
        to.onAnswer();
        const headers = { ...passed(answer.headers), ...lengthOf(answer.headers), ...to.headers, [NODE_HEADER]: to.node_id };
        response.writeHead(answer.statusCode ?? 502, headers);
        response.flushHeaders();
        // A source that breaks off ends the client's connection too: it must not look like the end of the answer.
        pipeline(answer, response, () => undefined);
        resolve("answered");
      });
      sent.end(to.body ?? undefined);
    });
  }

  /** Between two nodes. Rejects when there is no answer, or one that says no. */
  call(url: string, path: string, body: string, signed: Record<string, string>): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = { ...signed, "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
      const sent = this.#open(url, path, "POST", headers);
      sent.setTimeout(CONNECT_MS, () => void sent.destroy(new Error(`${url} does not answer`)));
      sent.once("error", reject);
      sent.once("response", (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part: Buffer) => parts.push(part));
        answer.once("error", reject);
        answer.once("end", () => {
          const text = Buffer.concat(parts).toString();
          if (answer.statusCode === 200) resolve(text);
          else reject(new Error(`${url} answered ${answer.statusCode}: ${text.slice(0, 200)}`));
        });
      });
      sent.end(body);
    });
  }

  /** What the other side sends for as long as it lasts. Rejects like `call`. */
  stream(url: string, path: string, signed: Record<string, string>): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = this.#open(url, path, "GET", signed);
      sent.setTimeout(CONNECT_MS, () => void sent.destroy(new Error(`${url} does not answer`)));
      sent.once("error", reject);
      sent.once("response", (answer) => {
        sent.setTimeout(0);
        if (answer.statusCode === 200) return resolve(answer);
        answer.resume();
        reject(new Error(`${url} answered ${answer.statusCode}`));
      });
      sent.end();
    });
  }

  /** Joins the client's socket with one to the other node. Rejects when that cannot be opened; then nothing was written to the client. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, to: Hop): Promise<void> {
    return new Promise((resolve, reject) => {
      const wanted = { connection: "Upgrade", upgrade: "websocket", ...socketHeaders(request.headers) };
      const sent = this.#open(to.url, to.path, "GET", { ...passed(request.headers), ...wanted, ...to.signed });
      sent.setTimeout(CONNECT_MS, () => void sent.destroy(new Error(`${to.url} does not answer`)));
      sent.once("error", reject);
      sent.once("response", (answer) => {
        relay(answer, socket);
        answer.pipe(socket);
        resolve();
      });
      sent.once("upgrade", (answer, other: Duplex, first: Buffer) => {
        sent.setTimeout(0);
        relay(answer, socket);
        if (first.length > 0) socket.write(first);
        if (head.length > 0) other.write(head);
        const end = (): void => {
          socket.destroy();
          other.destroy();
        };
        for (const each of [socket, other]) each.once("error", end).once("close", end);
        socket.pipe(other).pipe(socket);
        resolve();
      });
      sent.end();
    });
  }

  #open(url: string, path: string, method: string, headers: Record<string, string | string[]>) {
    const base = new URL(url);
    const options = { hostname: base.hostname.replace(/^\[|\]$/g, ""), port: base.port, path, method, headers };
    return base.protocol === "https:"
      ? httpsRequest({ ...options, agent: this.#https })
      : httpRequest({ ...options, agent: this.#http });
  }
}

function passed(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const all = Object.entries(headers).filter(
    ([name, value]) => value !== undefined && !NOT_PASSED.has(name) && !name.startsWith("sec-websocket"),
  );
  return Object.fromEntries(all.map(([name, value]) => [name, value ?? ""]));
}

const lengthOf = ({ "content-length": length }: IncomingHttpHeaders): Record<string, string> =>
  length === undefined ? {} : { "content-length": length };

/** A token among the protocols stays here: the signature says who calls. */
function socketHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const offered = headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim()) ?? [];
  const protocols = offered.filter((name) => !TOKEN_PROTOCOL.test(name)).join(", ");
  return {
    "sec-websocket-version": headers["sec-websocket-version"] ?? "13",
    "sec-websocket-key": headers["sec-websocket-key"] ?? "",
    ...(protocols === "" ? {} : { "sec-websocket-protocol": protocols }),
  };
}

function relay(answer: IncomingMessage, socket: Duplex): void {
  const lines: string[] = [];
  for (let index = 0; index < answer.rawHeaders.length; index += 2)
    lines.push(`${answer.rawHeaders[index]}: ${answer.rawHeaders[index + 1]}\r\n`);
  socket.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${lines.join("")}\r\n`);
}
