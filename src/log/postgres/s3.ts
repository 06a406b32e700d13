/**
 * A bucket of an S3-compatible store: objects are put, read in part and removed, over plain HTTP with signed requests. Errors say what is wrong with the configuration, and what to do. What is stored under which name is not
 * known here.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { encoded, type S3Keys, signS3 } from "./s3-signature.ts";

export type S3Place = { endpoint: string; bucket: string; prefix: string; region: string };

/** `refused`: the store answered, and will answer the same again until somebody changes something. `unreachable`: it may answer later. `missing`: there is no such object. */
export type S3Reason = "refused" | "unreachable" | "missing";

export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly reason: S3Reason;

  constructor(reason: S3Reason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

const TIMEOUT_MS = 30_000;
const NOTHING = createHash("sha256").digest("hex");
const DEFAULT_REGION = "us-east-1";

/** `s3://bucket/prefix?endpoint=https://…&region=…`. Keys are those of the environment. Throws what is wrong. */
export function s3From(text: string, env: NodeJS.ProcessEnv): S3 {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "s3:" || !url.hostname)
    throw new Error(
      `A place for artifacts is written s3://bucket/prefix?endpoint=https://…&region=…, not ${JSON.stringify(text)}.`,
    );
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = env;
  if (!accessKeyId || !secretAccessKey)
    throw new Error("Artifacts in S3 need AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.");
  const region = url.searchParams.get("region") ?? env.AWS_REGION ?? DEFAULT_REGION;
  const endpoint = url.searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
  if (!URL.canParse(endpoint)) throw new Error(`The endpoint ${endpoint} of the artifacts is no address.`);
  const prefix = url.pathname.replace(/^\/+|\/+$/g, "");
  return new S3(
    { endpoint, bucket: url.hostname, prefix, region },
    { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) },
  );
}

export class S3 {
  /** For messages. */
  readonly name: string;
  readonly #place: S3Place;
  readonly #keys: S3Keys;

  constructor(place: S3Place, keys: S3Keys) {
    this.#place = place;
    this.#keys = keys;
    this.name = `s3://${place.bucket}${place.prefix === "" ? "" : `/${place.prefix}`} at ${place.endpoint}`;
  }

  async put(key: string, bytes: Buffer): Promise<void> {
    const bodyHash = createHash("sha256").update(bytes).digest("hex");
    await (await this.#ask("PUT", key, { bytes, bodyHash })).arrayBuffer();
  }

  /** From `start` to `end`, both included. */
  async get(key: string, { start, end }: { start: number; end: number }): Promise<Readable> {
    const answer = await this.#ask("GET", key, { headers: { range: `bytes=${start}-${end}` } });
    return answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body as ReadableStream);
  }

  /** Nothing happens when it is not there. */
  async remove(key: string): Promise<void> {
    try {
      await (await this.#ask("DELETE", key)).arrayBuffer();
    } catch (error) {
      if (!(error instanceof S3Error) || error.reason !== "missing") throw error;
    }
  }

  /** Puts, reads and removes a small object. Throws what is wrong. */
  async check(): Promise<void> {
    const key = `check-${Math.random().toString(36).slice(2)}`;
    await this.put(key, Buffer.from("dragoman"));
    const read = await (await this.get(key, { start: 0, end: 7 })).toArray();
    await this.remove(key);
    if (Buffer.concat(read).toString() !== "dragoman")
      throw new S3Error("refused", `${this.name} gave back other bytes than it was given.`);
  }

  async #ask(
    method: string,
    key: string,
    { bytes, bodyHash = NOTHING, headers = {} }: { bytes?: Buffer; bodyHash?: string; headers?: Record<string, string> } = {},
  ): Promise<Response> {
    const { endpoint, bucket, prefix, region } = this.#place;
    const path = [bucket, ...prefix.split("/"), ...key.split("/")]
      .filter((part) => part !== "")
      .map(encoded)
      .join("/");
    const url = new URL(`${endpoint.replace(/\/+$/, "")}/${path}`);
    const signed = signS3({ method, url, headers, bodyHash, region, at: new Date() }, this.#keys);
    const answer = await fetch(url, {
      method,
      headers: signed,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(bytes === undefined ? {} : { body: new Uint8Array(bytes) }),
    }).catch((error: unknown) => {
      throw new S3Error("unreachable", `${this.name} does not answer: ${causeOf(error)}.`, error);
    });
    if (answer.ok) return answer;
    throw this.#refusal(answer.status, await answer.text().catch(() => ""));
  }

  #refusal(status: number, text: string): S3Error {
    const code = /<Code>([^<]+)<\/Code>/.exec(text)?.[1] ?? `status ${status}`;
    const { bucket } = this.#place;
    if (code === "NoSuchBucket")
      return new S3Error("refused", `There is no bucket ${bucket} at ${this.#place.endpoint}: make it, or correct its name.`);
    if (status === 404) return new S3Error("missing", `${this.name} does not have the object.`);
    if (status === 403 || status === 401)
      return new S3Error(
        "refused",
        `${this.name} refuses the keys (${code}): check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the region, and their rights.`,
      );
    return new S3Error(status >= 500 || status === 429 ? "unreachable" : "refused", `${this.name} answered ${code}.`);
  }
}

const causeOf = (error: unknown): string =>
  error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : String(error);
