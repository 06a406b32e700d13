/**
 * `Idempotency-Key` on POSTs: the first reply of a key is kept for a day and given again, to the same request only. Two at once wait for one another.
 * Failures of the daemon's own (5xx) are not kept: trying again is what a client should do then. That a request was begun is written down before it is
 * carried out: one that the daemon died over is not carried out a second time.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Log } from "../log/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";
import type { App } from "./server-context.ts";

const KIND = "idempotency";
const KEEP_MS = 24 * 60 * 60_000;
const MAX_KEPT_BYTES = 1024 * 1024;

type Kept = { request: string; status: number; type: string; body: string };
/** Without a reply: it was begun. */
type Noted = Kept | { request: string; status?: undefined };

const hash = (...parts: string[]): string => createHash("sha256").update(parts.join("\0")).digest("hex");

/** Null: the request carries no key. */
export function idempotencyId(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (request.method !== "POST" || key === undefined) return null;
  if (typeof key !== "string" || key === "" || key.length > 255)
    throw new ProblemError("invalid_request", "Idempotency-Key must have 1 to 255 characters.");
  return hash(request.caller?.id ?? "", request.url, key);
}

export class Idempotency {
  readonly #log: Log;
  readonly #running = new Map<string, { ended: Promise<void>; end(): void }>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** The kept reply, or null: then the caller must `keep` or `release`. Throws `idempotency_conflict`. */
  async begin(id: string, requestHash: string): Promise<Kept | null> {
    for (;;) {
      const body = await this.#log.documents.get(KIND, id);
      const noted = body === undefined ? null : (JSON.parse(body) as Noted);
      if (noted && noted.request !== requestHash) throw new ProblemError("idempotency_conflict");
      if (noted && noted.status !== undefined) return noted;
      const running = this.#running.get(id);
      if (!running && noted) throw new ProblemError("idempotency_unknown");
      if (!running) break;
      await running.ended;
    }
    this.#note(id, { request: requestHash });
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#running.set(id, { ended, end });
    return null;
  }

  async keep(id: string, kept: Kept): Promise<void> {
    if (!this.#running.has(id)) return;
    try {
      if (kept.status < 500 && kept.body.length <= MAX_KEPT_BYTES) {
        this.#note(id, kept);
        await this.#log.documents.committed();
      } else this.#log.documents.delete(KIND, id);
    } finally {
      this.#end(id);
    }
  }

  /** Nothing came of it: the key is free again. */
  release(id: string): void {
    if (!this.#running.has(id)) return;
    try {
      this.#log.documents.delete(KIND, id);
    } finally {
      this.#end(id);
    }
  }

  #note(id: string, noted: Noted): void {
    this.#log.documents.put(KIND, id, JSON.stringify(noted), {
      expiresAt: Date.now() + KEEP_MS,
      sync: noted.status !== undefined,
    });
  }

  #end(id: string): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    running?.end();
  }
}

/** A body that is a stream has not been read yet, and counts as the same: its key alone says which request it is. */
export const requestHash = ({ body }: FastifyRequest): string =>
  hash(JSON.stringify(body instanceof Readable ? "stream" : (body ?? null)));

/** For all POST routes that answer with JSON. */
export function addIdempotency(app: App, idempotency: Idempotency): void {
  const ids = new WeakMap<FastifyRequest, string>();
  app.addHook("preHandler", async (request, reply) => {
    if (request.routeOptions.config.ownIdempotency) return;
    const id = idempotencyId(request);
    if (id === null) return;
    const kept = await idempotency.begin(id, requestHash(request));
    if (kept) return replay(reply, kept);
    // Not tied to the connection: a client that gave up waiting and tries again must wait for the first attempt, not make a second.
    ids.set(request, id);
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const id = ids.get(request);
    if (id === undefined) return payload;
    const type = String(reply.getHeader("content-type") ?? "");
    const body = typeof payload === "string" || Buffer.isBuffer(payload) ? payload.toString() : "";
    await idempotency.keep(id, { request: requestHash(request), status: reply.statusCode, type, body });
    return payload;
  });
}

function replay(reply: FastifyReply, { status, type, body }: Kept): FastifyReply {
  reply.code(status).header("idempotent-replayed", "true");
  if (type) reply.header("content-type", type);
  return reply.send(body === "" ? undefined : Buffer.from(body));
}
