// `dragoman mcp`: the daemon's sessions as tools for another agent, over stdio or HTTP.
import { DragomanError } from "../../client/error.ts";
import { type Command, EXIT, flag, type Invocation, text, UsageError } from "../command.ts";

const MODES = ["default", "plan", "accept_edits", "bypass"] as const;
/** A server that was killed leaves its token this long; one that runs prolongs it. */
const TOKEN_LIFETIME_MS = 10 * 60_000;

export const mcp: Command = {
  name: "mcp",
  usage: "mcp [--http [--port <port>]]",
  about: "serve the sessions as MCP tools to another agent",
  help: `  Speaks MCP on stdin and stdout: give agents the command \`dragoman mcp\`. With --http it listens
  on 127.0.0.1 and prints its address and its token ({"url","token","pid"} with --json).
  The tools cannot answer permissions and questions of sessions that were created through them: a
  person does, with \`dragoman allow\`, \`dragoman deny\`, \`dragoman answer\` or in the inspector.
  They send messages to no session in a wider permission mode than --permission-mode. Started by an
  agent that dragoman runs, they only read, unless agent_access is "delegate".`,
  options: {
    http: { type: "boolean", about: "streamable HTTP on 127.0.0.1 instead of stdin and stdout" },
    port: { type: "string", value: "<port>", about: "port for --http (default: any free one)" },
    "permission-mode": { type: "string", value: "<mode>", about: `mode of the sessions it creates: ${MODES.join(", ")}` },
  },
  async run(call) {
    const [{ createMcpServer }, { Ownership }, { version }] = await Promise.all([
      import("../../mcp/server.ts"),
      import("../../mcp/ownership.ts"),
      import("../../daemon/version.ts"),
    ]);
    const { daemon, release } = await ownAccess(call);
    const permissionMode = modeOf(call);
    const newServer: NewServer = (agentMark) =>
      createMcpServer({
        daemon: agentMark === undefined ? daemon : daemon.with({ agentMark }),
        permissionMode,
        version,
        ownership: new Ownership(permissionMode),
      });
    try {
      await (flag(call.values, "http") ? overHttp(call, newServer) : overStdio(call, newServer));
    } finally {
      await release();
    }
    return EXIT.ok;
  },
};

/** `agentMark`: of the agent that uses it, when it is not the one this process runs in. */
type NewServer = (agentMark?: string) => ReturnType<typeof import("../../mcp/server.ts").createMcpServer>;

/**
 * A token of its own, made from the one found here: it is ended with this process, and never leaves it. A token that makes no others is used as it is.
 */
async function ownAccess(call: Invocation) {
  const root = await call.daemon();
  const { role } = await root.whoAmI();
  if (role !== "admin") return { daemon: root.with({ client: "mcp" }), release: async () => {} };
  const options = { lifetime_ms: TOKEN_LIFETIME_MS, renewable: true, surface: "mcp", label: "dragoman mcp" } as const;
  const minted = await root.mintToken("operate", options).catch((error: unknown) => {
    // Started by an agent that dragoman runs: it has an agent's rights, whatever token it found.
    if (error instanceof DragomanError && error.code === "agent_forbidden") return null;
    throw error;
  });
  if (minted === null) return { daemon: root.with({ client: "mcp" }), release: async () => {} };
  const { token } = minted;
  const daemon = root.with({ token, client: "mcp" });
  // A failed renewal is tried again: a daemon that restarts keeps the token.
  const timer = setInterval(() => void daemon.renew().catch(() => {}), TOKEN_LIFETIME_MS / 4).unref();
  const release = async (): Promise<void> => {
    clearInterval(timer);
    await daemon.signOut().catch(() => {});
  };
  return { daemon, release };
}

async function overStdio({ terminal }: Invocation, newServer: NewServer): Promise<void> {
  const { StdioServerTransport } = await import("../../mcp/sdk.ts");
  const server = newServer();
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  // The SDK's transport does not watch for the end of its input: without this the process outlives its client.
  terminal.stdin.once("end", () => void server.close());
  terminal.signal.addEventListener("abort", () => void server.close());
  await server.connect(new StdioServerTransport());
  if (terminal.signal.aborted) await server.close();
  await closed;
}

async function overHttp({ values, terminal, print, json }: Invocation, newServer: NewServer): Promise<void> {
  const { serveMcpHttp } = await import("../../mcp/http-server.ts");
  const port = Number(text(values, "port") ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError("--port needs a number from 0 to 65535");
  const { randomBytes } = await import("node:crypto");
  const token = terminal.env.DRAGOMAN_MCP_TOKEN ?? randomBytes(32).toString("base64url");
  if (token.length < 16) throw new UsageError("DRAGOMAN_MCP_TOKEN needs at least 16 characters");
  const { agentMarkOf } = await import("../../transports/index.ts");
  const http = await serveMcpHttp({ port, token, newServer: async (socket) => newServer(await agentMarkOf(socket)) });
  if (flag(values, "json")) json({ url: http.url, token, pid: process.pid });
  else print(`MCP server at ${http.url}\n  Authorization: Bearer ${token}\n  Ctrl-C stops it.`);
  await new Promise<void>((resolve) => {
    if (terminal.signal.aborted) resolve();
    terminal.signal.addEventListener("abort", () => resolve());
  });
  await http.close();
}

function modeOf({ values }: Invocation): (typeof MODES)[number] {
  const name = text(values, "permission-mode") ?? "default";
  const mode = MODES.find((each) => each === name);
  if (!mode) throw new UsageError(`--permission-mode does not know ${name}. There are: ${MODES.join(", ")}`);
  return mode;
}
