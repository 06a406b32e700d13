/**
 * Requests of other nodes, below `/internal/v1/`: a client's request that another node sends on becomes the same request here, made by the caller that the signature names; other questions are answered at once.
 * A signature opens nothing else, and a token does not open this.
 */
import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { ProblemError } from "../schema/problem-codes.ts";
import type { FleetPort } from "./fleet-port.ts";
import { toProblemError, writeProblem } from "./problems.ts";
import type { App } from "./server-context.ts";
import type { Caller } from "./token.ts";

const PREFIX = "/internal/v1/";
const FORWARD = `${PREFIX}forward`;
const QUESTION_BYTES = 1024 * 1024;

type Sent = { caller: Caller; bodyHash: string };

export class NodeRequests {
  readonly #fleet: FleetPort | undefined;
  readonly #sent = new WeakMap<IncomingMessage, Sent>();
  readonly #streams = new Set<ServerResponse>();

  constructor(fleet: FleetPort | undefined) {
    this.#fleet = fleet;
  }

  /** True for what only nodes may ask, where there is a fleet. */
  isInternal(url: string | undefined): boolean {
    return this.#fleet !== undefined && url?.startsWith(PREFIX) === true;
  }

  /** The caller for whom another node sent this request. */
  callerOf(request: IncomingMessage): Caller | undefined {
    return this.#sent.get(request)?.caller;
  }

  /** Makes a client's request of it, in place. Else it is a question of a node: what its body must be. Throws `unauthorized`. */
  admit(request: IncomingMessage): { isClients: boolean; bodyHash: string } {
    const admitted = this.#fleet?.admit(request);
    if (!admitted) throw new ProblemError("unauthorized", "Only nodes of this cluster may ask here, each thing once.");
    const { path, caller, bodyHash } = admitted;
    const isClients = path.startsWith(`${FORWARD}/`);
    if (isClients) {
      request.url = path.slice(FORWARD.length);
      this.#sent.set(request, { caller: JSON.parse(caller) as Caller, bodyHash });
    }
    return { isClients, bodyHash };
  }

  /** `next`: what is done with a client's request. */
  handle(request: IncomingMessage, response: ServerResponse, next: () => void): void {
    try {
      const { isClients, bodyHash } = this.admit(request);
      if (isClients) return next();
      this.#answer(request, response, bodyHash).catch((error: unknown) => writeProblem(response, toProblemError(error)));
    } catch (error) {
      writeProblem(response, toProblemError(error));
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse, bodyHash: string): Promise<void> {
    const name = (request.url ?? "").slice(PREFIX.length);
    const body = await readBody(request, QUESTION_BYTES);
    mustBeSigned(body, bodyHash);
    if (request.method === "GET") return this.#stream(name, response);
    const answer = await this.#fleet?.answer(name, body.toString());
    if (answer === undefined) throw new ProblemError("not_found");
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
  }

  #stream(name: string, response: ServerResponse): void {
    if (!this.#fleet?.stream(name, response)) throw new ProblemError("not_found");
    response.socket?.setNoDelay(true);
    response.writeHead(200, { "content-type": "application/octet-stream" }).flushHeaders();
    this.#streams.add(response);
    response.once("close", () => this.#streams.delete(response));
  }

  /** The server stops: other nodes read the log instead. */
  close(): void {
    for (const response of this.#streams) response.destroy();
  }

  /** The body of a request that was sent on is the one that was signed. */
  addTo(app: App): void {
    if (!this.#fleet) return;
    app.addHook("preParsing", async (request, _, payload) => {
      const sent = this.#sent.get(request.raw);
      if (!sent) return payload;
      const body = await readBody(payload, request.routeOptions.bodyLimit ?? QUESTION_BYTES);
      mustBeSigned(body, sent.bodyHash);
      return Object.assign(Readable.from(body.length === 0 ? [] : [body]), { receivedEncodedLength: body.length });
    });
  }
}

function mustBeSigned(body: Buffer, hash: string): void {
  if (createHash("sha256").update(body).digest("hex") !== hash)
    throw new ProblemError("unauthorized", "The body is not the one that was signed.");
}

/** Throws `body_too_large`. */
export async function readBody(source: AsyncIterable<unknown>, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of source) {
    if (!Buffer.isBuffer(part)) continue;
    size += part.length;
    if (size > limit) throw new ProblemError("body_too_large");
    parts.push(part);
  }
  return Buffer.concat(parts);
}
