/** For tests only: a loop with memory stores, tools that count, and a model that is a function of the request. */
import Type from "typebox";
import { ResponsesClient } from "../openresponses/client.ts";
import { isObject, type JsonObject } from "../openresponses/json.ts";
import { answerStream, type SeenRequest, type ShortItem, sendStream, startEndpoint } from "../openresponses/test-endpoint.ts";
import { AgentLoop } from "./agent-loop.ts";
import type { AgentLoopOptions } from "./agent-loop-options.ts";
import type { RuntimeFrame } from "./frames.ts";
import { CountingIds, MemoryBlobs, MemoryJournal } from "./memory-stores.ts";
import type { PermissionRequest, TaskStarter } from "./ports.ts";
import { type Settings, settingsFor } from "./settings.ts";
import type { ModelTransport } from "./step.ts";
import { ToolRegistry } from "./tools/registry.ts";
import { type AnyTool, defineTool } from "./tools/tool.ts";

export const clientTransport = (client: ResponsesClient): ModelTransport => ({
  stream: (body, _request, handlers) => client.stream(body, handlers),
});

export const NO_TASKS: TaskStarter = {
  start: () => Promise.reject(new Error("no tasks here")),
  get: () => undefined,
  list: () => [],
  close: () => Promise.resolve(),
};

export const fastRetry = { retries: 5, baseMs: 1, maxMs: 1, random: () => 1 };

/** A tool that changes nothing: it gives its argument back. */
export const echoTool = defineTool({
  name: "echo",
  description: "Gives the text back.",
  parameters: Type.Object({ text: Type.String() }),
  effect: "none",
  subject: () => ({ kind: "internal" }),
  run: async ({ text }) => ({ output: `echo: ${text}` }),
});

/** A tool with an effect: it counts. */
export function countTool(counter: { count: number }): AnyTool {
  return defineTool({
    name: "count",
    description: "Counts.",
    parameters: Type.Object({ by: Type.Integer() }),
    effect: "unknown",
    subject: () => ({ kind: "other", name: "count" }),
    run: async ({ by }) => {
      counter.count += by;
      return { output: `now ${counter.count}` };
    },
  });
}

/** A tool that runs until it is stopped. */
export const waitTool = defineTool({
  name: "wait",
  description: "Waits.",
  parameters: Type.Object({}),
  effect: "unknown",
  subject: () => ({ kind: "internal" }),
  run: (_args, { signal, onOutput }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
      onOutput("stdout", "waiting");
    }),
});

export interface TestLoop {
  readonly loop: AgentLoop;
  readonly journal: MemoryJournal;
  readonly frames: RuntimeFrame[];
  readonly asked: PermissionRequest[];
  readonly registry: ToolRegistry;
  readonly options: AgentLoopOptions;
}

export interface TestLoopOptions {
  readonly baseUrl: string;
  readonly tools?: readonly AnyTool[];
  readonly settings?: Partial<Settings>;
  readonly override?: Partial<AgentLoopOptions>;
  readonly answer?: "allow" | "deny";
  readonly onFrame?: (frame: RuntimeFrame) => void;
}

export async function openLoop(given: TestLoopOptions): Promise<TestLoop> {
  const registry = new ToolRegistry(given.tools ?? [echoTool]);
  const journal = new MemoryJournal();
  const frames: RuntimeFrame[] = [];
  const asked: PermissionRequest[] = [];
  const options: AgentLoopOptions = {
    sessionId: "session_1",
    settings: settingsFor({ model: "m", instructions: "Test.", tools: registry.definitions(false), ...given.settings }),
    directory: "/nowhere",
    journal,
    blobs: new MemoryBlobs(),
    clock: { now: () => Date.now() },
    ids: new CountingIds(),
    transport: clientTransport(new ResponsesClient({ baseUrl: given.baseUrl })),
    registry,
    policy: { decide: ({ kind }) => ({ decision: kind === "internal" ? "allow" : "ask", reason: "test" }) },
    asker: {
      ask: async (request) => {
        asked.push(request);
        return { decision: given.answer ?? "allow", input_digest: request.input_digest };
      },
    },
    tasks: NO_TASKS,
    retry: fastRetry,
    onFrame: (frame) => {
      frames.push(frame);
      given.onFrame?.(frame);
    },
    ...given.override,
  };
  return { loop: await AgentLoop.open(options), journal, frames, asked, registry, options };
}

/** An endpoint whose answers are a function of what is asked. */
export function startModel(answer: (body: JsonObject, nth: number, request: SeenRequest) => readonly ShortItem[] | string) {
  return startEndpoint((response, request, nth) => {
    const body: unknown = JSON.parse(request.body);
    const said = answer(isObject(body) ? body : {}, nth, request);
    sendStream(response, typeof said === "string" ? said : answerStream(said));
  });
}

export const bodyOf = (request: SeenRequest | undefined): { input: JsonObject[]; [key: string]: unknown } =>
  JSON.parse(request?.body ?? '{"input":[]}');
