/**
 * Finds out the facts of an endpoint by asking it. Each question is a small real request, so it costs a few tokens. An endpoint that fails one question is still
 * asked the next, unless it cannot be reached or refuses the key.
 */
import { type ClientOptions, ResponsesClient } from "./client.ts";
import { ResponsesError } from "./errors.ts";
import { arrayOf, type JsonObject, objectOf, textOf } from "./json.ts";
import { type EndpointFacts, type EndpointProfile, profileOf } from "./profiles.ts";
import type { ReceivedEvent } from "./provider-event.ts";
import { ResponsesSocket } from "./websocket.ts";

/** One question and what came of it. */
export interface ProbeCheck {
  readonly name: "models" | "stream" | "tool_call" | "tool_choice" | "reasoning_items" | "stored" | "compact" | "websocket";
  readonly outcome: "yes" | "no" | "failed";
  /** A sentence for the person. */
  readonly detail: string;
}

export interface ProbeReport {
  /** The profile its address belongs to. */
  readonly profile: EndpointProfile;
  /** The profile's facts, with what was found out in their place. */
  readonly facts: EndpointFacts;
  readonly models: readonly string[];
  readonly checks: readonly ProbeCheck[];
  /** Deviations from the specification seen in the streams, each once. */
  readonly deviations: readonly string[];
}

const TOOL = {
  type: "function",
  name: "report_number",
  description: "Reports a number.",
  parameters: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  strict: false,
};

const OTHER_TOOL = { ...TOOL, name: "report_nothing", description: "Reports that there is nothing." };

export interface ProbeOptions extends ClientOptions {
  /** Asked for in every request; without it, the first model of the list. */
  readonly model?: string;
  readonly signal?: AbortSignal;
}

export async function probe(options: ProbeOptions): Promise<ProbeReport> {
  return new Probe(options).run();
}

class Probe {
  readonly #options: ProbeOptions;
  readonly #client: ResponsesClient;
  readonly #checks: ProbeCheck[] = [];
  readonly #deviations = new Set<string>();
  #facts: { -readonly [K in keyof EndpointFacts]: EndpointFacts[K] };
  #model: string;
  #models: string[] = [];
  #stop = false;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#client = new ResponsesClient(options);
    this.#facts = { ...profileOf(options.baseUrl).facts };
    this.#model = options.model ?? "";
  }

  async run(): Promise<ProbeReport> {
    await this.#ask("models", () => this.#listModels());
    await this.#ask("stream", () => this.#stream());
    await this.#ask("tool_call", () => this.#toolCall());
    await this.#ask("tool_choice", () => this.#toolChoice());
    await this.#ask("reasoning_items", () => this.#reasoningItems());
    await this.#ask("stored", () => this.#stored());
    await this.#ask("compact", () => this.#compact());
    await this.#ask("websocket", () => this.#websocket());
    return {
      profile: profileOf(this.#options.baseUrl),
      facts: this.#facts,
      models: this.#models,
      checks: this.#checks,
      deviations: [...this.#deviations],
    };
  }

  async #ask(name: ProbeCheck["name"], question: () => Promise<{ yes: boolean; detail: string }>): Promise<void> {
    if (this.#stop) return;
    try {
      const { yes, detail } = await question();
      this.#checks.push({ name, outcome: yes ? "yes" : "no", detail });
    } catch (error) {
      if (!(error instanceof ResponsesError)) throw error;
      this.#checks.push({ name, outcome: "failed", detail: error.message });
      if (error.code === "aborted") throw error;
      if (error.code === "unreachable" || error.code === "auth") this.#stop = true;
    }
  }

  async #listModels() {
    const answer = await this.#client.json("GET", "/models", undefined, this.#options.signal);
    const rows = arrayOf(answer.data).length > 0 ? arrayOf(answer.data) : arrayOf(answer.models);
    this.#models = rows.flatMap(
      (row) => textOf(objectOf(row).id) ?? textOf(objectOf(row).slug) ?? textOf(objectOf(row).name) ?? [],
    );
    if (this.#model === "") this.#model = this.#models[0] ?? "";
    return { yes: this.#models.length > 0, detail: `${this.#models.length} models` };
  }

  async #stream() {
    const { events, text } = await this.#request({ input: "Answer with the word ok." });
    this.#facts.sequenceNumbers = events.every((event) => event.data === null || typeof event.data.sequence_number === "number");
    this.#facts.doneMark = events.some((event) => event.status === "done");
    return { yes: true, detail: `${events.length} events, ${text} characters of text` };
  }

  async #toolCall() {
    const { items } = await this.#request({ input: "Call report_number with the number 7.", tools: [TOOL] });
    const yes = items.some((item) => item.type === "function_call" && item.name === TOOL.name);
    return { yes, detail: yes ? "the model called a function" : "the model called no function: it may be too small for tools" };
  }

  async #toolChoice() {
    // The model is asked for one tool and may only call the other: a server that ignores the choice gives itself away.
    const choice = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: OTHER_TOOL.name }] };
    try {
      const input = "Call report_number with the number 7.";
      const { items } = await this.#request({ input, tools: [TOOL, OTHER_TOOL], tool_choice: choice });
      const called = items.filter((item) => item.type === "function_call").map((item) => item.name);
      this.#facts.toolChoice = called.length > 0 && called.every((name) => name === OTHER_TOOL.name);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#facts.toolChoice = false;
    }
    return { yes: this.#facts.toolChoice, detail: "allowed_tools with mode required" };
  }

  async #reasoningItems() {
    const item = { type: "reasoning", summary: [{ type: "summary_text", text: "The user greets." }] };
    const input = [
      { type: "message", role: "user", content: "Hello." },
      item,
      { type: "message", role: "user", content: "Say ok." },
    ];
    try {
      await this.#request({ input });
      if (this.#facts.reasoning === "none") this.#facts.reasoning = "items";
      return { yes: true, detail: "reasoning items are taken back" };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#facts.reasoning = "none";
      return { yes: false, detail: "reasoning items are refused" };
    }
  }

  async #stored() {
    try {
      await this.#request({ input: "Say ok.", previous_response_id: "resp_dragoman_probe_unknown" });
      this.#facts.stored = false;
      return { yes: false, detail: "an unknown previous_response_id is ignored" };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#facts.stored = /not.?found|does not exist|no such|unknown/i.test(error.message);
      return { yes: this.#facts.stored, detail: "an unknown previous_response_id is refused" };
    }
  }

  async #compact() {
    try {
      const answer = await this.#client.json(
        "POST",
        "/responses/compact",
        { model: this.#model, input: [{ type: "message", role: "user", content: "Hello." }] },
        this.#options.signal,
      );
      this.#facts.compact = answer.object === "response.compaction";
    } catch (error) {
      if (!isRefusal(error)) throw error;
      this.#facts.compact = false;
    }
    return { yes: this.#facts.compact, detail: "POST /responses/compact" };
  }

  async #websocket() {
    const socket = new ResponsesSocket(this.#options);
    try {
      const body = { model: this.#model, input: "Say ok.", store: false };
      await socket.create(body, { onEvent: () => {}, ...(this.#options.signal ? { signal: this.#options.signal } : {}) });
      this.#facts.websocket = true;
    } catch (error) {
      if (!(error instanceof ResponsesError) || error.code === "aborted") throw error;
      this.#facts.websocket = false;
    } finally {
      socket.close();
    }
    return { yes: this.#facts.websocket, detail: "a response over a WebSocket" };
  }

  async #request(body: JsonObject): Promise<{ events: ReceivedEvent[]; items: readonly JsonObject[]; text: number }> {
    const events: ReceivedEvent[] = [];
    const asked = { model: this.#model, stream: true, store: false, max_output_tokens: 512, ...body };
    const { items } = await this.#client.stream(JSON.stringify(asked), {
      onEvent: (event) => {
        events.push(event);
        for (const error of [...event.errors, ...event.response_errors]) {
          if (this.#deviations.size < 100) this.#deviations.add(`${textOf(event.data?.type) ?? event.status}: ${error}`);
        }
      },
      ...(this.#options.signal === undefined ? {} : { signal: this.#options.signal }),
    });
    const text = events.reduce((sum, event) => sum + (textOf(event.data?.delta) ?? "").length, 0);
    return { events, items, text };
  }
}

/** The endpoint understood the question and said no. */
const isRefusal = (error: unknown): error is ResponsesError =>
  error instanceof ResponsesError && error.status !== null && error.status >= 400 && ![401, 403, 429].includes(error.status);
