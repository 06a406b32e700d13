/**
 * Puts our own agent together from its parts, with the usual choices: all base tools, rules, a sandbox, files for journal and blobs. Who needs other parts builds an
 * `AgentLoop` directly.
 */
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { type ClientOptions, ResponsesClient } from "../openresponses/client.ts";
import { compact } from "../openresponses/compact.ts";
import { IncrementalSender } from "../openresponses/incremental.ts";
import { type EndpointFacts, profileOf } from "../openresponses/profiles.ts";
import type { RetryPolicy } from "../openresponses/retry.ts";
import { ResponsesSocket } from "../openresponses/websocket.ts";
import { AgentLoop } from "./agent-loop.ts";
import { FileBlobs } from "./blob-files.ts";
import type { FrameListener } from "./frames.ts";
import { buildInstructions, readAgentsFiles } from "./instructions.ts";
import { FileJournal } from "./journal-file.ts";
import { RulePolicy } from "./permissions/decide.ts";
import type { PermissionRule } from "./permissions/rules.ts";
import type { Clock, Ids, PermissionAsker, QuestionAsker } from "./ports.ts";
import { openSandbox, type Sandbox, type SandboxMode } from "./sandbox/sandbox.ts";
import { type Settings, settingsFor } from "./settings.ts";
import { ShellTasks } from "./shell-tasks.ts";
import { askTool } from "./tools/ask.ts";
import { baseTools } from "./tools/index.ts";
import { ToolRegistry } from "./tools/registry.ts";
import type { AnyTool } from "./tools/tool.ts";

export interface AgentOptions {
  readonly sessionId: string;
  readonly endpoint: ClientOptions;
  /** Facts found out by a probe; those of the address's profile unless given. */
  readonly facts?: EndpointFacts;
  readonly model: string;
  /** Where the agent works. */
  readonly directory: string;
  /** A directory of this session alone, for journal and blobs. */
  readonly data: string;
  readonly asker: PermissionAsker;
  /** Without it the model has no tool to ask with. */
  readonly questions?: QuestionAsker;
  readonly ids: Ids;
  readonly clock?: Clock;
  readonly rules?: readonly PermissionRule[];
  readonly sandbox?: SandboxMode;
  readonly network?: "on" | "off";
  /** The project's own instructions count only in a directory the person trusts. */
  readonly trusted: boolean;
  /** The root of the repository, for AGENTS.md; the directory itself unless given. */
  readonly root?: string;
  /** Talk over a WebSocket where the endpoint can: a request then carries only what is new. */
  readonly websocket?: boolean;
  /** Beside the base tools. */
  readonly moreTools?: readonly AnyTool[];
  readonly settings?: Partial<Settings>;
  readonly retry?: RetryPolicy;
  readonly onFrame?: FrameListener;
}

export interface OwnAgent {
  readonly loop: AgentLoop;
  /** What commands really get; its notice belongs before the person's eyes. */
  readonly sandbox: Sandbox;
  readonly registry: ToolRegistry;
  /** Ends turns and tasks, and closes the files. */
  close(): Promise<void>;
}

export async function openAgent(options: AgentOptions): Promise<OwnAgent> {
  const directory = await realpath(options.directory);
  const facts = options.facts ?? profileOf(options.endpoint.baseUrl).facts;
  const network = options.network ?? "off";
  const sandbox = await openSandbox({ mode: options.sandbox ?? "workspace-write", network, directory, hidden: [options.data] });
  const registry = new ToolRegistry([
    ...baseTools(),
    ...(options.questions ? [askTool(options.questions)] : []),
    ...(options.moreTools ?? []),
  ]);
  const clock = options.clock ?? { now: () => Date.now() };
  const journal = await FileJournal.open(join(options.data, "journal"));
  const client = new ResponsesClient(options.endpoint);
  const sender = options.websocket && facts.websocket ? new IncrementalSender(new ResponsesSocket(options.endpoint)) : null;
  const settings = await firstSettings(options, directory, facts, registry, sandbox, clock);
  const loop = await AgentLoop.open({
    sessionId: options.sessionId,
    settings,
    directory,
    journal,
    blobs: new FileBlobs(join(options.data, "blobs")),
    clock,
    ids: options.ids,
    transport: { stream: (body, _request, handlers) => (sender ?? client).stream(body, handlers) },
    registry,
    policy: new RulePolicy({ directory, rules: options.rules ?? [] }),
    asker: options.asker,
    tasks: new ShellTasks({ ids: options.ids, wrap: sandbox.wrap }),
    compactAtProvider: (items, signal) => compact(client, { model: settings.model, input: items }, signal),
    ...(options.retry === undefined ? {} : { retry: options.retry }),
    ...(options.onFrame === undefined ? {} : { onFrame: options.onFrame }),
  });
  return {
    loop,
    sandbox,
    registry,
    close: async () => {
      await loop.close();
      sender?.close();
      await journal.close();
    },
  };
}

/** Used once: afterwards the journal's settings hold, so that the prefix of every request stays the same. */
async function firstSettings(
  options: AgentOptions,
  directory: string,
  facts: EndpointFacts,
  registry: ToolRegistry,
  sandbox: Sandbox,
  clock: Clock,
): Promise<Settings> {
  const tools = registry.definitions(facts.customTools);
  const agentsFiles = options.trusted ? await readAgentsFiles(directory, options.root ?? directory) : [];
  const instructions = buildInstructions({
    directory,
    platform: process.platform,
    day: new Date(clock.now()).toISOString().slice(0, 10),
    tools: tools.map((tool) => String(tool.name)),
    agentsFiles,
    sandbox: sandbox.description,
  });
  return settingsFor({
    model: options.model,
    instructions,
    tools,
    context_window: facts.contextWindow,
    endpoint: {
      reasoning: facts.reasoning,
      tool_choice: facts.toolChoice,
      compact: facts.compact,
      prompt_cache_key: facts.promptCacheKey,
      images_in_tool_results: facts.imagesInToolResults,
    },
    ...options.settings,
  });
}
