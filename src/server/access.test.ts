/** Role and scope of every route and every WebSocket command, in a table made from the routes themselves: a new route is in it by being there. */
import { mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { ROLES, type Role, reaches } from "../schema/actor.ts";
import type { AuditList } from "../schema/audit.ts";
import type { Session } from "../schema/session.ts";
import type { SkillList } from "../schema/skill.ts";
import { TrustStore } from "../trust/trust-store.ts";
import { skillRoutes } from "./routes/skills.ts";
import { transferRoutes } from "./routes/transfer.ts";
import { trustRoutes } from "./routes/trust.ts";
import { OP_ACCESS } from "./socket-messages.ts";
import { problem, readSse, startTestServer, type TestServer } from "./test-server.ts";
import type { Scope } from "./token.ts";

type Route = { method: string; path: string; operation: string; role: Role; reach: string };
type Answer = { status: number; code: string | undefined };

type Operation = { operationId: string; "x-role"?: Role; "x-reach"?: string };

/** The decision for each operation: the least role it takes. `none`: no token at all. */
const DECIDED: Record<Role | "none", string[]> = {
  none: ["health", "openApi", "tradeToken"],
  observe: [
    "completePath",
    "diffCheckpoint",
    "endToken",
    "getAgent",
    "getCoverage",
    "getDirectorySettings",
    "getGitStatus",
    "getNode",
    "getSession",
    "getSnapshot",
    "getTask",
    "getTaskScreen",
    "getVerifyReport",
    "listAgents",
    "listArtifacts",
    "listChanges",
    "listCheckpoints",
    "listDaemons",
    "listEvents",
    "listFiles",
    "listItems",
    "listNodes",
    "listPending",
    "listQueue",
    "listSessionArtifacts",
    "listSessionTasks",
    "listSessions",
    "listSkills",
    "listTaskEvents",
    "listTasks",
    "listTrust",
    "makeLink",
    "metrics",
    "openSocket",
    "openTaskSocket",
    "previewArtifact",
    "readArtifact",
    "ready",
    "renewToken",
    "search",
    "statFile",
    "streamAllEvents",
    "streamEvents",
    "streamTaskEvents",
    "watchNodes",
    "whoAmI",
  ],
  approve: ["rejectQuestion", "replyPermission", "replyQuestion"],
  operate: [
    "cancelTask",
    "createSession",
    "deleteFile",
    "deleteSession",
    "deleteTask",
    "distrustDirectory",
    "exportSession",
    "forkSession",
    "getGitDiff",
    "importSession",
    "installAgent",
    "interruptSession",
    "listDirectories",
    "listModels",
    "listModes",
    "makeDirectory",
    "moveFile",
    "moveSession",
    "pruneSessions",
    "readFile",
    "readNative",
    "readTaskOutput",
    "removeQueued",
    "resizeTask",
    "resumeSession",
    "rewindCheckpoint",
    "searchFiles",
    "sendMessage",
    "sendMessageStream",
    "sendQueued",
    "shareSession",
    "signalTask",
    "startSessionTask",
    "startTask",
    "takeCheckpoint",
    "terminateSession",
    "trustDirectory",
    "updateQueued",
    "updateSession",
    "watchFiles",
    "writeFile",
    "writeTask",
  ],
  admin: ["drainNode", "fenceNode", "listAudit", "listTokens", "mintToken", "revokeToken"],
};

let server: TestServer;
let routes: Route[];
let inside: string;
let outside: string;

beforeAll(async () => {
  const limits = { body_bytes: 1024 * 1024, subscribers: 2_000, requests_per_second: 10_000, concurrent_requests: 1_000 };
  const trust = new TrustStore({ dataDir: mkdtempSync(join(tmpdir(), "dragoman-access-")) });
  const skills = skillRoutes({ list: async () => ({ skills: [], problems: [] }) as unknown as SkillList });
  server = await startTestServer({ routes: [transferRoutes, trustRoutes(trust), skills], limits });
  inside = join(server.dataDir, "inside");
  outside = join(server.dataDir, "outside");
  for (const directory of [inside, outside]) mkdirSync(directory);
  symlinkSync(outside, join(inside, "way-out"));
  const document = await server.json<{ paths: Record<string, Record<string, Operation>> }>("GET", "/openapi.json");
  routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const { "x-role": role, "x-reach": reach, operationId } = operation;
      return role && reach ? [{ method: method.toUpperCase(), path, operation: operationId, role, reach }] : [];
    }),
  );
});
afterAll(() => server.close());

const mint = (role: Role, scope: Scope | null = null): string => {
  const admin = server.tokens.find(server.token);
  if (!admin) throw new Error("the root token must be known");
  const issued = server.tokens.mint(admin, { role, scope, lifetimeMs: 20_000 });
  used.push(issued.token.id);
  return issued.secret;
};
const used: string[] = [];
const release = (): void => {
  for (const id of used.splice(0)) server.tokens.revoke(id);
};

/** The status and the code; a stream is cut as soon as it is open. */
const ask = (method: string, path: string, token: string, body?: unknown): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { authorization: `Bearer ${token}`, ...(text === undefined ? {} : { "content-type": "application/json" }) };
    const call = request({ host: "127.0.0.1", port: server.port, method, path, headers, agent: false }, (reply) => {
      let answer = "";
      const done = (): void => {
        const type = String(reply.headers["content-type"]);
        resolve({ status: reply.statusCode ?? 0, code: type.includes("problem") ? JSON.parse(answer).code : undefined });
      };
      if (reply.headers["content-type"]?.includes("event-stream")) {
        done();
        return call.destroy();
      }
      reply.setEncoding("utf8").on("data", (chunk: string) => {
        answer += chunk;
      });
      reply.on("end", done);
    });
    call.on("error", reject);
    call.end(text);
  });

const filled = ({ path }: Route, session = "sess_none"): string =>
  path
    .replace("{id}", session)
    .replace("{artifact}", `art_${"0".repeat(64)}`)
    .replace(/\{\w+\}/g, "x");

const session = (directory: string): Promise<Session> => server.createSession({ directory });

describe("roles", () => {
  it("every route takes the roles that reach its own, and refuses the others before it reads the body", async () => {
    expect(routes.length).toBeGreaterThan(38);
    const faults: unknown[] = [];
    for (const route of routes)
      for (const role of ROLES) {
        const { code } = await ask(route.method, filled(route), mint(role));
        const refused = code === "forbidden";
        if (refused === reaches(role, route.role)) faults.push([route.operation, route.role, role, code]);
        release();
      }
    expect(faults).toEqual([]);
  });

  it("are decided for every route: a new one without a decision here fails", async () => {
    const document = await server.json<{ paths: Record<string, Record<string, Operation>> }>("GET", "/openapi.json");
    const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    for (const [role, operations] of Object.entries(DECIDED))
      expect([
        role,
        all
          .filter((each) => (each["x-role"] ?? "none") === role)
          .map(({ operationId }) => operationId)
          .sort(),
      ]).toEqual([role, operations]);
  });

  it("of those who may only look change nothing but their own tokens", () => {
    const acting = routes.filter(({ method, role }) => method !== "GET" && role === "observe").map(({ operation }) => operation);
    expect(acting.sort()).toEqual(["endToken", "makeLink", "renewToken"]);
  });

  it("hold for the commands of a WebSocket as well", async () => {
    const { session_id } = await session(inside);
    for (const role of ROLES) {
      const ws = new WebSocket(`ws://127.0.0.1:${server.port}/v1/sessions/${session_id}/ws?subscribe=false`, {
        headers: { authorization: `Bearer ${mint(role)}` },
      });
      const answers = new Map<string, boolean>();
      const all = new Promise<void>((resolve) =>
        ws.on("message", (data) => {
          const message = JSON.parse(String(data));
          if (typeof message.id === "string") answers.set(message.id, message.problem?.code === "forbidden");
          if (answers.size === Object.keys(OP_ACCESS).length) resolve();
        }),
      );
      await new Promise((resolve) => ws.on("open", resolve));
      const fields: Record<string, object> = {
        send: { message: "say hello" },
        update_queued: { message_id: "none", position: 0 },
        remove_queued: { message_id: "none" },
        send_queued: { message_id: "none" },
        reply_permission: { permission_id: "none", reply: "once" },
        reply_question: { question_id: "none", answers: [] },
        reject_question: { question_id: "none" },
        configure: { title: "a title" },
      };
      // The end of the session closes the socket: last, and only by those who may not.
      const ops = Object.keys(OP_ACCESS).filter((op) => op !== "terminate" || !reaches(role, "operate"));
      for (const op of ops) ws.send(JSON.stringify({ id: op, op, ...fields[op] }));
      if (ops.length < Object.keys(OP_ACCESS).length) answers.set("terminate", false);
      await all;
      for (const [op, { role: need }] of Object.entries(OP_ACCESS))
        expect([role, op, answers.get(op)]).toEqual([role, op, !reaches(role, need)]);
      ws.terminate();
    }
    release();
  });
});

describe("scopes", () => {
  it("every route of a session answers for those in the scope, and does not know the others", async () => {
    const faults: unknown[] = [];
    for (const route of routes.filter(({ reach }) => reach === "session" || reach === "branch")) {
      const [own, foreign] = [await session(inside), await session(outside)];
      const byDirectory = mint("admin", { directories: [inside] });
      const bySession = mint("admin", { sessions: [own.session_id] });
      for (const token of [byDirectory, bySession]) {
        const hidden = await ask(route.method, filled(route, foreign.session_id), token);
        if (hidden.code !== "session_not_found") faults.push([route.operation, "foreign", hidden]);
      }
      const seen = await ask(route.method, filled(route, own.session_id), byDirectory);
      if (["session_not_found", "forbidden", "unauthorized"].includes(seen.code ?? ""))
        faults.push([route.operation, "own", seen]);
      expect((await server.call("GET", `/v1/sessions/${foreign.session_id}`)).status).toBe(200);
      for (const { session_id } of [own, foreign]) await server.call("DELETE", `/v1/sessions/${session_id}`);
      release();
    }
    expect(faults).toEqual([]);
  });

  it("every other route says what it reaches: all is refused, nothing is answered", async () => {
    const faults: unknown[] = [];
    for (const route of routes.filter(({ reach }) => reach === "all" || reach === "none")) {
      const { code } = await ask(route.method, filled(route), mint("admin", { directories: [inside] }));
      if ((code === "forbidden") !== (route.reach === "all")) faults.push([route.operation, code]);
      release();
    }
    expect(faults).toEqual([]);
    const filtered = routes.filter(({ reach }) => reach === "filtered").map(({ operation }) => operation);
    expect(filtered.sort()).toEqual([
      "listArtifacts",
      "listDirectories",
      "listSessions",
      "listTasks",
      "previewArtifact",
      "pruneSessions",
      "readArtifact",
      "search",
      "startTask",
      "streamAllEvents",
    ]);
    expect(routes.filter(({ reach }) => reach === "create").map(({ operation }) => operation)).toEqual(["createSession"]);
  });

  it("sessions are created in the directories of the scope only, and branched only there", async () => {
    const token = mint("operate", { directories: [inside] });
    const create = (body: object, by = token) => ask("POST", "/v1/sessions", by, { agent: "mock", ...body });
    expect((await create({ directory: inside })).status).toBe(201);
    for (const directory of [
      outside,
      server.dataDir,
      join(inside, "way-out"),
      join(inside, ".."),
      `${inside}/../outside`,
      "/nowhere",
    ])
      expect([directory, (await create({ directory })).code]).toEqual([directory, "forbidden"]);
    expect((await create({})).code).toBe("forbidden");
    expect((await create({ directory: inside, resume_native: "another-conversation" })).code).toBe("forbidden");
    const { session_id } = await session(inside);
    const bySession = mint("operate", { sessions: [session_id] });
    expect((await create({ directory: inside }, bySession)).code).toBe("forbidden");
    expect((await ask("POST", `/v1/sessions/${session_id}/fork`, bySession, {})).code).toBe("forbidden");
    release();
  });

  it("lists, the stream of all sessions and artifacts show what is in the scope", async () => {
    const [own, foreign] = [await session(inside), await session(outside)];
    const token = mint("operate", { directories: [inside] });
    const bearer = { authorization: `Bearer ${token}` };
    const listed = await server.json<{ sessions: Session[] }>("GET", "/v1/sessions?limit=500", undefined, bearer);
    expect(listed.sessions.map(({ session_id }) => session_id)).toContain(own.session_id);
    expect(listed.sessions.every(({ directory }) => directory === inside)).toBe(true);

    const attach = async (id: string, text: string): Promise<string> => {
      const data = Buffer.from(text).toString("base64");
      await server.call("POST", `/v1/sessions/${id}/messages`, {
        message: "say thanks",
        attachments: [{ name: "note.txt", mime: "text/plain", data }],
      });
      const blocks = await readSse(server, `/v1/sessions/${id}/events/sse`, (all) =>
        all.some(({ data: json }) => /art_/.test(json ?? "")),
      );
      return /art_[0-9a-f]{64}/.exec(JSON.stringify(blocks))?.[0] ?? "";
    };
    const foreignArtifact = await attach(foreign.session_id, "theirs");
    const ownArtifact = await attach(own.session_id, "ours");
    expect((await ask("GET", `/v1/artifacts/${ownArtifact}`, token)).status).toBe(200);
    expect((await ask("GET", `/v1/artifacts/${foreignArtifact}`, token)).code).toBe("artifact_not_found");
    expect((await ask("GET", `/v1/artifacts/${ownArtifact}/preview`, token)).status).toBe(200);
    expect((await ask("GET", `/v1/artifacts/${foreignArtifact}/preview`, token)).code).toBe("artifact_not_found");
    const shown = await server.raw("GET", "/v1/artifacts", { authorization: `Bearer ${token}` });
    expect(shown.text).toContain(ownArtifact);
    expect(shown.text).not.toContain(foreignArtifact);
    expect((await server.call("GET", `/v1/artifacts/${foreignArtifact}`)).status).toBe(200);

    const marker = "the last of ours";
    const path = "/v1/events/sse?after=0.0";
    await server.call("PATCH", `/v1/sessions/${own.session_id}`, { title: marker });
    const stream = await readSse({ port: server.port, token }, path, (all) => all.some(({ data }) => data?.includes(marker)));
    const text = JSON.stringify(stream);
    expect(text).toContain(own.session_id);
    expect(text).not.toContain(foreign.session_id);
    release();
  });

  it("directories are listed in the scope only, whatever links lead out of it", async () => {
    for (const name of ["inside/mine", "outside/theirs"]) mkdirSync(join(server.dataDir, name));
    const bearer = { authorization: `Bearer ${mint("operate", { directories: [inside] })}` };
    const listed = async (path: string): Promise<string[]> =>
      (await server.json<{ directories: string[] }>("GET", `/v1/directories?path=${encodeURIComponent(path)}`, undefined, bearer))
        .directories;
    expect(await listed(`${inside}/`)).toEqual([join(inside, "mine")]);
    for (const path of [`${inside}/way-out/`, `${inside}/../outside/`, `${outside}/`, "/", "~/", `${server.dataDir}/out`])
      expect([path, await listed(path)]).toEqual([path, []]);
    expect(
      (await server.json<{ directories: string[] }>("GET", `/v1/directories?path=${encodeURIComponent(`${inside}/way-out/`)}`))
        .directories,
    ).toEqual([join(inside, "way-out", "theirs")]);
    release();
  });

  it("a WebSocket is opened for sessions in the scope only", async () => {
    const [own, foreign] = [await session(inside), await session(outside)];
    const headers = { authorization: `Bearer ${mint("observe", { sessions: [own.session_id] })}` };
    const open = (id: string): Promise<number> =>
      new Promise((resolve) => {
        const ws = new WebSocket(`ws://127.0.0.1:${server.port}/v1/sessions/${id}/ws`, { headers });
        ws.on("open", () => {
          ws.terminate();
          resolve(101);
        });
        ws.on("unexpected-response", (_, reply) => resolve(reply.statusCode ?? 0));
        ws.on("error", () => {});
      });
    expect([await open(own.session_id), await open(foreign.session_id)]).toEqual([101, 404]);
    release();
  });

  it("a token for a removed session reaches no other session that takes its id", async () => {
    const [gone, stays] = [await session(inside), await session(inside)];
    const { token: shared } = await server.json<{ token: string }>("POST", `/v1/sessions/${gone.session_id}/share`);
    const named = mint("operate", { sessions: [gone.session_id, stays.session_id] });
    expect((await server.call("DELETE", `/v1/sessions/${gone.session_id}`)).status).toBe(204);
    await server.createSession({ session_id: gone.session_id, directory: outside });
    expect(server.tokens.find(shared)).toBeUndefined();
    const seen = [gone, stays].map(async ({ session_id }) => (await ask("GET", `/v1/sessions/${session_id}`, named)).status);
    expect(await Promise.all(seen)).toEqual([404, 200]);
    release();
  });

  it("a WebSocket that is left open reaches no other session that takes the id of its own", async () => {
    const { session_id } = await session(inside);
    const headers = { authorization: `Bearer ${mint("operate", { directories: [inside] })}` };
    const ws = new WebSocket(`ws://127.0.0.1:${server.port}/v1/sessions/${session_id}/ws?subscribe=false`, { headers });
    const next = (): Promise<{ problem?: { code: string } }> =>
      new Promise((resolve) => ws.once("message", (data) => resolve(JSON.parse(data.toString()))));
    await next();
    expect((await server.call("DELETE", `/v1/sessions/${session_id}`)).status).toBe(204);
    await server.createSession({ session_id, directory: outside });
    ws.send(JSON.stringify({ id: 1, op: "session" }));
    expect((await next()).problem?.code).toBe("session_not_found");
    ws.terminate();
    release();
  });
});

describe("the audit record", () => {
  const newest = async (limit = 5) => (await server.json<AuditList>("GET", `/v1/audit?limit=${limit}`)).records;

  it("has one entry for each command, made or refused, with its actor; reading leaves none", async () => {
    const { session_id } = await session(inside);
    const observer = mint("observe");
    expect((await ask("POST", `/v1/sessions/${session_id}/interrupt`, observer)).code).toBe("forbidden");
    await ask("GET", "/v1/sessions", observer);
    await server.call("POST", `/v1/sessions/${session_id}/messages/stream`, { message: "say hi" }, { "dragoman-client": "cli" });
    const { token, token_id } = await server.json<{ token: string; token_id: string }>("POST", "/v1/auth/tokens", {
      role: "observe",
    });
    await server.call("DELETE", `/v1/auth/tokens/${token_id}`);
    const records = await newest(5);
    expect(records.map(({ operation, outcome, actor }) => [operation, outcome, actor?.role, actor?.surface])).toEqual([
      ["revokeToken", "done", "admin", "http"],
      ["mintToken", "done", "admin", "http"],
      ["sendMessageStream", "done", "admin", "cli"],
      ["interruptSession", "refused", "observe", "http"],
      ["createSession", "done", "admin", "http"],
    ]);
    expect(records[0]?.target).toBe(token_id);
    expect(records[3]).toMatchObject({ code: "forbidden", status: 403, session_id });
    expect(JSON.stringify(await newest(1_000))).not.toContain(token);
    release();
  });

  it("has the commands of a WebSocket, and wrong tokens as one entry with a count", async () => {
    const { session_id } = await session(inside);
    const ws = new WebSocket(`ws://127.0.0.1:${server.port}/v1/sessions/${session_id}/ws`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    const answered = new Promise((resolve) => ws.on("message", (data) => String(data).includes('"ok"') && resolve(null)));
    await new Promise((resolve) => ws.on("open", resolve));
    ws.send(JSON.stringify({ id: 1, op: "interrupt" }));
    await answered;
    ws.terminate();
    expect((await newest(1))[0]).toMatchObject({ operation: "interruptSession", actor: { surface: "websocket" }, session_id });
    for (let i = 0; i < 8; i++) expect((await ask("GET", "/v1/sessions", `${i}-wrong-token`)).status).toBe(401);
    const refused = (await newest(10)).filter(({ operation }) => operation === "token.refused");
    expect(refused).toMatchObject([{ count: 8, remote: "this machine", actor: null }]);
  });

  it("is read page by page, the newest first", async () => {
    const all = await newest(1_000);
    const pages: string[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const query: string = after === "" ? "" : `&after=${after}`;
      const page: AuditList = await server.json("GET", `/v1/audit?limit=7${query}`);
      pages.push(...page.records.map(({ audit_id }) => audit_id));
      after = page.next;
    }
    expect(pages.slice(-all.length)).toEqual(all.map(({ audit_id }) => audit_id));
    expect(all.map(({ time }) => time)).toEqual([...all.map(({ time }) => time)].sort().reverse());
  });
});

describe("rate limits of a token", () => {
  it("refuse with Retry-After, count for this token only, and not for health or open streams", async () => {
    const limits = { body_bytes: 1024, subscribers: 50, requests_per_second: 1, concurrent_requests: 1 };
    const strict = await startTestServer({ limits });
    try {
      const observe = { authorization: `Bearer ${strict.tokens.secret("observe")}` };
      const { session_id } = await strict.createSession();
      const stream = readSse({ port: strict.port, token: strict.token }, `/v1/sessions/${session_id}/events/sse`, () => false);
      // Two in a burst, and an open stream is none of those at once.
      const answers = await Promise.all(Array.from({ length: 8 }, () => strict.raw("GET", "/v1/auth", observe)));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused.length).toBeGreaterThanOrEqual(6);
      expect(problem(refused[0] ?? answers[0] ?? { status: 0, headers: {}, text: "{}" }).code).toBe("too_many_requests");
      expect(Number(refused[0]?.headers["retry-after"])).toBeGreaterThan(0);
      for (let i = 0; i < 20; i++) expect((await strict.raw("GET", "/v1/health")).status).toBe(200);
      await strict.close();
      await stream;
    } finally {
      await strict.close().catch(() => {});
    }
  });
});
