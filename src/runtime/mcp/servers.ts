/**
 * The MCP servers of one session, and their tools as tools of ours: `mcp__server__tool`. Servers start side by side; one that fails or takes too long is reported and
 * does not hold the session. One that has ended is started again by the next call of one of its tools.
 */
import { createHash } from "node:crypto";
import Type from "typebox";
import type { QuestionAsker } from "../ports.ts";
import { type AnyTool, defineTool, ToolError } from "../tools/tool.ts";
import { McpClient, type McpClientOptions, type McpToolInfo } from "./client.ts";
import { elicit } from "./elicitation.ts";
import { HttpTransport } from "./http.ts";
import { toolResult } from "./result.ts";
import { StdioTransport } from "./stdio.ts";
import type { McpTransport } from "./transport.ts";

/** A server as a session names it. */
export type McpServerSpec =
  | {
      readonly name: string;
      readonly type: "stdio";
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | {
      readonly name: string;
      readonly type: "http" | "sse";
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
    };

export interface McpServerState {
  readonly name: string;
  readonly status: "starting" | "connected" | "failed";
  readonly error?: string;
  readonly tools: number;
}

export interface McpServersOptions {
  readonly servers: readonly McpServerSpec[];
  readonly directory: string;
  readonly version: string;
  /** What programs get; a server's own variables are added. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onStarted?: (pid: number, command: string) => void;
  /** Without it, servers cannot ask the person. */
  readonly questions?: QuestionAsker;
  readonly startMs?: number;
  readonly callMs?: number;
}

const START_MS = 10_000;
const CALL_MS = 120_000;
const NAME_CHARS = 64;
const DESCRIPTION_CHARS = 2_000;

type Server = { spec: McpServerSpec; client: McpClient; tools: readonly McpToolInfo[]; state: McpServerState };

export class McpServers {
  readonly #options: McpServersOptions;
  readonly #servers: readonly Server[];
  readonly #life = new AbortController();
  #onChange: () => void = () => {};

  constructor(options: McpServersOptions) {
    this.#options = options;
    this.#servers = options.servers.map((spec) => {
      const server: Server = {
        spec,
        client: new McpClient({
          transport: () => this.#transport(spec),
          directory: options.directory,
          version: options.version,
          startMs: options.startMs ?? START_MS,
          callMs: options.callMs ?? CALL_MS,
          onTools: () => void this.#list(server),
          onEnded: (why) => this.#set(server, { status: "failed", error: why }),
          ...this.#elicitation(spec.name),
        }),
        tools: [],
        state: { name: spec.name, status: "starting", tools: 0 },
      };
      return server;
    });
  }

  get states(): readonly McpServerState[] {
    return this.#servers.map(({ state }) => state);
  }

  /** Called whenever tools or states change. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  /** Resolves when every server runs or has failed. */
  async start(): Promise<void> {
    await Promise.all(this.#servers.map((server) => this.#list(server)));
  }

  /** All tools, in the order of their servers; names are unique. */
  tools(): AnyTool[] {
    const taken = new Set<string>();
    return this.#servers.flatMap((server) =>
      server.tools.map((info) => {
        const name = toolName(server.spec.name, info.name, taken);
        taken.add(name);
        return this.#tool(server, info, name);
      }),
    );
  }

  async close(): Promise<void> {
    this.#life.abort();
    this.#onChange = () => {};
    await Promise.all(this.#servers.map(({ client }) => client.close()));
  }

  async #list(server: Server): Promise<void> {
    try {
      await server.client.open();
      server.tools = await server.client.tools();
      this.#set(server, { status: "connected" });
    } catch (error) {
      this.#set(server, { status: "failed", error: error instanceof Error ? error.message : String(error) });
    }
  }

  #set(server: Server, state: Pick<McpServerState, "status" | "error">): void {
    if (this.#life.signal.aborted) return;
    server.state = { name: server.spec.name, ...state, tools: server.tools.length };
    this.#onChange();
  }

  #elicitation(name: string): Pick<McpClientOptions, "elicit"> {
    const { questions } = this.#options;
    if (questions === undefined) return {};
    return { elicit: (params, signal) => elicit(name, params, questions, AbortSignal.any([this.#life.signal, signal])) };
  }

  #transport(spec: McpServerSpec): McpTransport {
    if (spec.type !== "stdio") return new HttpTransport({ url: spec.url, headers: spec.headers ?? {}, form: spec.type });
    const { environment, directory: cwd, onStarted } = this.#options;
    const { command, args = [], env = {} } = spec;
    const started = onStarted === undefined ? {} : { onStarted };
    return new StdioTransport({ command, args, cwd, environment: { ...environment, ...env }, ...started });
  }

  #tool(server: Server, info: McpToolInfo, name: string): AnyTool {
    return defineTool({
      name,
      description: info.description.slice(0, DESCRIPTION_CHARS).trim() || `${info.name} of the MCP server ${server.spec.name}.`,
      // The server checks its arguments by its own schema, which may say more than ours can.
      parameters: Type.Record(Type.String(), Type.Unknown()),
      schema: info.inputSchema,
      effect: "unknown",
      subject: () => ({ kind: "other", name }),
      run: async (args, { signal, blobs, onOutput }) => {
        const wasConnected = server.client.connected;
        try {
          const answer = await server.client.call(info.name, args, signal, (text) => onOutput("stdout", `${text}\n`));
          if (!wasConnected) void this.#list(server);
          return await toolResult(answer, blobs);
        } catch (error) {
          if (!(error instanceof Error) || signal.aborted) throw error;
          throw new ToolError(`The MCP server ${server.spec.name} failed: ${error.message.replace(/\.$/, "")}.`);
        }
      },
    });
  }
}

/** Letters, digits, `_` and `-`, at most 64: what providers take. What does not fit is shortened with a digest, so that it stays unique and the same. */
export function toolName(server: string, tool: string, taken: ReadonlySet<string> = new Set()): string {
  const plain = `mcp__${clean(server)}__${clean(tool)}`;
  if (plain.length <= NAME_CHARS && !taken.has(plain)) return plain;
  const digest = createHash("sha256").update(`${server}\n${tool}`).digest("hex").slice(0, 8);
  return `${plain.slice(0, NAME_CHARS - 9)}_${digest}`;
}

const clean = (text: string): string => text.replace(/[^A-Za-z0-9_-]/g, "_") || "_";
