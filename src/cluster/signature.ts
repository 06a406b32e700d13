/**
 * How nodes know one another: a request between nodes carries a signature made with the secret of the cluster, over its method, path, body, the moment, both nodes and the caller it is made
 * for, and a number used once. So nobody without the secret can act as a node, change what a node asked for, raise the caller's role, or send the same again (`SeenRequests`), later or to another node. It opens
 * nothing but `/internal/`, and a client's token does not open that.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { deflateRawSync, inflateRawSync } from "node:zlib";

export const INTERNAL = "/internal/v1/";
/** How far the clocks of two nodes may be apart, and how old a request may be. */
export const WINDOW_MS = 60_000;
/** Shorter ones can be guessed. */
export const SECRET_CHARS = 32;

const NAMES = {
  from: "x-dragoman-from",
  to: "x-dragoman-to",
  time: "x-dragoman-time",
  body: "x-dragoman-body",
  caller: "x-dragoman-caller",
  once: "x-dragoman-once",
  signature: "x-dragoman-signature",
} as const;
export const SIGNED_HEADERS: readonly string[] = Object.values(NAMES);

export type SignedRequest = { method: string; path: string; headers: IncomingHttpHeaders };

/** What a node says with a request. `caller`: whom it asks for, as JSON; empty: for itself. */
export type NodeMessage = { from: string; to: string; caller: string; bodyHash: string };
type Signed = Record<"from" | "to" | "time" | "body" | "caller" | "once", string>;

export const hashOf = (body: Buffer | string): string => createHash("sha256").update(body).digest("hex");

export class NodeSecret {
  readonly #key: Buffer;

  constructor(secret: string) {
    if (secret.length < SECRET_CHARS) throw new Error(`The secret of a cluster has at least ${SECRET_CHARS} characters.`);
    this.#key = createHash("sha256").update("dragoman node\0").update(secret).digest();
  }

  /** Headers for a request to a node. */
  sign(method: string, path: string, message: NodeMessage, now: number): Record<string, string> {
    const caller = written(message.caller);
    const once = randomBytes(12).toString("base64url");
    const said = { from: message.from, to: message.to, time: String(now), body: message.bodyHash, caller, once };
    return {
      [NAMES.from]: said.from,
      [NAMES.to]: said.to,
      [NAMES.time]: said.time,
      [NAMES.body]: said.body,
      [NAMES.caller]: said.caller,
      [NAMES.once]: said.once,
      [NAMES.signature]: this.#signature(method, path, said).toString("hex"),
    };
  }

  /** Null: it does not come from a node of this cluster, is too old, or is not for this node. The body is still to be compared with `bodyHash`. */
  read({ method, path, headers }: SignedRequest, me: string, now: number, seen: SeenRequests): NodeMessage | null {
    const [from, to, time, body, caller, once, signature] = SIGNED_HEADERS.map((name) => headers[name]);
    if (typeof from !== "string" || typeof to !== "string" || typeof time !== "string" || typeof body !== "string") return null;
    if (typeof caller !== "string" || typeof once !== "string" || typeof signature !== "string") return null;
    const given = Buffer.from(signature, "hex");
    const right = this.#signature(method, path, { from, to, time, body, caller, once });
    if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
    if (to !== me || !(Math.abs(now - Number(time)) <= WINDOW_MS)) return null;
    if (!seen.isFirst(signature, now)) return null;
    return { from, to, caller: read(caller), bodyHash: body };
  }

  #signature(method: string, path: string, said: Signed): Buffer {
    const parts = [method, path, said.body, said.time, said.from, said.to, said.caller, said.once];
    return createHmac("sha256", this.#key).update(parts.join("\n")).digest();
  }
}

/** A caller may name a hundred directories, and all headers together have 32 kB: a long one is compressed, which the dot says. */
const LONG_CHARS = 4 * 1024;
const MAX_CALLER_BYTES = 1024 * 1024;

const written = (caller: string): string =>
  caller.length <= LONG_CHARS ? Buffer.from(caller).toString("base64url") : `.${deflateRawSync(caller).toString("base64url")}`;

function read(caller: string): string {
  if (!caller.startsWith(".")) return Buffer.from(caller, "base64url").toString();
  return inflateRawSync(Buffer.from(caller.slice(1), "base64url"), { maxOutputLength: MAX_CALLER_BYTES }).toString();
}

/**
 * Signatures that were taken: none is taken twice, for as long as its time would let it in. Clocks may be a window apart either way, so each is remembered for two windows, in two halves of which the older is thrown
 * away whole. A node that starts again has forgotten them: what was sent to the life before it can be sent once more within the window.
 */
export class SeenRequests {
  #now = new Set<string>();
  #before = new Set<string>();
  #since = Number.NEGATIVE_INFINITY;

  isFirst(signature: string, now: number): boolean {
    if (now - this.#since > 2 * WINDOW_MS) {
      this.#before = now - this.#since > 4 * WINDOW_MS ? new Set() : this.#now;
      this.#now = new Set();
      this.#since = now;
    }
    if (this.#now.has(signature) || this.#before.has(signature)) return false;
    this.#now.add(signature);
    return true;
  }
}
