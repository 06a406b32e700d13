/**
 * `Idempotency-Key` on POSTs: the first reply of a key is kept for a day and given again, to the same request only. Two at once wait for one another.
 * Failures of the daemon's own (5xx) are not kept: trying again is what a client should do then. That a request was begun is written down before it is
 * carried out: one that the daemon died over is not carried out a second time, unless its route finds out by itself what became of it (`config.resumable`). Such a
 * key is never free again: notes of a node that was taken over come late, and must not undo what the next owner did.
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
const MISDIRECTED = 421;

type Kept = { request: string; status: number; type: string; body: string };
/** Without a reply: it was begun. */
type Noted = Kept | { request: string; status?: undefined };

/** Another try may be answered otherwise, here or by another node. */
const isFinal = (status: number): boolean => status < 500 && status !== MISDIRECTED;

const hash = (...parts: string[]): string => createHash("sha256").update(parts.join("\0")).digest("hex");

/** Null: the request carries no key. */
export function idempotencyId(request: FastifyRequest): string | null {
  const key = request.headers["idempotency-key"];
  if (request.method !== "POST" || key === undefined) return null;
  if (typeof key !== "string" || key === "" || key.length > 255)
    throw new ProblemError("invalid_request", "Idempotency-Key must have 1 to 255 characters.");
  return hash(request.caller?.id ?? "", request.url, key);
}

/** `request`: the hash of its body. */
type Running = { request: string; resumable: boolean; ended: Promise<void>; end(): void };

function attempt(request: string, resumable: boolean): Running {
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { request, resumable, ended, end };
}

export class Idempotency {
  readonly #log: Log;
  readonly #running = new Map<string, Running>();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * The kept reply, or null: then the caller must `keep` or `release`. `again`: the same, but it was begun before, and what became of it is not known; only
   * where it is `resumable`. Throws `idempotency_conflict`, `idempotency_unknown`.
   */
  async begin(id: string, requestHash: string, { resumable = false } = {}): Promise<Kept | "again" | null> {
    for (let other = this.#running.get(id); other; other = this.#running.get(id)) {
      if (other.request !== requestHash) throw new ProblemError("idempotency_conflict");
      await other.ended;
    }
    // Before the log is asked: its answer may come after another attempt has begun and ended.
    this.#running.set(id, attempt(requestHash, resumable));
    try {
      const body = await this.#log.documents.get(KIND, id);
      const noted = body === undefined ? null : (JSON.parse(body) as Noted);
      if (noted && noted.request !== requestHash) throw new ProblemError("idempotency_conflict");
      if (noted && noted.status !== undefined) {
        this.#end(id);
        return noted;
      }
      if (noted && !resumable) throw new ProblemError("idempotency_unknown");
      this.#note(id, { request: requestHash });
      return noted ? "again" : null;
    } catch (error) {
      this.#end(id);
      throw error;
    }
  }

  async keep(id: string, kept: Kept): Promise<void> {
    const running = this.#running.get(id);
    if (!running) return;
    try {
      if (isFinal(kept.status) && kept.body.length <= MAX_KEPT_BYTES) {
        this.#note(id, kept);
        await this.#log.documents.committed();
      } else if (!running.resumable) this.#log.documents.delete(KIND, id);
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

/** Of requests that are being carried out. `again`: it was begun before. */
const keys = new WeakMap<FastifyRequest, { id: string; again: boolean }>();
export const keyOf = (request: FastifyRequest): { id: string; again: boolean } | undefined => keys.get(request);

/** For all POST routes that answer with JSON. */
export function addIdempotency(app: App, idempotency: Idempotency): void {
  app.addHook("preHandler", async (request, reply) => {
    const { ownIdempotency, resumable = false } = request.routeOptions.config;
    if (ownIdempotency) return;
    const id = idempotencyId(request);
    if (id === null) return;
    const kept = await idempotency.begin(id, requestHash(request), { resumable });
    if (kept !== null && kept !== "again") return replay(reply, kept);
    // Not tied to the connection: a client that gave up waiting and tries again must wait for the first attempt, not make a second.
    keys.set(request, { id, again: kept === "again" });
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const id = keys.get(request)?.id;
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
