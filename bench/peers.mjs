/** Other programs that stand between agents and clients, at fixed versions, installed from npm into the user's cache: never into the project. */
import { execFile, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { stopped } from "../scripts/daemon.mjs";
import { ACP_AGENT } from "./agents.mjs";

const run = promisify(execFile);
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "dragoman-bench");
const INSTALL_MS = 5 * 60_000;
const START_TRIES = 200;
const END_MS = 1000;
const LONGEST_MS = 120_000;
const JSON_BODY = { "content-type": "application/json" };

export const SANDBOX_AGENT = { npm: "sandbox-agent", version: "0.4.2" };

async function install({ npm, version }) {
  const folder = join(CACHE, `${npm}-${version}`);
  const manifest = join(folder, "node_modules", npm, "package.json");
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version) return folder;
  process.stderr.write(`installing ${npm}@${version} into ${folder}\n`);
  mkdirSync(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", `${npm}@${version}`];
  await run("npm", args, { timeout: INSTALL_MS, maxBuffer: 64 * 1024 * 1024 });
  return folder;
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/**
 * sandbox-agent looks for the program of an agent in its data directory, and starts what it finds there: `agent_processes/<agent>-acp`. Its `mock` is the one agent
 * that needs no further program. It passes on what the agent writes: POST /v1/acp/<id> takes JSON-RPC, GET streams it as SSE.
 */
export async function startSandboxAgent() {
  const folder = await install(SANDBOX_AGENT);
  const program = join(
    folder,
    "node_modules",
    "@sandbox-agent",
    `cli-${process.platform}-${process.arch}`,
    "bin",
    "sandbox-agent",
  );
  if (!existsSync(program)) throw new Error(`${SANDBOX_AGENT.npm} has no program for ${process.platform}-${process.arch}.`);
  chmodSync(program, 0o755);
  const home = mkdtempSync(join(tmpdir(), "dragoman-bench-peer-"));
  const agents = join(home, "data", "sandbox-agent", "bin", "agent_processes");
  mkdirSync(agents, { recursive: true });
  writeFileSync(join(agents, "mock-acp"), `#!/bin/sh\nexec "${process.execPath}" "${ACP_AGENT}"\n`, { mode: 0o755 });
  const port = await freePort();
  const args = ["server", "--host", "127.0.0.1", "--port", String(port), "--no-token", "--no-telemetry"];
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: join(home, "data"), RUST_LOG: "error" };
  const child = spawn(program, args, { env, cwd: home, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await stopped(child);
    rmSync(home, { recursive: true, force: true });
  };
  for (let tries = 0; ; tries++) {
    const answer = await fetch(`${url}/v1/health`).catch(() => null);
    if (answer?.ok) break;
    if (tries === START_TRIES || child.exitCode !== null) {
      await stop();
      throw new Error(`${SANDBOX_AGENT.npm} did not start`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  let serial = 0;
  const post = async (id, method, params, query = "") => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: ++serial, method, params });
    const response = await fetch(`${url}/v1/acp/${id}${query}`, {
      method: "POST",
      headers: JSON_BODY,
      body,
      signal: AbortSignal.timeout(LONGEST_MS),
    });
    const answer = await response.json();
    if (!response.ok || answer.error) throw new Error(`${method}: ${response.status} ${JSON.stringify(answer)}`);
    return answer.result;
  };
  return {
    url,
    pid: child.pid,
    stop,
    /** A session with an agent of its own: {id, sessionId}. */
    async session() {
      const id = `bench-${++serial}`;
      await post(id, "initialize", { protocolVersion: 1, clientCapabilities: {} }, "?agent=mock");
      const { sessionId } = await post(id, "session/new", { cwd: home, mcpServers: [] });
      return { id, sessionId };
    },
    /** Resolves when the turn has ended. */
    prompt: ({ id, sessionId }, text) => post(id, "session/prompt", { sessionId, prompt: [{ type: "text", text }] }),
    events: ({ id }) => ({ url: `${url}/v1/acp/${id}`, headers: { accept: "text/event-stream" } }),
    /** 0.4.2 answers a DELETE when the agent is gone, and does not end it: so the agent is told to. */
    async end({ id, sessionId }) {
      const signal = AbortSignal.timeout(END_MS);
      const body = JSON.stringify({
        jsonrpc: "2.0",
        id: ++serial,
        method: "session/prompt",
        params: { sessionId, prompt: [{ type: "text", text: "exit" }] },
      });
      void fetch(`${url}/v1/acp/${id}`, { method: "POST", headers: JSON_BODY, body, signal }).catch(() => {});
      await fetch(`${url}/v1/acp/${id}`, { method: "DELETE", signal }).catch(() => {});
    },
  };
}
