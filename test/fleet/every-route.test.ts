/**
 * Every operation of the API, asked of the node that owns the session, of one that does not, and of a gateway: the same story three times must get the same answers. Ids, times and
 * what is each node's own are made comparable; an operation that is missing here fails.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { withoutPostgres } from "../../src/log/postgres/test-postgres.ts";
import { TestFleet, TOKEN } from "./test-fleet.ts";

type Answer = { status: number; body: unknown };
const PLACES = ["owner", "other", "gateway"] as const;
type Place = (typeof PLACES)[number];

const fleet = new TestFleet();

/** One place at which all is asked, and what it got so far. */
class Caller {
  readonly at: Place;
  readonly directory: string;
  readonly answers = new Map<string, Answer>();
  session = "";
  task = "";
  alone = "";
  checkpoint = "";
  artifact = "";
  permission = "";
  question = "";
  queued = "";
  token = "";

  constructor(at: Place) {
    this.at = at;
    this.directory = join(fleet.shared, at);
    mkdirSync(this.directory);
    execFileSync("git", ["init", "-q", this.directory]);
    writeFileSync(join(this.directory, "hello.txt"), "hello\n");
  }

  get path(): string {
    return `/v1/sessions/${this.session}`;
  }

  async ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    const answer = await fleet.call(this.at, method, path, body, headers);
    const text = await answer.text();
    return { status: answer.status, body: /json/.test(answer.headers.get("content-type") ?? "") ? lines(text) : text };
  }

  async value<T>(method: string, path: string, body?: unknown): Promise<T> {
    return (await this.ask(method, path, body)).body as T;
  }

  /** Server-sent events up to the first that matches. */
  async stream(method: string, path: string, until: RegExp, body?: unknown): Promise<Answer> {
    const answer = await fleet.call(this.at, method, path, body);
    let text = "";
    const decoder = new TextDecoder();
    for await (const part of answer.body ?? []) {
      text += decoder.decode(part, { stream: true });
      if (until.test(text)) break;
    }
    return { status: answer.status, body: { type: answer.headers.get("content-type"), matched: until.exec(text)?.[0] } };
  }

  /** What a socket says: what `until` wants, after `say` was sent on its first message. */
  socket(path: string, say: unknown, until: RegExp): Promise<Answer> {
    const socket = new WebSocket(`${fleet.url(this.at).replace("http", "ws")}${path}`, "dragoman.v1", {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    return new Promise((resolve, reject) => {
      let [text, said] = ["", false];
      socket.once("error", reject);
      socket.once("unexpected-response", (_, answer) => {
        answer.resume();
        resolve({ status: answer.statusCode ?? 0, body: null });
      });
      socket.on("message", (data) => {
        text += `${String(data)}\n`;
        if (!said) socket.send(JSON.stringify(say));
        said = true;
        const found = until.exec(text)?.[0];
        if (found === undefined) return;
        socket.terminate();
        resolve({ status: 101, body: found });
      });
    });
  }

  /** Sends it, and waits for the end of its turn. */
  async turn(message: string): Promise<Answer> {
    const answer = await this.ask("POST", `${this.path}/messages`, { message });
    await this.ended((answer.body as { turn_id: string }).turn_id);
    return answer;
  }

  async ended(turn: string): Promise<void> {
    const over = async (): Promise<boolean> =>
      (await fleet.events(this.at, this.session)).some((event) => event.type === "turn.ended" && event.data.turn_id === turn);
    await expect.poll(over).toBe(true);
    await expect.poll(async () => (await this.value<{ status: string }>("GET", this.path)).status).toBe("idle");
  }
}

const lines = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  }
};

/** In the order in which they are asked. What needs another to be there stands behind it. */
const asked: Record<string, (c: Caller) => Promise<Answer>> = {
  health: (c) => c.ask("GET", "/v1/health"),
  ready: (c) => c.ask("GET", "/v1/ready"),
  listDaemons: (c) => c.ask("GET", "/v1/daemons"),
  openApi: (c) => c.ask("GET", "/openapi.json"),
  whoAmI: (c) => c.ask("GET", "/v1/auth"),
  listNodes: async (c) => {
    const { status, body } = await c.ask("GET", "/v1/nodes");
    return {
      status,
      body: (body as { nodes: { node_id: string; state: string }[] }).nodes.map(({ node_id, state }) => [node_id, state]),
    };
  },
  getNode: async (c) => {
    const { status, body } = await c.ask("GET", "/v1/nodes/owner");
    const { node_id, state, places } = body as { node_id: string; state: string; places: string[] };
    return { status, body: { node_id, state, places } };
  },
  watchNodes: (c) => c.stream("GET", "/v1/nodes/sse", /event: nodes/),
  listAgents: (c) => c.ask("GET", "/v1/agents"),
  getAgent: (c) => c.ask("GET", "/v1/agents/mock"),
  listModels: (c) => c.ask("GET", "/v1/agents/mock/models"),
  listModes: (c) => c.ask("GET", "/v1/agents/mock/modes"),
  getVerifyReport: (c) => c.ask("GET", "/v1/agents/mock/verify"),
  installAgent: (c) => c.ask("POST", "/v1/agents/none/install", {}),
  listSkills: (c) => c.ask("GET", `/v1/skills?directory=${encodeURIComponent(c.directory)}`),
  listDirectories: (c) => c.ask("GET", `/v1/directories?path=${encodeURIComponent(fleet.shared)}`),
  trustDirectory: (c) => c.ask("POST", "/v1/trust", { directory: c.directory }),
  listTrust: async (c) => {
    const { status, body } = await c.ask("GET", "/v1/trust");
    const { directories } = body as { directories: { directory: string }[] };
    return { status, body: directories.filter(({ directory }) => directory === c.directory) };
  },
  createSession: async (c) => {
    const answer = await c.ask("POST", "/v1/sessions", {
      agent: "mock",
      directory: c.directory,
      node: "owner",
      title: "the story",
      trust: "trusted",
      env: { MOCK_AGENT_MEMORY: c.directory },
    });
    c.session = (answer.body as { session_id: string }).session_id;
    return answer;
  },
  sendMessage: async (c) => {
    const answer = await c.turn("say hello");
    await c.turn("edit");
    return answer;
  },
  sendMessageStream: (c) => c.stream("POST", `${c.path}/messages/stream`, /turn\.ended/, { message: "say again" }),
  updateSession: (c) => c.ask("PATCH", c.path, { title: "a title", tags: ["red"] }),
  getSession: (c) => c.ask("GET", c.path),
  getDirectorySettings: (c) => c.ask("GET", `${c.path}/settings`),
  listEvents: (c) => c.ask("GET", `${c.path}/events`),
  streamEvents: (c) => c.stream("GET", `${c.path}/events/sse`, /"type":"turn\.ended"/),
  streamAllEvents: (c) => c.stream("GET", "/v1/events/sse?after=0.0&kind=session", /"type":"session\.started"/),
  listItems: (c) => c.ask("GET", `${c.path}/items`),
  getSnapshot: (c) => c.ask("GET", `${c.path}/snapshot`),
  getCoverage: (c) => c.ask("GET", `${c.path}/coverage`),
  readNative: async (c) => {
    const { status, body } = await c.ask("GET", `${c.path}/native`);
    return { status, body: typeof body };
  },
  openSocket: async (c) => {
    const answer = await c.socket(`${c.path}/ws`, { id: "1", op: "send", message: "say by socket" }, /"id":"1".*/);
    await c.ended(/:"(turn_\w+)"/.exec(String(answer.body))?.[1] ?? "");
    return answer;
  },
  exportSession: async (c) => {
    const { status, body } = await c.ask("GET", `${c.path}/export`);
    return { status, body: typeof body };
  },
  importSession: async (c) => {
    const file = await (await fleet.call(c.at, "GET", `${c.path}/export`)).text();
    const answer = await fetch(`${fleet.url(c.at)}/v1/sessions/import?session_id=imported-${c.at}`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/x-ndjson" },
      body: file,
    });
    return { status: answer.status, body: Object.keys((await answer.json()) as object).sort() };
  },
  listFiles: (c) => c.ask("GET", `${c.path}/fs/list?path=.`),
  statFile: (c) => c.ask("GET", `${c.path}/fs/stat?path=hello.txt`),
  readFile: (c) => c.ask("GET", `${c.path}/fs/read?path=hello.txt`),
  writeFile: (c) => c.ask("POST", `${c.path}/fs/write`, { path: "new.txt", text: "new" }),
  makeDirectory: (c) => c.ask("POST", `${c.path}/fs/mkdir`, { path: "made" }),
  moveFile: (c) => c.ask("POST", `${c.path}/fs/move`, { from: "hello.txt", to: "made/hello.txt" }),
  deleteFile: (c) => c.ask("POST", `${c.path}/fs/delete`, { path: "new.txt" }),
  searchFiles: (c) => c.ask("GET", `${c.path}/fs/search?q=hello`),
  completePath: (c) => c.ask("GET", `${c.path}/fs/complete?q=hel`),
  watchFiles: (c) => c.stream("GET", `${c.path}/fs/watch`, /retry: \d+/),
  getGitStatus: (c) => c.ask("GET", `${c.path}/git/status`),
  getGitDiff: (c) => c.ask("GET", `${c.path}/git/diff`),
  takeCheckpoint: async (c) => {
    const answer = await c.ask("POST", `${c.path}/checkpoints`, { label: "here" });
    c.checkpoint = (answer.body as { checkpoint_id: string }).checkpoint_id;
    return answer;
  },
  listCheckpoints: (c) => c.ask("GET", `${c.path}/checkpoints`),
  diffCheckpoint: (c) => c.ask("GET", `${c.path}/checkpoints/${c.checkpoint}/diff`),
  rewindCheckpoint: (c) => c.ask("POST", `${c.path}/checkpoints/${c.checkpoint}/rewind`, { dry_run: true }),
  listChanges: (c) => c.ask("GET", `${c.path}/changes`),
  startSessionTask: async (c) => {
    const answer = await c.ask("POST", `${c.path}/tasks`, { command: "echo out; exec cat", execution_mode: "pty" });
    c.task = (answer.body as { task_id: string }).task_id;
    return answer;
  },
  listSessionTasks: (c) => c.ask("GET", `${c.path}/tasks`),
  getTask: (c) => c.ask("GET", `/v1/tasks/${c.task}`),
  writeTask: (c) => c.ask("POST", `/v1/tasks/${c.task}/stdin`, { text: "typed\n" }),
  resizeTask: (c) => c.ask("POST", `/v1/tasks/${c.task}/resize`, { rows: 20, cols: 70 }),
  streamTaskEvents: (c) => c.stream("GET", `/v1/tasks/${c.task}/events/sse`, /typed/),
  listTaskEvents: async (c) => {
    const { status } = await c.ask("GET", `/v1/tasks/${c.task}/events`);
    return { status, body: null };
  },
  readTaskOutput: (c) => c.stream("GET", `/v1/tasks/${c.task}/output`, /out/),
  getTaskScreen: async (c) => {
    const { status, body } = await c.ask("GET", `/v1/tasks/${c.task}/screen`);
    const { rows, cols } = body as { rows: number; cols: number };
    return { status, body: { rows, cols } };
  },
  openTaskSocket: (c) => c.socket(`/v1/tasks/${c.task}/ws`, { id: "1", op: "stdin", text: "by-socket\n" }, /by-socket/),
  signalTask: (c) => c.ask("POST", `/v1/tasks/${c.task}/signal`, { signal: "WINCH" }),
  cancelTask: (c) => c.ask("POST", `/v1/tasks/${c.task}/cancel`, {}),
  deleteTask: async (c) => {
    await expect.poll(async () => (await c.value<{ status: string }>("GET", `/v1/tasks/${c.task}`)).status).toBe("cancelled");
    return c.ask("DELETE", `/v1/tasks/${c.task}`);
  },
  // Started where it was asked for; from then on any place must do.
  startTask: async (c) => {
    const { status, body } = await c.ask("POST", "/v1/tasks", { command: "sleep 600", cwd: c.directory });
    const { task_id, origin_session_id, cwd } = body as { task_id: string; origin_session_id: null; cwd: string };
    c.alone = task_id;
    const elsewhere = PLACES.filter((place) => place !== c.at);
    const seen = await Promise.all(elsewhere.map((place) => fleet.call(place, "GET", `/v1/tasks/${c.alone}`)));
    const ended = await Promise.all(elsewhere.map((place) => fleet.call(place, "POST", `/v1/tasks/${c.alone}/cancel`, {})));
    const statuses = [...seen, ...ended].map((answer) => answer.status);
    return { status, body: { origin_session_id, cwd, statuses } };
  },
  listTasks: async (c) => {
    const { status, body } = await c.ask("GET", "/v1/tasks");
    return { status, body: (body as { tasks: { task_id: string }[] }).tasks.some(({ task_id }) => task_id === c.alone) };
  },
  listPending: async (c) => {
    await c.ask("POST", `${c.path}/messages`, { message: "ask touch it" });
    const pending = (): Promise<Answer> => c.ask("GET", `${c.path}/pending`);
    await expect.poll(async () => ((await pending()).body as { permissions: unknown[] }).permissions.length).toBe(1);
    const answer = await pending();
    c.permission = (answer.body as { permissions: { permission_id: string }[] }).permissions[0]?.permission_id ?? "";
    return answer;
  },
  listQueue: async (c) => {
    await c.ask("POST", `${c.path}/messages`, { message: "say later" });
    await c.ask("POST", `${c.path}/messages`, { message: "say much later" });
    const answer = await c.ask("GET", `${c.path}/queue`);
    c.queued = (answer.body as { messages: { message_id: string }[] }).messages[0]?.message_id ?? "";
    return answer;
  },
  updateQueued: (c) => c.ask("PATCH", `${c.path}/queue/${c.queued}`, { position: 1 }),
  sendQueued: (c) => c.ask("POST", `${c.path}/queue/${c.queued}/send`, {}),
  removeQueued: (c) => c.ask("DELETE", `${c.path}/queue/none`),
  replyPermission: async (c) => {
    const answer = await c.ask("POST", `${c.path}/permissions/${c.permission}/reply`, { reply: "once" });
    const rest = async (): Promise<number> => (await c.value<{ messages: unknown[] }>("GET", `${c.path}/queue`)).messages.length;
    await expect.poll(rest).toBe(0);
    return answer;
  },
  replyQuestion: (c) => c.ask("POST", `${c.path}/questions/none/reply`, { answers: [["a"]] }),
  rejectQuestion: (c) => c.ask("POST", `${c.path}/questions/none/reject`, {}),
  shareSession: async (c) => {
    const { status, body } = await c.ask("POST", `${c.path}/share`, {});
    return { status, body: Object.keys(body as object).sort() };
  },
  listSessionArtifacts: async (c) => {
    await c.turn("image");
    const answer = await c.ask("GET", `${c.path}/artifacts`);
    c.artifact = (answer.body as { artifacts: { artifact_id: string }[] }).artifacts[0]?.artifact_id ?? "";
    return answer;
  },
  listArtifacts: (c) => c.ask("GET", `/v1/artifacts?limit=1`),
  previewArtifact: (c) => c.ask("GET", `/v1/artifacts/${c.artifact}/preview`),
  readArtifact: async (c) => {
    const answer = await fleet.call(c.at, "GET", `/v1/artifacts/${c.artifact}`);
    return { status: answer.status, body: (await answer.arrayBuffer()).byteLength };
  },
  interruptSession: (c) => c.ask("POST", `${c.path}/interrupt`, {}),
  forkSession: async (c) => {
    const { status, body } = await c.ask("POST", `${c.path}/fork`, {});
    return { status, body: Object.keys(body as object).sort() };
  },
  search: async (c) => {
    await expect
      .poll(async () => (await c.value<{ hits: unknown[] }>("GET", `/v1/search?q=hello&session=${c.session}`)).hits.length)
      .toBeGreaterThan(0);
    return { status: 200, body: null };
  },
  listSessions: async (c) => {
    const { status, body } = await c.ask("GET", "/v1/sessions?node=owner&tag=red");
    const mine = (body as { sessions: { session_id: string }[] }).sessions.filter(({ session_id }) => session_id === c.session);
    return { status, body: mine };
  },
  moveSession: (c) => c.ask("POST", `${c.path}/move`, { node: "nobody" }),
  terminateSession: (c) => c.ask("POST", `${c.path}/terminate`, {}),
  resumeSession: (c) => c.ask("POST", `${c.path}/resume`, {}),
  pruneSessions: (c) => c.ask("POST", "/v1/sessions/prune", { older_than: "9999w", dry_run: true }),
  deleteSession: (c) => c.ask("DELETE", c.path),
  distrustDirectory: (c) => c.ask("DELETE", `/v1/trust?directory=${encodeURIComponent(c.directory)}`),
  drainNode: (c) => c.ask("POST", "/v1/nodes/nobody/drain", {}),
  fenceNode: (c) => c.ask("POST", "/v1/nodes/nobody/fence", {}),
  mintToken: async (c) => {
    const answer = await c.ask("POST", "/v1/auth/tokens", { role: "observe" });
    c.token = (answer.body as { token_id: string }).token_id;
    return answer;
  },
  revokeToken: (c) => c.ask("DELETE", `/v1/auth/tokens/${c.token}`),
  makeLink: async (c) => {
    const { status, body } = await c.ask("POST", "/v1/auth/links", {});
    return { status, body: Object.keys(body as object).sort() };
  },
  tradeToken: async (c) => {
    const { status, body } = await c.ask("POST", "/v1/auth/page", { token: TOKEN }, { origin: fleet.url(c.at) });
    return { status, body: Object.keys(body as object).sort() };
  },
  renewToken: (c) => c.ask("POST", "/v1/auth/renew", {}),
  endToken: (c) => c.ask("POST", "/v1/auth/logout", {}),
};

/** Of one node, and said so in docs/fleet.md: what it measured, who did what there, the tokens it minted. */
const OWN = ["metrics", "listAudit", "listTokens"];

describe.skipIf(withoutPostgres())("every route", () => {
  const callers: Caller[] = [];

  beforeAll(async () => {
    await fleet.start({ id: "owner" }, { id: "other" }, { id: "gateway", kind: "gateway" });
    for (const place of PLACES) callers.push(new Caller(place));
  });
  afterAll(() => fleet.stop());

  it("is asked in the same story at three places", async () => {
    const tell = async (caller: Caller): Promise<void> => {
      for (const [name, ask] of Object.entries(asked)) {
        const answer = await ask(caller).catch((error: unknown) => ({ status: 0, body: String(error) }));
        caller.answers.set(name, answer);
      }
    };
    await Promise.all(callers.map(tell));
  });

  it("of the description is here, or belongs to one node", async () => {
    type Described = { paths: Record<string, Record<string, { operationId?: string }>> };
    const { paths } = await fleet.json<Described>("gateway", "GET", "/openapi.json");
    const described = Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ operationId }) => operationId ?? []));
    expect([...Object.keys(asked), ...OWN].sort()).toEqual(described.sort());
  });

  it.each(Object.keys(asked))("%s answers the same on its owner, on another node and on a gateway", (name) => {
    const [own, ...others] = callers.map((caller) => comparable(caller, caller.answers.get(name)));
    expect(own?.status, JSON.stringify(own)).not.toBe(0);
    for (const other of others) expect(other).toEqual(own);
  });
});

/** Ids in the order in which they occur, no times, and nothing that depends on when it was asked. */
function comparable(caller: Caller, answer: Answer | undefined): Answer | undefined {
  if (!answer) return undefined;
  const ids = new Map<string, string>();
  const text = JSON.stringify(answer)
    .replaceAll(caller.directory, "<directory>")
    .replaceAll(fleet.url(caller.at), "<url>")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, "<time>")
    .replaceAll(/\b[a-z]{2,5}_[0-9a-z]{12,}\b|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, (id) => {
      ids.set(id, ids.get(id) ?? `id ${ids.size}`);
      return ids.get(id) ?? "";
    })
    .replaceAll(OF_THE_MOMENT, '"$1":"<own>"');
  return JSON.parse(text) as Answer;
}

const OF_THE_MOMENT =
  /"(pid|\w+_ms|token|etag|call_id|native_item_id|sequence|last_sequence|next|bytes|size)":("(?:[^"\\]|\\.)*"|[\d.]+)/g;
