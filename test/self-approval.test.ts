// An agent that calls the daemon which drives it: with every token and every trick short of hiding from the system. A person in another process is heard.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { testAgent } from "../src/agents/acp/connect/test-agent.ts";
import type { SessionHandle } from "../src/client/session-handle.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import type { PermissionData } from "../src/schema/event-data.ts";
import { knowsUnixPeers } from "../src/transports/index.ts";
import { runProgram } from "./cli/run-program.ts";
import { CLI, cleanEnv, type DaemonProcess, linux, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

/** The agent's commands call the daemon with it. */
const hasCurl = (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, "curl")));

let dataDir: string;
let daemon: DaemonProcess;

beforeAll(async () => {
  dataDir = temporaryDir("self-approval");
  const config = join(dataDir, ".config", "dragoman");
  await mkdir(config, { recursive: true });
  writeFileSync(join(config, "config.json"), JSON.stringify({ agents: { acp: { rogue: testAgent(dataDir) } } }));
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const person = (...args: string[]) => runProgram(args, { ...cleanEnv(dataDir), DRAGOMAN_DATA_DIR: dataDir });
const eventsOf = async (session: SessionHandle): Promise<UniversalEvent[]> => (await session.page({ limit: 1_000 })).events;
const resolutions = async (session: SessionHandle) =>
  (await eventsOf(session)).filter((event) => event.type === "permission.resolved" || event.type === "question.resolved");

type Ran = { code: number; out: string; err: string };

/** Lets the agent of a new session run the command while its own permission is open. What came of the command, and the open permission. */
async function whileAsking(command: (id: string) => string): Promise<{ session: SessionHandle; ran: Ran; open: PermissionData }> {
  const session = await daemon.client.createSession({ agent: "rogue", directory: dataDir });
  await session.send(`asking ${command(session.id)}`);
  let said = "";
  for await (const event of session.events()) {
    if (event.type === "item.delta" && event.data.delta.startsWith('{"code"')) said = event.data.delta;
    if (said !== "") break;
    if (event.type === "turn.ended") throw new Error("the turn ended without a word");
  }
  const [open] = (await session.pending()).permissions;
  if (!open) throw new Error(`nothing is open any more: ${said}`);
  return { session, ran: JSON.parse(said) as Ran, open };
}

const root = `$(${process.execPath} -p "JSON.parse(fs.readFileSync('$HOME/daemon.json')).token")`;
/** With the token the agent was given, and with that of the file. */
const own = `env DRAGOMAN_DATA_DIR=$HOME ${process.execPath} ${CLI}`;
const dragoman = `env DRAGOMAN_DATA_DIR=$HOME DRAGOMAN_TOKEN=${root} ${process.execPath} ${CLI}`;
const post = (path: string, body: string, extra = "") =>
  `curl -s ${extra} -H "authorization: Bearer ${root}" -H "content-type: application/json" -d '${body}'`.concat(
    ` "$DRAGOMAN_URL${path}"`,
  );
/** With the token of the root file, and whatever permission is open. */
const reply = (id: string, extra = "") =>
  `p=$(curl -s -H "authorization: Bearer ${root}" $DRAGOMAN_URL/v1/sessions/${id}/pending | grep -o 'prm_[a-zA-Z0-9_]*' | head -1); `.concat(
    post(`/v1/sessions/${id}/permissions/$p/reply`, '{"reply":"once"}', extra),
  );

describe.runIf(linux && hasCurl)("[A2] an agent does not answer its own request", () => {
  it.each<[string, (id: string) => string]>([
    ["with the command line", (id) => `${own} allow ${id}`],
    ["with the command line and the token of the file", (id) => `${dragoman} allow ${id}`],
    ["over HTTP with the token of the file", (id) => reply(id)],
    ...(knowsUnixPeers()
      ? ([["through the unix socket", (id: string) => reply(id, "--unix-socket $HOME/daemon.sock")]] as const)
      : []),
    ["in a session of its own", (id) => `t=${root}; setsid -w env DRAGOMAN_TOKEN=$t ${own} allow ${id}`],
    ["with nohup", (id) => `nohup ${dragoman} allow ${id}`],
    ["without its environment", (id) => `env -i HOME=$HOME PATH=$PATH ${own} allow ${id}`],
    [
      "as an orphan in a session of its own",
      (id) =>
        `(setsid sh -c 'sleep 0.3; env -u DRAGOMAN_TOKEN -u DRAGOMAN_URL ${own} allow ${id} >out.txt 2>&1; echo done >>out.txt' &) ; `.concat(
          "until grep -qs done out.txt; do sleep 0.05; done; cat out.txt; rm out.txt",
        ),
    ],
    [
      "and by closing before the answer",
      (id) =>
        `p=$(curl -s -H "authorization: Bearer ${root}" $DRAGOMAN_URL/v1/sessions/${id}/pending | grep -o 'prm_[a-zA-Z0-9_]*' | head -1); t=${root}; h=\${DRAGOMAN_URL#http://}; `.concat(
          `bash -c 'exec 3<>/dev/tcp/\${0%:*}/\${0#*:}; printf "POST /v1/sessions/${id}/permissions/$2/reply HTTP/1.1\\r\\nhost: $0\\r\\nauthorization: Bearer $1\\r\\ncontent-type: application/json\\r\\ncontent-length: 16\\r\\n\\r\\n{\\"reply\\":\\"once\\"}" >&3; exec 3>&-' $h $t $p; sleep 0.3; echo own_request`,
        ),
    ],
  ])("%s", async (_, command) => {
    const { session, ran, open } = await whileAsking(command);
    expect(ran.out + ran.err).toMatch(/own_request|agent_forbidden/);
    expect(await resolutions(session)).toEqual([]);
    const answered = await person("allow", session.id, open.permission_id);
    expect(answered).toMatchObject({ code: 0 });
    const [resolved] = await resolutions(session);
    expect(resolved?.data).toMatchObject({
      status: "approved",
      metadata: { resolved_by: "client", actor: { token_id: expect.stringMatching(/^tok_/), role: "admin", surface: "cli" } },
    });
    await session.terminate();
  });

  it("nor another session's, nor makes tokens, links and pages, nor sessions, nor sends", async () => {
    const other = await daemon.client.createSession({ agent: "mock", directory: dataDir });
    await other.send("ask");
    for await (const event of other.events()) if (event.type === "permission.requested") break;
    const { session, ran } = await whileAsking((id) =>
      [
        reply(other.id),
        post("/v1/auth/tokens", '{"role":"admin"}'),
        post("/v1/auth/links", "{}"),
        post("/v1/auth/page", `{"token":"'"${root}"'"}`),
        post("/v1/sessions", '{"agent":"mock","permission_mode":"bypass"}'),
        post(`/v1/sessions/${other.id}/messages`, '{"message":"x"}'),
        post(`/v1/sessions/${id}`, '{"permission_mode":"bypass"}', "-X PATCH"),
        `curl -s -o /dev/null -w '{"code":"own_%{http_code}"}' -H "authorization: Bearer $DRAGOMAN_TOKEN" $DRAGOMAN_URL/v1/sessions/${id}`,
        `curl -s -o /dev/null -w '{"code":"other_%{http_code}"}' -H "authorization: Bearer $DRAGOMAN_TOKEN" $DRAGOMAN_URL/v1/sessions/${other.id}`,
      ].join("; "),
    );
    const codes = [...ran.out.matchAll(/"code":"(\w+)"/g)].map(([, code]) => code);
    expect(codes).toEqual(["own_request", ...Array<string>(6).fill("agent_forbidden"), "own_200", "other_404"]);
    expect(await resolutions(other)).toEqual([]);
    expect((await session.get()).permission_mode).toBe("default");
    for (const each of [session, other]) await each.terminate();
  });
});

describe("the environment of an agent", () => {
  it("names its own session, and no request can set the daemon's variables", async () => {
    const session = await daemon.client.createSession({ agent: "rogue", directory: dataDir, env: { MINE: "1" } });
    expect((await session.prompt("env DRAGOMAN_SESSION_ID")).text).toBe(session.id);
    expect((await session.prompt("env DRAGOMAN_URL")).text).toBe(daemon.url);
    expect((await session.prompt("env MINE")).text).toContain("1");
    await session.terminate();
    for (const request of [
      { env: { DRAGOMAN_PROCESS: "" } },
      { mcp_servers: [{ name: "x", type: "stdio" as const, command: "true", env: { DRAGOMAN_TOKEN: "x" } }] },
    ])
      await expect(daemon.client.createSession({ agent: "rogue", ...request })).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("the daemon's own"),
      });
  });

  it("holds no token of the daemon's files", async () => {
    const session = await daemon.client.createSession({ agent: "rogue", directory: dataDir });
    const token = (await session.prompt("env DRAGOMAN_TOKEN")).text ?? "";
    expect(token.length).toBeGreaterThan(16);
    expect(readFileSync(join(dataDir, "daemon.json"), "utf8")).not.toContain(token);
    expect(readFileSync(join(dataDir, "token"), "utf8")).not.toContain(token);
    await session.terminate();
  });
});

describe.runIf(linux && hasCurl)("[A2] an agent that may delegate", () => {
  it("creates and drives sessions of its own, with no more rights than its own, and answers none of their requests", async () => {
    const dir = temporaryDir("delegate");
    const config = join(dir, ".config", "dragoman");
    await mkdir(config, { recursive: true });
    const rogue = testAgent(dir);
    writeFileSync(join(config, "config.json"), JSON.stringify({ agent_access: "delegate", agents: { acp: { rogue } } }));
    const other = await startDaemonProcess(dir);
    try {
      const stranger = await other.client.createSession({ agent: "mock", directory: dir });
      const parent = await other.client.createSession({ agent: "rogue", directory: dir });
      const mine = (path: string, body: string, token = "$DRAGOMAN_TOKEN") =>
        `curl -s -w '%{http_code} ' -H "authorization: Bearer ${token}" -H "content-type: application/json" -d '${body}' $DRAGOMAN_URL${path}`;
      const script = [
        mine("/v1/sessions", '{"agent":"mock","session_id":"child"}'),
        mine("/v1/sessions", '{"agent":"mock","permission_mode":"bypass"}', root),
        mine("/v1/sessions", '{"agent":"mock","directory":"/"}', root),
        mine("/v1/sessions", '{"agent":"mock","env":{"A":"b"}}', root),
        mine("/v1/sessions/child/messages", '{"message":"ask"}'),
        mine(`/v1/sessions/${stranger.id}/messages`, '{"message":"x"}', root),
        mine(`/v1/sessions/${stranger.id}/terminate`, "{}"),
        `until p=$(curl -s -H "authorization: Bearer $DRAGOMAN_TOKEN" $DRAGOMAN_URL/v1/sessions/child/pending | grep -o 'prm_[a-zA-Z0-9_]*'); do sleep 0.1; done`,
        mine("/v1/sessions/child/permissions/$p/reply", '{"reply":"once"}', root),
        mine("/v1/sessions/child/interrupt", "{}"),
      ].join("; ");
      await parent.send(`asking ${script}`);
      let said = "";
      for await (const event of parent.events()) {
        if (event.type === "item.delta" && event.data.delta.startsWith('{"code"')) said = event.data.delta;
        if (said !== "") break;
      }
      const codes = [...(JSON.parse(said) as Ran).out.matchAll(/"code":"(\w+)"|\b(20\d) /g)].map(([, code, ok]) => code ?? ok);
      expect(codes).toEqual([
        "201",
        "agent_forbidden",
        "agent_forbidden",
        "agent_forbidden",
        "202",
        "agent_forbidden",
        "session_not_found",
        "own_request",
        "204",
      ]);
      const child = other.client.session("child");
      expect((await child.get()).created_by).toMatchObject({ surface: "agent", session_id: parent.id });
      const { events } = await child.page({ types: ["turn.started", "permission.resolved", "turn.ended"] });
      expect(events.map(({ type, data }) => [type, "actor" in data ? data.actor?.session_id : undefined])).toEqual([
        ["turn.started", parent.id],
        ["permission.resolved", undefined],
        ["turn.ended", parent.id],
      ]);
    } finally {
      await other.kill("SIGTERM");
      removeDir(dir);
    }
  });
});
