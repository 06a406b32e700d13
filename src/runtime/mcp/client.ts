/**
 * Speaks the Model Context Protocol with one server: says hello, lists its tools, calls them, answers what it asks. It knows no tool of ours and no session. A
 * server that has ended can be opened again; a call is never repeated.
 */
import { arrayOf, isObject, type JsonObject, numberOf, objectOf, textOf } from "../../openresponses/json.ts";
import type { McpTransport } from "./transport.ts";

export const PROTOCOL_VERSION = "2025-06-18";
const PAGES = 50;
const METHOD_NOT_FOUND = -32_601;
const INTERNAL_ERROR = -32_603;

/** A tool as its server describes it. */
export interface McpToolInfo {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

export interface McpClientOptions {
  readonly transport: () => McpTransport;
  /** Where the session works: what the server may ask as its roots. */
  readonly directory: string;
  readonly version: string;
  readonly startMs: number;
  readonly callMs: number;
  /** What the server asks the person, until the signal says that nobody waits for the answer. */
  readonly elicit?: (params: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  /** Its list of tools has changed. */
  readonly onTools?: () => void;
  /** It has ended by itself. */
  readonly onEnded?: (why: string) => void;
}

type Waiting = { resolve(result: JsonObject): void; reject(error: Error): void; touch(): void };

/** What the server says about a request, or why there will be no answer. */
export class McpError extends Error {}

export class McpClient {
  readonly #options: McpClientOptions;
  readonly #waiting = new Map<number, Waiting>();
  /** What the server waits for the person with, by the id of its request. */
  readonly #questions = new Map<unknown, AbortController>();
  #transport: McpTransport | null = null;
  #opening: Promise<void> | null = null;
  #ids = 0;
  #closed = false;
  /** What it says to a model about its tools. */
  instructions: string | null = null;

  constructor(options: McpClientOptions) {
    this.#options = options;
  }

  get connected(): boolean {
    return this.#transport !== null && this.#opening === null;
  }

  /** Starts the server unless it runs. */
  open(): Promise<void> {
    if (this.#closed) return Promise.reject(new McpError("the session is closed"));
    if (this.connected) return Promise.resolve();
    this.#opening ??= this.#hello().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async tools(): Promise<McpToolInfo[]> {
    const found: McpToolInfo[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES; page++) {
      const result = await this.#request("tools/list", cursor === undefined ? {} : { cursor }, this.#options.startMs);
      for (const tool of arrayOf(result.tools).filter(isObject)) {
        const name = textOf(tool.name);
        if (name === undefined || name === "") continue;
        const schema = objectOf(tool.inputSchema);
        found.push({
          name,
          description: textOf(tool.description) ?? textOf(tool.title) ?? "",
          inputSchema: { type: "object", ...schema },
        });
      }
      cursor = textOf(result.nextCursor);
      if (cursor === undefined || cursor === "") break;
    }
    return found;
  }

  /** Rejects when the server refuses, ends, or says nothing for too long. A progress message counts as a sign of life. */
  async call(name: string, args: JsonObject, signal: AbortSignal, onProgress?: (text: string) => void): Promise<JsonObject> {
    await this.open();
    return this.#request("tools/call", { name, arguments: args }, this.#options.callMs, signal, onProgress);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const transport = this.#transport;
    this.#transport = null;
    this.#fail("the session is closed");
    await transport?.close();
  }

  async #hello(): Promise<void> {
    const { transport: make, version, startMs } = this.#options;
    const transport = make();
    this.#transport = transport;
    try {
      await transport.open({
        onMessage: (message) => this.#receive(message),
        onClose: (why) => this.#ended(transport, why),
      });
      const params = {
        protocolVersion: PROTOCOL_VERSION,
        capabilities: { roots: {}, ...(this.#options.elicit === undefined ? {} : { elicitation: {} }) },
        clientInfo: { name: "dragoman", version },
      };
      const result = await this.#request("initialize", params, startMs);
      this.instructions = textOf(result.instructions) ?? null;
      transport.negotiated(textOf(result.protocolVersion) ?? PROTOCOL_VERSION);
      await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      if (this.#closed) throw new McpError("the session is closed");
    } catch (error) {
      if (this.#transport === transport) this.#transport = null;
      void transport.close().catch(() => {});
      throw error;
    }
  }

  #ended(transport: McpTransport, why: string): void {
    if (this.#transport !== transport) return;
    this.#transport = null;
    this.#fail(why);
    void transport.close().catch(() => {});
    if (this.#opening === null) this.#options.onEnded?.(why);
  }

  #fail(why: string): void {
    this.#withdraw();
    for (const { reject } of [...this.#waiting.values()]) reject(new McpError(why));
  }

  /** A person is not asked what nobody waits for any more. */
  #withdraw(): void {
    for (const question of this.#questions.values()) question.abort();
  }

  #request(
    method: string,
    params: JsonObject,
    timeoutMs: number,
    signal?: AbortSignal,
    onProgress?: (text: string) => void,
  ): Promise<JsonObject> {
    const transport = this.#transport;
    if (transport === null) return Promise.reject(new McpError("it does not run"));
    const id = ++this.#ids;
    const sending = new AbortController();
    return new Promise((resolve, reject) => {
      const end = (settle: () => void, reason?: string): void => {
        if (!this.#waiting.delete(id)) return;
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
        this.#progress.delete(id);
        if (reason !== undefined) {
          sending.abort();
          const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id, reason } };
          transport.send(cancelled).catch(() => {});
        }
        settle();
      };
      const late = (): void => {
        const message = `it did not answer within ${Math.round(timeoutMs / 1000)} seconds`;
        end(() => reject(new McpError(message)), "timeout");
      };
      const onAbort = (): void => {
        this.#withdraw();
        end(() => reject(new McpError("interrupted")), "interrupted by the user");
      };
      let timer = setTimeout(late, timeoutMs);
      this.#waiting.set(id, {
        resolve: (result) => end(() => resolve(result)),
        reject: (error) => end(() => reject(error)),
        touch: () => {
          clearTimeout(timer);
          timer = setTimeout(late, timeoutMs);
        },
      });
      if (onProgress !== undefined) this.#progress.set(id, onProgress);
      if (signal?.aborted) return onAbort();
      signal?.addEventListener("abort", onAbort, { once: true });
      const meta = onProgress === undefined ? {} : { _meta: { progressToken: id } };
      transport.send({ jsonrpc: "2.0", id, method, params: { ...params, ...meta } }, sending.signal).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        end(() => reject(new McpError(why)));
      });
    });
  }

  readonly #progress = new Map<number, (text: string) => void>();

  #receive(message: JsonObject): void {
    const method = textOf(message.method);
    if (method === undefined) return this.#answered(message);
    const params = objectOf(message.params);
    if (message.id !== undefined && message.id !== null) return void this.#asked(message.id, method, params);
    if (method === "notifications/tools/list_changed") this.#options.onTools?.();
    if (method === "notifications/cancelled") this.#questions.get(params.requestId)?.abort();
    if (method !== "notifications/progress") return;
    const id = numberOf(params.progressToken) ?? -1;
    this.#waiting.get(id)?.touch();
    const text = textOf(params.message);
    if (text !== undefined) this.#progress.get(id)?.(text);
  }

  #answered(message: JsonObject): void {
    const waiting = this.#waiting.get(numberOf(message.id) ?? -1);
    if (waiting === undefined) return;
    if (!isObject(message.error)) return waiting.resolve(objectOf(message.result));
    waiting.reject(new McpError(textOf(message.error.message) ?? JSON.stringify(message.error)));
  }

  /** What the server asks of us. Everything gets an answer, so that nothing waits for ever. */
  async #asked(id: unknown, method: string, params: JsonObject): Promise<void> {
    const transport = this.#transport;
    let answer: JsonObject;
    try {
      const result = await this.#resultFor(id, method, params);
      const refused = { error: { code: METHOD_NOT_FOUND, message: `this client has no ${method}` } };
      answer = { jsonrpc: "2.0", id, ...(result === null ? refused : { result }) };
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      answer = { jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message: text } };
    }
    await transport?.send(answer).catch(() => {});
  }

  async #resultFor(id: unknown, method: string, params: JsonObject): Promise<JsonObject | null> {
    if (method === "ping") return {};
    if (method === "roots/list") {
      const { directory } = this.#options;
      return { roots: [{ uri: `file://${encodeURI(directory)}`, name: directory.slice(directory.lastIndexOf("/") + 1) }] };
    }
    if (method !== "elicitation/create" || this.#options.elicit === undefined) return null;
    // A person takes their time: the call that waits for them must not run out of its own.
    const alive = setInterval(() => this.#touchAll(), 1_000);
    const question = new AbortController();
    this.#questions.set(id, question);
    try {
      return await this.#options.elicit(params, question.signal);
    } finally {
      clearInterval(alive);
      this.#questions.delete(id);
    }
  }

  #touchAll(): void {
    for (const waiting of this.#waiting.values()) waiting.touch();
  }
}
