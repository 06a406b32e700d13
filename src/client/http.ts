// Requests to the daemon: JSON in, JSON out, problems as DragomanError. Works wherever fetch does.
import type { Problem } from "../schema/session.ts";
import { DragomanError } from "./error.ts";

export type HttpOptions = {
  url: string;
  /** A function is asked before each request: for a token that changes. */
  token?: string | (() => string | undefined);
  fetch?: typeof fetch;
  /** What the events of this client's commands name as their surface. Default `sdk`. */
  client?: "cli" | "sdk" | "mcp";
  /** The mark of the agent this program runs in, or works for: it then has an agent's rights. Default in Node: DRAGOMAN_PROCESS. */
  agentMark?: string | undefined;
};

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export type RequestOptions = {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  /** Instead of `body`: sent as it is. */
  payload?: { type: string; body: string | Blob | ReadableStream<Uint8Array> };
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
};

/** The last argument of every method that creates something: a signal, or a signal and a key. */
export type Call = AbortSignal | { signal?: AbortSignal | undefined; idempotencyKey?: string | undefined };

/** The same key sent again within a day gets the first answer again, and nothing is done twice. */
export function callOptions(call: Call | undefined): Pick<RequestOptions, "signal" | "headers"> {
  if (call === undefined) return {};
  if ("aborted" in call) return { signal: call };
  const { signal, idempotencyKey } = call;
  return { signal, ...(idempotencyKey === undefined ? {} : { headers: { "idempotency-key": idempotencyKey } }) };
}

const TRIES = 3;

export class Http {
  readonly #options: HttpOptions;

  constructor(options: HttpOptions) {
    const agentMark = options.agentMark ?? (typeof process === "undefined" ? undefined : process.env?.DRAGOMAN_PROCESS);
    this.#options = { ...options, agentMark, url: options.url.replace(/\/+$/, "") };
  }

  get url(): string {
    return this.#options.url;
  }

  #token(): string | undefined {
    const { token } = this.#options;
    return typeof token === "function" ? token() : token;
  }

  /** What a WebSocket needs: it takes no headers, so the token travels among the offered protocols. */
  socket(path: string, query: Query = {}): { url: string; protocols: string[] } {
    const token = this.#token();
    return {
      url: this.address(path, query).replace(/^http/, "ws"),
      protocols: ["dragoman.v1", ...(token === undefined ? [] : [`token.${token}`])],
    };
  }

  address(path: string, query: Query = {}): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) search.set(name, typeof value === "object" ? value.join(",") : String(value));
    }
    const text = search.toString();
    return `${this.#options.url}${path}${text ? `?${text}` : ""}`;
  }

  /** The answer itself, for streams and files; throws for every status that is not success. */
  async open(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const token = this.#token();
    const { client, agentMark } = this.#options;
    const headers: Record<string, string> = { "dragoman-client": client ?? "sdk", ...options.headers };
    if (agentMark) headers["dragoman-agent"] = agentMark;
    if (token !== undefined) headers.authorization = `Bearer ${token}`;
    const payload =
      options.body === undefined ? options.payload : { type: "application/json", body: JSON.stringify(options.body) };
    if (payload) headers["content-type"] = payload.type;
    const ask = (): Promise<Response> =>
      (this.#options.fetch ?? fetch)(this.address(path, options.query), {
        method,
        headers,
        // A stream needs `duplex`, which the DOM's types do not know yet.
        ...(payload ? { body: payload.body, ...(payload.body instanceof ReadableStream ? { duplex: "half" } : {}) } : {}),
        ...(options.signal ? { signal: options.signal } : {}),
      });
    let response: Response;
    try {
      // The daemon closes connections that rest when it has too many: a question that met that is asked again, on a new one.
      response = await ask().catch((error: unknown) => (method === "GET" && wasClosed(error) ? ask() : Promise.reject(error)));
      // The request did not come through in time, on a machine with too much to do: nothing of it was done, and the connection is closed.
      for (let tries = 1; response.status === 408 && tries < TRIES && !(payload?.body instanceof ReadableStream); tries++)
        response = await ask();
    } catch (error) {
      if (options.signal?.aborted) throw new DragomanError("aborted", "The request was aborted.", { cause: error });
      throw new DragomanError(
        "unreachable",
        `No answer from ${this.#options.url}. Is the daemon running? Start it with \`dragoman serve\`.`,
        { cause: error },
      );
    }
    if (response.ok) return response;
    throw await problemOf(response);
  }

  async json<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const response = await this.open(method, path, options);
    if (response.status === 204) return undefined as T;
    try {
      const text = await response.text();
      // What is only accepted (a drain, a move) has nothing to say.
      return (text === "" && response.status === 202 ? undefined : JSON.parse(text)) as T;
    } catch (error) {
      throw new DragomanError("bad_answer", `${method} ${path} did not answer with JSON. Is there a proxy between?`, {
        status: response.status,
        cause: error,
      });
    }
  }
}

async function problemOf(response: Response): Promise<DragomanError> {
  const text = await response.text().catch(() => "");
  try {
    const problem = JSON.parse(text) as Problem;
    if (typeof problem.code === "string")
      return new DragomanError(problem.code, problem.detail, { status: response.status, problem });
  } catch {
    // not a problem document: reported below
  }
  return new DragomanError("bad_answer", `The daemon answered ${response.status}: ${text.slice(0, 200)}`, {
    status: response.status,
  });
}

/** The connection was closed before an answer came, as Node says it. */
const wasClosed = (error: unknown): boolean =>
  error instanceof Error && /^(UND_ERR_SOCKET|ECONNRESET|EPIPE)$/.test(String((error.cause as { code?: unknown })?.code));
