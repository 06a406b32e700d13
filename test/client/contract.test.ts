// The client against the running daemon's own description: every operation has a method, and the method makes that request with every parameter.
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket } from "ws";
import { Dragoman, DragomanError, SessionFiles, SessionHandle, TaskHandle } from "../../src/client/index.ts";
import { operations } from "../../src/client/operations.ts";
import type { WebSocketConstructor } from "../../src/client/session-socket.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "../daemon-process.ts";

type Operation = { operationId: string; method: string; path: RegExp; query: string[] };
type Seen = { method: string; url: URL; headers: Headers; status: number; code: string | undefined };
type Call = (daemon: Dragoman, session: SessionHandle) => Promise<unknown> | AsyncGenerator<unknown>;

let dataDir: string;
let daemon: DaemonProcess;
let client: Dragoman;
let session: SessionHandle;
let described: Operation[];
const seen: Seen[] = [];
/** Ends a stream that may have nothing to tell, as soon as it is open. */
let answered: AbortController | undefined;

/** The real fetch, overheard. */
const overheard: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const problem = response.ok ? undefined : ((await response.clone().json()) as { code: string });
  seen.push({
    method: init?.method ?? "GET",
    url: new URL(String(input)),
    headers: new Headers(init?.headers),
    status: response.status,
    code: problem?.code,
  });
  answered?.abort();
  return response;
};

class OverheardSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols);
    seen.push({ method: "GET", url: new URL(url), headers: new Headers(), status: 101, code: undefined });
  }
}

beforeAll(async () => {
  dataDir = temporaryDir("contract");
  daemon = await startDaemonProcess(dataDir);
  client = new Dragoman({ url: daemon.url, token: daemon.token, fetch: overheard });
  session = await client.createSession({ agent: "mock" });
  await session.prompt("say hello");
  described = operationsOf(await client.openApi());
});

afterAll(async () => {
  await daemon.kill("SIGTERM");
  removeDir(dataDir);
});

const nobody = (): SessionHandle => client.session("nobody");
const everyTask = { status: "exited" as const, limit: 1, before: "1.1" };
const everyArtifact = { kind: "text", min_bytes: 1, order: "largest", limit: 1, before: `1.art_${"0".repeat(64)}` } as const;
const everyType = { types: ["session.started" as const], includeRaw: true };

/** Each asks for all it can. Those that would end what others need are about a session that is not there. */
const calls: Record<keyof typeof operations, Call> = {
  health: (d) => d.health(),
  ready: (d) => d.ready(),
  metrics: (d) => d.metrics(),
  openApi: (d) => d.openApi(),
  listDaemons: (d) => d.daemons(),
  whoAmI: (d) => d.whoAmI(),
  tradeToken: (d) => d.signIn(daemon.token),
  renewToken: (d) => d.renew(),
  endToken: (d) => d.signOut(),
  makeLink: (d) => d.makeLink({ role: "observe", label: "a test" }),
  listTokens: (d) => d.tokens(),
  listAudit: (d) => d.audit({ limit: 1, after: "0000000000000-000000" }),
  mintToken: (d) => d.mintToken("observe", { lifetime_ms: 60_000 }),
  revokeToken: (d) => d.revokeToken("tok_none"),
  listAgents: (d) => d.agents(),
  getAgent: (d) => d.agent("mock"),
  listModels: (d) => d.models("mock", { directory: dataDir }),
  listModes: (d) => d.modes("mock", { directory: dataDir }),
  getVerifyReport: (d) => d.verifyReport("mock"),
  installAgent: (d) => d.installAgent("mock"),
  listTrust: (d) => d.trustedDirectories(),
  trustDirectory: (d) => d.trustDirectory("/"),
  distrustDirectory: (d) => d.distrustDirectory("/"),
  listDirectories: (d) => d.directories(dataDir),
  listSkills: (d) => d.skills({ directory: dataDir }),
  listNodes: (d) => d.nodes(),
  watchNodes: (d) => d.watchNodes({ after: "0.0" }),
  getNode: (d) => d.node("n"),
  drainNode: (d) => d.drainNode("n", { undo: true }),
  fenceNode: (d) => d.fenceNode("n"),
  moveSession: (_, s) => s.move({ node: "n" }),
  createSession: (d) => d.createSession({ agent: "mock" }, { idempotencyKey: "k1" }),
  listSessions: (d) =>
    d.sessions({
      ...{ limit: 1, before: "zzz", agent: "mock", status: "idle", directory: dataDir, search: "x", order: "updated" },
      ...{ tag: "t", archived: "include", ended: "include", pinned: false, node: "n", labels: { zone: "a" } },
    }),
  importSession: (d) => d.importSession("not a session", { session_id: "imported", resume: true }, { idempotencyKey: "k2" }),
  pruneSessions: (d) => d.pruneSessions({ older_than: "9999w", keep: 100, dry_run: true }),
  streamAllEvents: (d) => {
    answered = new AbortController();
    const { signal } = answered;
    return d.events({ ...everyType, after: "0.0", kinds: ["session", "task"], node: "n", labels: { zone: "a" }, signal });
  },
  search: (d) => d.search("x", { agent: "mock", directory: dataDir, session: "s", kind: "user,tool", limit: 1, before: "1" }),
  readArtifact: (d) => d.artifact("none", { start: 1, end: 2 }),
  listArtifacts: (d) => d.artifacts(everyArtifact),
  previewArtifact: (d) => d.artifactPreview("none"),
  listSessionArtifacts: (_, s) => s.artifacts(everyArtifact),
  getSession: (_, s) => s.get(),
  shareSession: (_, s) => s.share(),
  getDirectorySettings: (_, s) => s.directorySettings(),
  updateSession: (_, s) => s.update({ title: "new" }),
  deleteSession: () => nobody().remove(),
  interruptSession: () => nobody().interrupt(),
  resumeSession: () => nobody().resume(),
  terminateSession: () => nobody().terminate(),
  forkSession: () => nobody().fork({}, { idempotencyKey: "k3" }),
  exportSession: (_, s) => s.export({ with_secrets: true }),
  sendMessage: (_, s) => s.send("say one", { idempotencyKey: "k4" }),
  sendMessageStream: (_, s) => s.sendStream("say two", everyType),
  listEvents: async (d, s) => {
    const { epoch } = await d.health();
    return s.page({ ...everyType, after: 0, epoch, before: 9, limit: 1, order: "desc", dialect: "frames", version: 2 });
  },
  streamEvents: (_, s) => s.events({ ...everyType, after: 0 }),
  openSocket: async (_, s) => (await s.socket({ WebSocket: OverheardSocket as unknown as WebSocketConstructor })).close(),
  listItems: (_, s) => s.items({ after: 0, before: 9, limit: 1, order: "desc", at: 1 }),
  getSnapshot: (_, s) => s.snapshot({ at: 1 }),
  listCheckpoints: (_, s) => s.checkpoints(),
  takeCheckpoint: () => nobody().takeCheckpoint({ label: "x" }, { idempotencyKey: "k5" }),
  diffCheckpoint: (_, s) => s.diff("none", { to: "now", text: false, path: "a" }),
  rewindCheckpoint: (_, s) => s.rewind("none", { dry_run: true }, { idempotencyKey: "k6" }),
  listChanges: (_, s) => s.changes({ turn: "none", text: false, path: "a" }),
  listQueue: (_, s) => s.queue(),
  updateQueued: (_, s) => s.updateQueued("none", { position: 0 }),
  removeQueued: (_, s) => s.removeQueued("none"),
  sendQueued: (_, s) => s.sendQueued("none"),
  listPending: (_, s) => s.pending(),
  replyPermission: (_, s) => s.replyPermission("none", { reply: "once" }),
  replyQuestion: (_, s) => s.replyQuestion("none", [["a"]]),
  rejectQuestion: (_, s) => s.rejectQuestion("none"),
  getCoverage: (_, s) => s.coverage(),
  readNative: (_, s) => s.native({ after: 0, limit: 1 }),
  startSessionTask: (_, s) => s.startTask({ command: "true" }, { idempotencyKey: "k5" }),
  listSessionTasks: (_, s) => s.tasks(everyTask),
  startTask: (d) => d.startTask({ command: "true" }, { idempotencyKey: "k6" }),
  listTasks: (d) => d.tasks(everyTask),
  getTask: (d) => d.task("none").get(),
  deleteTask: (d) => d.task("none").remove(),
  writeTask: (d) => d.task("none").write("x"),
  resizeTask: (d) => d.task("none").resize({ rows: 1, cols: 1 }),
  signalTask: (d) => d.task("none").signal("TERM"),
  cancelTask: (d) => d.task("none").cancel(),
  listTaskEvents: (d) =>
    d
      .task("none")
      .page({ after: 0, before: 9, limit: 1, order: "desc", types: ["task.status"], dialect: "frames", version: 2, epoch: "0" }),
  streamTaskEvents: (d) => d.task("none").events({ after: 0, types: ["task.status"] }),
  readTaskOutput: (d) => d.task("none").output({ stream: "stdout", offset: 1, limit: 1 }),
  getTaskScreen: (d) => d.task("none").screen({ scrollback: 1 }),
  listFiles: (_, s) => s.files.list("", { limit: 1, after: "a" }),
  statFile: (_, s) => s.files.stat("none", { follow: false }),
  readFile: (_, s) => s.files.read("none"),
  writeFile: (_, s) => s.files.write("../none", "x"),
  makeDirectory: (_, s) => s.files.mkdir("../none"),
  moveFile: (_, s) => s.files.move("none", "none2"),
  deleteFile: (_, s) => s.files.delete("none"),
  searchFiles: (_, s) => s.files.search("none", { regex: false, ignore_case: true, path: "none", glob: "*.none", limit: 1 }),
  completePath: (_, s) => s.files.complete("none", { limit: 1 }),
  watchFiles: (_, s) => s.files.watch(),
  getGitStatus: (_, s) => s.files.gitStatus(),
  getGitDiff: (_, s) => s.files.gitDiff({ staged: true, base: "HEAD", path: "none" }),
  openTaskSocket: async (d, s) => {
    const { id } = await s.startTask({ command: "sleep 600" });
    (await d.task(id).socket({ WebSocket: OverheardSocket as unknown as WebSocketConstructor })).close();
    await d.task(id).cancel();
  },
};

/** `offset` is another name of `after`; the streams resume by header, and speak dialects through methods of their own. */
const ELSEWHERE: Record<string, string[]> = {
  listEvents: ["offset"],
  sendMessageStream: ["dialect", "version"],
  streamEvents: ["offset", "after", "epoch", "dialect", "version"],
  streamAllEvents: ["after", "dialect", "version"],
  watchNodes: ["after"],
  listTaskEvents: ["offset"],
  streamTaskEvents: ["offset", "after", "epoch", "dialect", "version"],
};

it("has a method for every operation the daemon describes, and for no other", () => {
  expect(Object.keys(operations).sort()).toEqual(described.map(({ operationId }) => operationId).sort());
});

const owners: Record<string, object> = {
  Dragoman: Dragoman.prototype,
  SessionHandle: SessionHandle.prototype,
  TaskHandle: TaskHandle.prototype,
  SessionFiles: SessionFiles.prototype,
};

it.each(Object.keys(operations) as (keyof typeof operations)[])("%s: the method makes the request", async (id) => {
  const [owner, name = ""] = operations[id].split(".");
  expect(typeof Reflect.get(owners[owner ?? ""] ?? {}, name)).toBe("function");
  expect(calls[id].toString()).toContain(`.${name}(`);
  seen.length = 0;
  await play(calls[id](client, session));
  const operation = described.find(({ operationId }) => operationId === id);
  const request = seen.find(({ method, url }) => method === operation?.method && operation.path.test(url.pathname));
  expect(request, `${operation?.method} ${operation?.path}`).toBeDefined();
  expect(request?.code).not.toBe("not_found");
  const left = operation?.query.filter((name) => !request?.url.searchParams.has(name) && !ELSEWHERE[id]?.includes(name));
  expect(left).toEqual([]);
  if (["createSession", "importSession", "forkSession", "sendMessage", "startTask", "startSessionTask"].includes(id))
    expect(request?.headers.get("idempotency-key")).toMatch(/^k\d$/);
});

it("resumes streams by header, and asks for ranges", async () => {
  const { epoch } = await client.health();
  seen.length = 0;
  await play(session.events({ after: 1 }));
  await play(session.events({ after: 1, epoch }));
  await play(client.artifact("none", { start: 1, end: 2 }));
  expect(seen.map(({ headers }) => headers.get("last-event-id") ?? headers.get("range"))).toEqual([
    "1",
    `1@${epoch}`,
    "bytes=1-2",
  ]);
});

it("gives errors the daemon's code, status and advice", async () => {
  await expect(nobody().get()).rejects.toMatchObject({ name: "DragomanError", code: "session_not_found", status: 404 });
  await expect(new Dragoman({ url: daemon.url, token: "wrong" }).agents()).rejects.toMatchObject({ code: "unauthorized" });
  await expect(new Dragoman({ url: "http://127.0.0.1:1" }).health()).rejects.toMatchObject({ code: "unreachable", status: 0 });
  await expect(client.health(AbortSignal.abort())).rejects.toMatchObject({ code: "aborted" });
});

/** To the first event, for streams; problems of the daemon are answers too. */
async function play(result: ReturnType<Call>): Promise<void> {
  try {
    if (!(Symbol.asyncIterator in result)) return void (await result);
    await result.next();
    await result.return(undefined);
  } catch (error) {
    if (!(error instanceof DragomanError) || error.code === "unreachable") throw error;
  } finally {
    answered = undefined;
  }
}

function operationsOf(document: Record<string, unknown>): Operation[] {
  type Described = { operationId: string; parameters: { name: string; in: string }[] };
  const paths = document.paths as Record<string, Record<string, Described>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters }]) => ({
      operationId,
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
      query: parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name),
    })),
  );
}
