/**
 * A server behind an address. Streamable HTTP: each message is a POST whose answer is JSON or an event stream, and a GET stream carries what the server says by
 * itself. `sse`: the older form, one GET stream that names the address for all POSTs. Redirects are not followed: headers may hold keys.
 */
import { arrayOf, isObject, type JsonObject, parseJson } from "../../openresponses/json.ts";
import { SseReader } from "../../openresponses/sse-reader.ts";
import { MAX_MESSAGE_BYTES, type McpHandlers, type McpTransport } from "./transport.ts";

const SESSION_HEADER = "mcp-session-id";
const ENDPOINT_MS = 10_000;
const CLOSE_MS = 1_000;

export interface HttpOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly form: "http" | "sse";
}

export class HttpTransport implements McpTransport {
  readonly #options: HttpOptions;
  readonly #life = new AbortController();
  #handlers: McpHandlers | null = null;
  #postTo: string;
  #session: string | null = null;
  #version: string | null = null;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#postTo = options.url;
  }

  async open(handlers: McpHandlers): Promise<void> {
    this.#handlers = handlers;
    if (this.#options.form !== "sse") return;
    const response = await this.#fetch(this.#options.url, { headers: { accept: "text/event-stream" } });
    if (!response.ok) throw new Error(await refusal(response));
    await new Promise<void>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error("it did not name the address for messages")), ENDPOINT_MS);
      const onEndpoint = (path: string): void => {
        clearTimeout(late);
        const url = new URL(path, this.#options.url);
        // Another host would get the headers, which may hold keys.
        if (url.origin !== new URL(this.#options.url).origin) return reject(new Error("it names an address on another host"));
        this.#postTo = url.href;
        resolve();
      };
      void this.#read(response, onEndpoint).then(
        () => this.#closed("it closed its stream"),
        (error: unknown) => {
          reject(error);
          this.#closed(String(error));
        },
      );
    });
  }

  async send(message: JsonObject, signal?: AbortSignal): Promise<void> {
    const response = await this.#fetch(this.#postTo, {
      method: "POST",
      headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
      body: JSON.stringify(message),
      ...(signal === undefined ? {} : { signal: AbortSignal.any([signal, this.#life.signal]) }),
    });
    this.#session = response.headers.get(SESSION_HEADER) ?? this.#session;
    if (!response.ok) {
      const why = await refusal(response);
      if (response.status === 404 && this.#session !== null) this.#closed("it has forgotten the session");
      throw new Error(why);
    }
    const type = response.headers.get("content-type") ?? "";
    if (response.status === 202 || this.#options.form === "sse") return void (await response.body?.cancel());
    // The answer comes when it comes: whoever waits for it has a time limit of its own.
    if (type.startsWith("text/event-stream"))
      return void this.#read(response).catch((error: unknown) => this.#cut(message, error));
    const text = await bounded(response);
    const value = parseJson(text);
    for (const one of Array.isArray(value) ? arrayOf(value) : [value]) if (isObject(one)) this.#handlers?.onMessage(one);
  }

  /** From here on the server may speak by itself. One that offers no stream for it says 405. */
  negotiated(version: string): void {
    this.#version = version;
    if (this.#options.form === "sse") return;
    const listen = async (): Promise<void> => {
      const response = await this.#fetch(this.#options.url, { headers: { accept: "text/event-stream" } });
      if (response.ok && (response.headers.get("content-type") ?? "").startsWith("text/event-stream")) await this.#read(response);
      else await response.body?.cancel();
    };
    // It may end at any time; answers come on streams of their own.
    listen().catch(() => {});
  }

  async close(): Promise<void> {
    this.#handlers = null;
    if (this.#session !== null && !this.#life.signal.aborted)
      await this.#fetch(this.#options.url, { method: "DELETE", signal: AbortSignal.timeout(CLOSE_MS) }).then(
        (response) => response.body?.cancel(),
        () => {},
      );
    this.#life.abort();
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const own: Record<string, string> = { ...this.#options.headers };
    if (this.#session !== null) own[SESSION_HEADER] = this.#session;
    if (this.#version !== null) own["mcp-protocol-version"] = this.#version;
    const headers = { ...own, ...(init.headers as Record<string, string> | undefined) };
    try {
      const response = await fetch(url, { signal: this.#life.signal, ...init, headers, redirect: "manual" });
      if (response.status < 300 || response.status > 399) return response;
      throw new Error(`it redirects to ${response.headers.get("location") ?? "another address"}: use that address`);
    } catch (error) {
      const { cause } = error as { cause?: unknown };
      throw cause instanceof Error ? new Error(cause.message === "" ? "it cannot be reached" : cause.message) : error;
    }
  }

  async #read(response: Response, onEndpoint?: (path: string) => void): Promise<void> {
    const reader = new SseReader({
      maxBlockBytes: MAX_MESSAGE_BYTES,
      onBlock: ({ event, data }) => {
        if (data === null) return;
        if (event === "endpoint") return onEndpoint?.(data);
        const message = parseJson(data);
        for (const one of Array.isArray(message) ? arrayOf(message) : [message])
          if (isObject(one)) this.#handlers?.onMessage(one);
      },
    });
    for await (const chunk of response.body ?? []) reader.push(Buffer.from(chunk));
  }

  /** The stream with the answer to a request broke: the request will never be answered. */
  #cut(request: JsonObject, error: unknown): void {
    if (request.id === undefined || this.#life.signal.aborted) return;
    const message = `the connection was lost: ${error instanceof Error ? error.message : String(error)}`;
    this.#handlers?.onMessage({ jsonrpc: "2.0", id: request.id, error: { code: -32_000, message } });
  }

  #closed(why: string): void {
    const handlers = this.#handlers;
    this.#handlers = null;
    handlers?.onClose(why);
  }
}

async function bounded(response: Response): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(Buffer.from(chunk));
    bytes += chunk.length;
    if (bytes > MAX_MESSAGE_BYTES) throw new Error(`it sent a message of more than ${MAX_MESSAGE_BYTES} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function refusal(response: Response): Promise<string> {
  const text = (await bounded(response).catch(() => "")).replace(/\s+/g, " ").slice(0, 200);
  const advice = response.status === 401 || response.status === 403 ? " (its headers need a valid key)" : "";
  return `it answered ${response.status}${advice}${text === "" ? "" : `: ${text}`}`;
}
