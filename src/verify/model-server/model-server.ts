// A model provider on loopback that plays scenarios: real agents talk to it as if it were Anthropic, OpenAI or Google.
// It needs no account and reaches no network.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Scenario } from "../../agents/scenario.ts";
import type { ToolProfile } from "../scenario/tool-names.ts";
import { chaosStep } from "./chaos.ts";
import { deliver, sendJson } from "./deliver.ts";
import { isObject, type JsonObject, parseJson } from "./json.ts";
import { LIKENESSES, type Likeness, previousRefusal } from "./likeness.ts";
import { estimateTokens, type HttpCall, type ModelRequest, type ProtocolName, type ToolChoice } from "./model-request.ts";
import { offeredStep } from "./offered-tools.ts";
import { type NoPlay, type Play, Playbook } from "./playbook.ts";
import { callId, locate, type Position } from "./position.ts";
import { anthropic } from "./protocols/anthropic.ts";
import { chat } from "./protocols/chat.ts";
import { gemini } from "./protocols/gemini.ts";
import type { Protocol } from "./protocols/protocol.ts";
import { responses } from "./protocols/responses.ts";
import { readBody } from "./read-body.ts";
import { type RecordedRequest, RequestLog } from "./recorded-request.ts";
import { makeReply } from "./reply.ts";
import { type SocketAnswer, serveSockets } from "./responses-socket.ts";
import { type Route, route } from "./route.ts";
import { compaction, modelList, tokenCount } from "./side-answers.ts";
import { sideCall } from "./side-call.ts";
import { profileOf } from "./tool-profile.ts";
import { variablesFor } from "./variables.ts";

const PROTOCOLS: Record<ProtocolName, Protocol> = { anthropic, responses, chat, gemini };

export interface ModelServerOptions {
  readonly scenarios: Iterable<Scenario> | ReadonlyMap<string, Scenario>;
  /** The scenario of prompts without a marker. */
  readonly default?: string;
  /** Loopback unless said otherwise. */
  readonly host?: string;
  readonly port?: number;
  /** Values for `{{name}}` in scenarios. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Name tools for this agent, instead of recognising it by the tools on offer. */
  readonly profile?: ToolProfile;
  /** How many requests are remembered (default 1000). */
  readonly remember?: number;
  readonly log?: (request: RecordedRequest) => void;
  /** Prompts without a marker are answered at random, by this seed. */
  readonly chaos?: string;
  /** Prompts without a marker that come with tools are answered with a call of the first one. */
  readonly callsTools?: boolean;
  /** The Responses protocol as another server speaks it: an id of `LIKENESSES`. */
  readonly like?: string;
  /** Streams of the Responses protocol end in `[DONE]`, as the specification has it; OpenAI's do not. */
  readonly doneMark?: boolean;
}

export interface ModelServer {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** The newest requests, oldest first. */
  readonly requests: readonly RecordedRequest[];
  waitForRequest(predicate: (request: RecordedRequest) => boolean, signal?: AbortSignal): Promise<RecordedRequest>;
  /** Ends every connection, the hanging ones too. */
  close(): Promise<void>;
}

export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const host = options.host ?? "127.0.0.1";
  const desk = new Desk(options);
  const server = createServer((request, response) => {
    desk.handle(request, response).catch((error: unknown) => fail(response, error));
  });
  const sockets = serveSockets(server, desk.speaksSockets, (body, request) => desk.answerSocket(body, request));
  const port = await listen(server, host, options.port ?? 0);
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    port,
    requests: desk.log.requests,
    waitForRequest: (predicate, signal) => desk.log.wait(predicate, signal),
    close: () => {
      desk.log.close();
      sockets.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

class Desk {
  readonly log: RequestLog;
  readonly #options: ModelServerOptions;
  readonly #playbook: Playbook;
  readonly #like: Likeness | null;
  #serial = 0;

  constructor(options: ModelServerOptions) {
    this.#options = options;
    this.#like = likenessOf(options.like);
    this.#playbook = new Playbook(byName(options.scenarios), options.default);
    this.log = new RequestLog(options.remember ?? 1000);
  }

  get speaksSockets(): boolean {
    return this.#like?.websocket ?? true;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    const url = new URL(request.url ?? "/", "http://localhost");
    const asked = route(request.method ?? "GET", url.pathname);
    const body = text === "" ? undefined : (parseJson(text) ?? text);
    const call: HttpCall = {
      path: url.pathname,
      query: url.searchParams,
      headers: plainHeaders(request),
      body: isObject(body) ? body : {},
    };
    const facts: Facts = { method: request.method ?? "GET", path: request.url ?? "/", headers: call.headers, body };
    if (asked.kind === "generate") return this.#generate(this.#spoken(PROTOCOLS[asked.protocol]), call, facts, response);
    this.#record(facts, {});
    if (asked.kind === "compact" && this.#like?.compact === false) return this.#simple({ kind: "unknown" }, call, response);
    this.#simple(asked, call, response);
  }

  /** The protocol as the server speaks it that this one is to be like. */
  #spoken(protocol: Protocol): Protocol {
    const like = this.#like;
    if (like === null || protocol.name !== "responses") return protocol;
    return { ...protocol, frames: (reply, request) => like.frames(protocol.frames(reply, request)) };
  }

  async #generate(protocol: Protocol, call: HttpCall, facts: Facts, response: ServerResponse): Promise<void> {
    if (!isObject(facts.body)) {
      this.#record(facts, { protocol: protocol.name });
      return sendJson(response, 400, protocol.error(400, "The body is not a JSON object."));
    }
    const like = protocol.name === "responses" ? this.#like : null;
    const refused = like === null ? null : previousRefusal(like, call.body);
    if (refused !== null) {
      this.#record(facts, { protocol: protocol.name });
      return sendJson(response, 400, protocol.error(400, refused));
    }
    const parsed = protocol.parse(call);
    const request = like?.toolChoice === false ? { ...parsed, choice: NO_CHOICE, forced_tool: undefined } : parsed;
    const play = this.#play(request);
    const seen = {
      protocol: protocol.name,
      model: request.model,
      history: request.history,
      tools: request.tools.map((tool) => tool.name),
    };
    if (play.kind === "none") {
      this.#record(facts, { ...seen, scenario: play.scenario });
      return sendJson(response, 400, protocol.error(400, play.message));
    }
    const { step, fault, attempt, position, side, past_end } = play;
    const reply = makeReply(step, this.#replyContext(protocol, request, position, call));
    this.#record(facts, { ...seen, side, scenario: position?.scenario, position, attempt, past_end });
    const done = protocol.name === "responses" && (like?.doneMark ?? this.#options.doneMark ?? false);
    await deliver({ response, protocol, request, reply, step, fault, done });
  }

  /** A prompt that names no scenario is answered at random, or with a call, where that was asked for. */
  #play(request: ModelRequest): Play | NoPlay {
    const { chaos, callsTools } = this.#options;
    const named = locate(request, undefined) !== undefined || sideCall(request) !== undefined;
    const step = named
      ? undefined
      : chaos !== undefined
        ? chaosStep(chaos, request)
        : callsTools
          ? offeredStep(request)
          : undefined;
    return step === undefined ? this.#playbook.play(request) : this.#playbook.improvised(step, request);
  }

  /** The same answers over a WebSocket, whole: a script's delays and half answers are of HTTP. */
  answerSocket(body: JsonObject, request: IncomingMessage): SocketAnswer {
    const call: HttpCall = { path: "/v1/responses", query: new URLSearchParams(), headers: plainHeaders(request), body };
    const facts: Facts = { method: "WS", path: request.url ?? "/", headers: call.headers, body };
    const asked = responses.parse(call);
    const play = this.#play(asked);
    if (play.kind === "none") {
      this.#record(facts, { protocol: "responses", model: asked.model, scenario: play.scenario });
      return { status: 400, error: { type: "invalid_request", code: "invalid_request", message: play.message, param: null } };
    }
    const { step, fault, attempt, position, side, past_end } = play;
    this.#record(facts, { protocol: "responses", model: asked.model, history: asked.history, side, position, attempt, past_end });
    const reply = makeReply(step, this.#replyContext(responses, asked, position, call));
    if (fault === undefined) return { events: responses.frames(reply, asked).map(({ data }) => data) };
    const failed = fault.kind === "failed" ? fault : { code: "server_error", message: `Scripted fault: ${fault.kind}.` };
    return { events: responses.failed(reply, failed.code, failed.message ?? "Scripted failure.").map(({ data }) => data) };
  }

  #replyContext(protocol: Protocol, request: ModelRequest, position: Position | undefined, call: HttpCall) {
    const place = position ?? { turn: 0, step: 0 };
    return {
      protocol: protocol.name,
      profile: this.#options.profile ?? profileOf(request, call.headers["user-agent"] ?? ""),
      model: request.model,
      input_tokens: estimateTokens(request),
      variables: variablesFor(request, this.#options.variables ?? {}),
      id: (kind: "reply" | "call", block: number): string => {
        this.#serial += 1;
        if (kind === "call") return callId(protocol.callPrefix, place, block, this.#serial);
        return `${protocol.replyPrefix}_${String(this.#serial).padStart(6, "0")}`;
      },
    };
  }

  #simple(asked: Exclude<Route, { kind: "generate" }>, call: HttpCall, response: ServerResponse): void {
    switch (asked.kind) {
      case "count_tokens":
        sendJson(response, 200, tokenCount(asked.protocol, estimateTokens(PROTOCOLS[asked.protocol].parse(call))));
        break;
      case "models":
        sendJson(response, 200, modelList(asked.model, call));
        break;
      case "embed":
        sendJson(response, 200, { embedding: { values: [0, 0, 0] }, embeddings: [{ values: [0, 0, 0] }] });
        break;
      case "compact": {
        if (typeof call.body.model !== "string") {
          sendJson(response, 400, responses.error(400, "A request needs the name of a model: send `model`."));
          break;
        }
        const request = responses.parse(call);
        sendJson(response, 200, compaction(locate(request, this.#options.default), estimateTokens(request)));
        break;
      }
      case "health":
        sendJson(response, 200, { status: "ok" });
        break;
      case "unknown":
        sendJson(response, 404, {
          type: "error",
          error: { type: "not_found_error", code: 404, message: `Nothing at ${call.path}.` },
        });
        break;
      default:
        asked satisfies never;
    }
  }

  #record(facts: Facts, known: Partial<RecordedRequest>): void {
    const request = this.log.add({
      ...facts,
      protocol: undefined,
      model: undefined,
      side: undefined,
      scenario: undefined,
      position: undefined,
      attempt: 1,
      past_end: false,
      history: [],
      tools: [],
      ...known,
    });
    this.#options.log?.(request);
  }
}

const NO_CHOICE: ToolChoice = { only: null, must: false };

function likenessOf(id: string | undefined): Likeness | null {
  if (id === undefined) return null;
  const like = Object.hasOwn(LIKENESSES, id) ? LIKENESSES[id] : undefined;
  if (like === undefined)
    throw new Error(`Nothing is known of a server "${id}": name one of ${Object.keys(LIKENESSES).join(", ")}.`);
  return like;
}

type Facts = Pick<RecordedRequest, "method" | "path" | "headers" | "body">;

function byName(scenarios: ModelServerOptions["scenarios"]): ReadonlyMap<string, Scenario> {
  const list = scenarios instanceof Map ? [...scenarios.values()] : [...scenarios];
  const named = new Map<string, Scenario>();
  for (const scenario of list) {
    if (named.has(scenario.name)) throw new Error(`Two scenarios are called "${scenario.name}": rename one.`);
    named.set(scenario.name, scenario);
  }
  return named;
}

const plainHeaders = (request: IncomingMessage): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );

function fail(response: ServerResponse, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  if (response.headersSent) response.destroy();
  else sendJson(response, 400, { type: "error", error: { type: "invalid_request_error", message } });
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("The model server got no port."));
      else resolve(address.port);
    });
  });
}
