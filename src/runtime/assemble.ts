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
import type { PermissionPolicy } from "./call-runner.ts";
import type { FrameListener } from "./frames.ts";
import { buildInstructions, readAgentsFiles } from "./instructions.ts";
import { FileJournal } from "./journal-file.ts";
import type { McpServers } from "./mcp/servers.ts";
import { RulePolicy } from "./permissions/decide.ts";
import type { PermissionRule } from "./permissions/rules.ts";
import type { Clock, Ids, JournalStore, PermissionAsker, QuestionAsker, SkillReader, SubAgents, TaskStarter } from "./ports.ts";
import { openSandbox, type Sandbox, type SandboxMode } from "./sandbox/sandbox.ts";
import { type Settings, settingsFor } from "./settings.ts";
import { ShellTasks, type WrapCommand } from "./shell-tasks.ts";
import type { ModelTransport } from "./step.ts";
import { agentTool } from "./tools/agent.ts";
import { askTool } from "./tools/ask.ts";
import { baseTools } from "./tools/index.ts";
import { ToolRegistry } from "./tools/registry.ts";
import { skillTool } from "./tools/skill.ts";
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
  /** Decides instead of the rules. */
  readonly policy?: PermissionPolicy;
  readonly sandbox?: SandboxMode;
  readonly network?: "on" | "off";
  /** More directories that commands must not see. */
  readonly hidden?: readonly string[];
  /** The project's own instructions count only in a directory the person trusts. */
  readonly trusted: boolean;
  /** The root of the repository, for AGENTS.md; the directory itself unless given. */
  readonly root?: string;
  /** Talk over a WebSocket where the endpoint can: a request then carries only what is new. */
  readonly websocket?: boolean;
  /** Beside the base tools. */
  readonly moreTools?: readonly AnyTool[];
  /** Servers whose tools the model gets. They have been started; they are closed with the agent. */
  readonly mcp?: McpServers;
  readonly skills?: SkillReader;
  /** Without it the model cannot start sub-agents. */
  readonly subAgents?: SubAgents;
  /** Called when a server or its tools have changed. */
  readonly onMcpChange?: () => void;
  readonly settings?: Partial<Settings>;
  readonly retry?: RetryPolicy;
  readonly onFrame?: FrameListener;
  /** What the person adds to the instructions. */
  readonly systemPrompt?: string | null;
  /** Who wants to see every record gets the journal's file, and returns what the loop writes to. */
  readonly watchJournal?: (file: JournalStore) => JournalStore;
  /** Who wants to hold the stream back gets the transport, and returns what the loop asks. */
  readonly watchTransport?: (transport: ModelTransport) => ModelTransport;
  /** Starts the commands; without it, processes of our own. */
  readonly tasks?: (wrap: WrapCommand) => TaskStarter;
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
  const sandbox = await openSandbox({
    mode: options.sandbox ?? "workspace-write",
    network,
    directory,
    hidden: [options.data, ...(options.hidden ?? [])],
  });
  const registry = new ToolRegistry([
    ...baseTools(),
    ...(options.questions ? [askTool(options.questions)] : []),
    ...(options.skills && options.skills.offered.length > 0 ? [skillTool(options.skills)] : []),
    ...(options.subAgents ? [agentTool(options.subAgents)] : []),
    ...(options.moreTools ?? []),
  ]);
  registry.setMore(options.mcp?.tools() ?? []);
  const clock = options.clock ?? { now: () => Date.now() };
  const file = await FileJournal.open(join(options.data, "journal"));
  const journal = options.watchJournal?.(file) ?? file;
  const client = new ResponsesClient(options.endpoint);
  const sender = options.websocket && facts.websocket ? new IncrementalSender(new ResponsesSocket(options.endpoint)) : null;
  const transport: ModelTransport = { stream: (body, _request, handlers) => (sender ?? client).stream(body, handlers) };
  const settings = await firstSettings(options, directory, facts, registry, sandbox, clock);
  const loop: AgentLoop = await AgentLoop.open({
    sessionId: options.sessionId,
    settings,
    directory,
    journal,
    blobs: new FileBlobs(join(options.data, "blobs")),
    clock,
    ids: options.ids,
    transport: options.watchTransport?.(transport) ?? transport,
    registry,
    policy: options.policy ?? new RulePolicy({ directory, rules: options.rules ?? [] }),
    asker: options.asker,
    tasks: options.tasks?.(sandbox.wrap) ?? new ShellTasks({ ids: options.ids, wrap: sandbox.wrap }),
    compactAtProvider: (items, signal) => compact(client, { model: loop.state.settings.model, input: items }, signal),
    ...(options.retry === undefined ? {} : { retry: options.retry }),
    ...(options.onFrame === undefined ? {} : { onFrame: options.onFrame }),
  });
  takeOver(loop, settings);
  options.mcp?.onChange(() => {
    registry.setMore(options.mcp?.tools() ?? []);
    const tools = registry.definitions(facts.customTools);
    if (JSON.stringify(tools) !== JSON.stringify(loop.state.settings.tools)) loop.changeSettings({ tools });
    options.onMcpChange?.();
  });
  return {
    loop,
    sandbox,
    registry,
    close: async () => {
      try {
        await loop.close();
      } finally {
        await options.mcp?.close();
        sender?.close();
        await file.close();
      }
    },
  };
}

/**
 * A session that goes on keeps the settings of its journal, so that the prefix of its requests stays the same. What the person has changed since counts. The
 * instructions stay, also when a file they came from has changed, unless the directory is trusted now and was not, or the other way round.
 */
function takeOver(loop: AgentLoop, now: Settings): void {
  const before = loop.state.settings;
  const { model, mode, reasoning_effort, tools, endpoint, context_window } = now;
  const trustChanged = fromProject(before.instructions) !== fromProject(now.instructions);
  const instructions = trustChanged ? now.instructions : before.instructions;
  const after = { ...before, model, mode, reasoning_effort, instructions, tools, endpoint, context_window };
  if (JSON.stringify(after) !== JSON.stringify(before)) loop.changeSettings(after);
}

/** Whether they have a part that comes from the directory. */
const fromProject = (instructions: string): boolean => /^# (Instructions|Skills) of the project/m.test(instructions);

/** What a new session begins with. */
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
  const built = buildInstructions({
    directory,
    platform: process.platform,
    day: new Date(clock.now()).toISOString().slice(0, 10),
    tools: tools.map((tool) => String(tool.name)),
    agentsFiles,
    sandbox: sandbox.description,
    ...(options.skills === undefined ? {} : { skills: options.skills.offered }),
  });
  const instructions = options.systemPrompt ? `${built}\n\n# Instructions of the user\n${options.systemPrompt.trim()}` : built;
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
