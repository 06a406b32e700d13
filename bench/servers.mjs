/** The daemon and the bare pipe under test, each a process of its own on a free port of loopback. */
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startDaemon as serve, stopped } from "../scripts/daemon.mjs";
import { configured } from "./agents.mjs";

const PIPE = fileURLToPath(new URL("./bare-pipe.mjs", import.meta.url));
/** Nothing of this run is refused for being too much. */
const LIMITS = { sessions: 1000, subscribers: 5000, requests_per_second: 1_000_000, concurrent_requests: 5000 };
/** So many quick looks at a session before slower ones. */
const HOT = 100;

/** Without `dataDir` in a new folder, removed at the end. `node`: options of the daemon's Node. */
export async function startDaemon({ dataDir, node = [], code } = {}) {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), "dragoman-bench-"));
  const work = join(folder, "work");
  mkdirSync(work, { recursive: true });
  const config = join(folder, "config.json");
  writeFileSync(config, JSON.stringify({ agents: configured, limits: LIMITS, trusted_directories: [work] }));
  const began = performance.now();
  const options = { more: ["--config", config, "--log-level", "error"], node, code };
  const { child, ...ready } = await serve(folder, options);
  const cold = performance.now() - began;
  const headers = { authorization: `Bearer ${ready.token}`, "content-type": "application/json" };
  const call = async (method, path, body) => {
    const response = await fetch(ready.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : response.json();
  };
  const stop = async (signal) => {
    await stopped(child, signal);
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
  };
  return { ...ready, headers, call, cold, stop, work, folder };
}

export const sse = (daemon, id, after = 0) => ({
  url: `${daemon.url}/v1/sessions/${id}/events/sse?after=${after}`,
  headers: daemon.headers,
});

export const create = async (daemon, agent = "mock") =>
  (await daemon.call("POST", "/v1/sessions", { agent, directory: daemon.work })).session_id;

/** A session whose agent runs: its start is not what is measured. */
export async function newSession(daemon, agent = "mock") {
  const id = await create(daemon, agent);
  await send(daemon, id, "say ready");
  await settled(daemon, id);
  return id;
}

export const send = (daemon, id, message) => daemon.call("POST", `/v1/sessions/${id}/messages`, { message });

/** Waits until the session rests; returns its last sequence number. */
export async function settled(daemon, id) {
  for (let tries = 0; tries < 9000; tries++) {
    const { status, queued, last_sequence } = await daemon.call("GET", `/v1/sessions/${id}`);
    if (status === "idle" && queued === 0 && last_sequence > 1) return last_sequence;
    if (status === "ended") throw new Error(`session ${id} ended`);
    await new Promise((resolve) => setTimeout(resolve, tries < HOT ? 20 : 100));
  }
  throw new Error(`session ${id} does not come to rest`);
}

export async function startPipe() {
  const child = fork(PIPE);
  const { url } = await new Promise((resolve) => child.once("message", resolve));
  const post = async (path, body) => {
    const response = await fetch(url + path, { method: "POST", body });
    if (!response.ok) throw new Error(`bare pipe: ${path}: ${response.status}`);
  };
  return {
    url,
    pid: child.pid,
    start: (id, agent) => post(`/start?id=${id}`, JSON.stringify(agent.start)),
    send: (id, line) => post(`/send?id=${id}`, line),
    end: (id) => post(`/stop?id=${id}`),
    events: (id) => ({ url: `${url}/events?id=${id}` }),
    stop: () => child.disconnect(),
  };
}
