import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LogHealth } from "../log/contract.ts";
import * as schemas from "../schema/session.ts";
import { problem, readSse, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
let inspectorDir: string;
beforeAll(async () => {
  inspectorDir = mkdtempSync(join(tmpdir(), "dragoman-inspector-"));
  writeFileSync(join(inspectorDir, "index.html"), "<!doctype html><title>inspector</title>");
  mkdirSync(join(inspectorDir, "assets"));
  writeFileSync(join(inspectorDir, "assets", "app.js"), "console.log(1)");
  writeFileSync(join(inspectorDir, "assets", "app-BMJQn-FI.js"), "console.log(2)");
  writeFileSync(join(inspectorDir, "assets", "app-BMJQn-FI.js.br"), brotliCompressSync("console.log(2)"));
  writeFileSync(join(inspectorDir, "assets", "app-BMJQn-FI.js.gz"), gzipSync("console.log(2)"));
  server = await startTestServer({ inspectorDir });
});
afterAll(async () => {
  await server.close();
  rmSync(inspectorDir, { recursive: true, force: true });
});

const fits = (schema: TSchema, value: unknown): void => expect([...Value.Errors(schema, value)].slice(0, 3)).toEqual([]);

describe("sessions", () => {
  it("are listed newest first, in pages and by filters", async () => {
    const made: string[] = [];
    for (const title of ["Alpha", "Beta", "Gamma"]) made.push((await server.createSession({ title })).session_id);
    const first = await server.json<schemas.SessionList>("GET", "/v1/sessions?limit=2");
    fits(schemas.SessionList, first);
    expect(first.sessions.map(({ title }) => title)).toEqual(["Gamma", "Beta"]);
    const second = await server.json<schemas.SessionList>("GET", `/v1/sessions?limit=2&before=${first.next}`);
    expect(second.sessions.map(({ title }) => title)).toEqual(["Alpha"]);
    const found = await server.json<schemas.SessionList>("GET", "/v1/sessions?search=beta&agent=mock&status=idle");
    expect(found.sessions.map(({ session_id }) => session_id)).toEqual([made[1]]);
    expect((await server.call("GET", "/v1/sessions?status=asleep")).status).toBe(400);
  });

  it("are changed, forked and removed", async () => {
    const { session_id: id } = await server.createSession();
    const changed = await server.json<schemas.Session>("PATCH", `/v1/sessions/${id}`, { title: "New", model: "mock-2" });
    fits(schemas.Session, changed);
    expect(changed).toMatchObject({ title: "New", model: "mock-2" });
    await server.play(id, "say one");
    const fork = await server.call("POST", `/v1/sessions/${id}/fork`);
    expect([fork.status, JSON.parse(fork.text).forked_from]).toEqual([201, id]);
    expect((await server.call("DELETE", `/v1/sessions/${id}`)).status).toBe(204);
    expect((await server.call("DELETE", `/v1/sessions/${id}`)).status).toBe(404);
  });

  it("are interrupted", async () => {
    const { session_id: id } = await server.createSession();
    await server.call("POST", `/v1/sessions/${id}/messages`, { message: "ask" });
    await readSse(server, `/v1/sessions/${id}/events/sse?types=permission.requested`, (blocks) => blocks.length > 1);
    expect((await server.call("POST", `/v1/sessions/${id}/interrupt`, {})).status).toBe(204);
    const ended = await readSse(server, `/v1/sessions/${id}/events/sse?types=turn.ended`, (blocks) => blocks.length > 1);
    expect(ended[1]?.data).toContain('"stop_reason":"interrupted"');
  });
});

describe("requests", () => {
  it("are listed and answered; the same answer again is fine, another is not", async () => {
    const { session_id: id } = await server.createSession();
    await server.call("POST", `/v1/sessions/${id}/messages`, { message: "question" });
    await readSse(server, `/v1/sessions/${id}/events/sse?types=question.requested`, (blocks) => blocks.length > 1);
    const pending = await server.json<schemas.Pending>("GET", `/v1/sessions/${id}/pending`);
    fits(schemas.Pending, pending);
    const [question] = pending.questions;
    const path = `/v1/sessions/${id}/questions/${question?.question_id}`;
    expect((await server.call("POST", `${path}/reply`, { answers: [] })).status).toBe(422);
    const answers = question?.questions.map(() => ["Red"]);
    expect((await server.call("POST", `${path}/reply`, { answers })).status).toBe(204);
    expect((await server.call("POST", `${path}/reply`, { answers })).status).toBe(204);
    expect((await server.call("POST", `${path}/reject`)).status).toBe(409);
  });
});

describe("behind the events", () => {
  it("lie coverage, native messages and items", async () => {
    const { session_id: id } = await server.createSession();
    await server.play(id, "say hello\nshell ls");
    const coverage = await server.json<schemas.Coverage>("GET", `/v1/sessions/${id}/coverage`);
    fits(schemas.Coverage, coverage);
    const native = await server.call("GET", `/v1/sessions/${id}/native`);
    expect(native.headers["content-type"]).toBe("application/x-ndjson");
    const lines = native.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const total = Object.values(coverage.totals).reduce((sum, count) => sum + count, 0);
    expect(lines.filter(({ dir }) => dir !== "daemon")).toHaveLength(total);
    expect(lines.map(({ native_seq }) => native_seq)).toEqual(lines.map((_, index) => index + 1));
    expect(lines.find(({ dir }) => dir === "in")).toMatchObject({ data: { type: "prompt" } });
    const some = await server.call("GET", `/v1/sessions/${id}/native?after=2&limit=3`);
    expect(
      some.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).native_seq),
    ).toEqual([3, 4, 5]);
    const items = await server.json<schemas.ItemList>("GET", `/v1/sessions/${id}/items`);
    fits(schemas.ItemList, items);
    expect(items.items.map(({ kind }) => kind)).toContain("tool_result");
  });
});

describe("artifacts", () => {
  it("are given whole, by range, and never run in a browser", async () => {
    const text = "<script>alert(1)</script>0123456789";
    const { artifact_id } = (await server.core.manager.get((await server.createSession()).session_id)).stream.artifacts.put(
      Buffer.from(text),
      {
        kind: "file",
        mime: "text/html",
        name: "ä b.html",
      },
    );
    const path = `/v1/artifacts/${artifact_id}`;
    const whole = await server.call("GET", path);
    expect([whole.status, whole.text]).toEqual([200, text]);
    expect(whole.headers["content-security-policy"]).toContain("sandbox");
    expect(whole.headers["content-disposition"]).toBe("attachment; filename*=UTF-8''%C3%A4%20b.html");
    const range = (value: string) => server.call("GET", path, undefined, { range: value });
    const size = text.length;
    for (const [value, start, end] of [
      ["bytes=0-3", 0, 3],
      ["bytes=5-", 5, size - 1],
      ["bytes=-10", size - 10, size - 1],
      ["bytes=30-9999", 30, size - 1],
    ] as const) {
      const part = await range(value);
      expect([part.status, part.text, part.headers["content-range"]]).toEqual([
        206,
        text.slice(start, end + 1),
        `bytes ${start}-${end}/${size}`,
      ]);
    }
    const outside = await range(`bytes=${size}-`);
    expect([outside.status, outside.headers["content-range"]]).toEqual([416, `bytes */${size}`]);
    for (const value of ["bytes=0-1,3-4", "lines=1-2", "bytes=5-2", "bytes=-"]) expect((await range(value)).status).toBe(200);
    const again = await server.call("GET", path, undefined, { "if-none-match": String(whole.headers.etag) });
    expect(again.status).toBe(304);
  });

  it("hold what was attached, by bytes or by path", async () => {
    writeFileSync(join(server.dataDir, "note.txt"), "a note");
    const { session_id: id } = await server.createSession();
    const attachments = [
      { data: Buffer.from("bytes").toString("base64"), mime: "text/plain", name: "b.txt" },
      { path: "note.txt" },
    ];
    expect((await server.call("POST", `/v1/sessions/${id}/messages`, { message: "say one", attachments })).status).toBe(202);
    const native = await readSse(server, `/v1/sessions/${id}/events/sse?types=turn.ended`, (blocks) => blocks.length > 1);
    expect(native).toHaveLength(2);
    expect((await server.call("GET", `/v1/sessions/${id}/native`)).text).toContain("note.txt");
  });
});

describe("agents", () => {
  it("are listed, described and installed", async () => {
    fits(schemas.AgentList, await server.json("GET", "/v1/agents"));
    fits(schemas.AgentInfo, await server.json("GET", "/v1/agents/mock"));
    fits(schemas.ModelList, await server.json("GET", "/v1/agents/mock/models?directory=/tmp"));
    fits(schemas.ModeList, await server.json("GET", "/v1/agents/mock/modes"));
    const never = await server.call("GET", "/v1/agents/mock/verify");
    expect([never.status, problem(never).code]).toEqual([404, "never_verified"]);
    const { text } = await server.call("POST", "/v1/agents/mock/install");
    expect(text).toMatch(/event: progress\ndata: {"message":"fetching"}\n\nevent: done\ndata: {"agent":"mock"/);
  });
});

describe("the daemon about itself", () => {
  it("is alive, ready and measured", async () => {
    expect(await server.json("GET", "/v1/health")).toEqual({
      status: "ok",
      version: "0.0.0-test",
      log_id: server.core.log.id,
      epoch: server.core.log.epoch,
      log: "ok",
    });
    expect(await server.json("GET", "/v1/ready")).toEqual({ status: "ready", unreadable_sessions: [] });
    const { text, headers } = await server.call("GET", "/metrics");
    expect(headers["content-type"]).toContain("text/plain");
    for (const line of text.trim().split("\n"))
      expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [\d.e+]+)$/);
    expect(text).toMatch(/dragoman_native_messages_total\{disposition="mapped"\} [1-9]/);
    expect(text).toMatch(/dragoman_http_requests_total\{method="GET",route="\/v1\/health",status="200"\} [1-9]/);
  });

  it("is not ready while the log cannot write", async () => {
    const damage = { places: 0, streams: [], message: null };
    const health: LogHealth = { state: "failing", code: "disk_full", message: "full", since: 0, pending_bytes: 9, damage };
    const failing = new Proxy(server.core.log, {
      get(log, name) {
        if (name === "health") return () => health;
        const value: unknown = Reflect.get(log, name, log);
        return typeof value === "function" ? value.bind(log) : value;
      },
    });
    const full = await startTestServer({ log: failing });
    const reply = await full.call("GET", "/v1/ready");
    await full.close();
    expect([reply.status, JSON.parse(reply.text).code]).toEqual([503, "not_ready"]);
  });

  it("is described by OpenAPI 3.1, every operation with its id, summary and replies, every reference resolved", async () => {
    const document = await server.json<
      Record<string, unknown> & { paths: Record<string, Record<string, Record<string, unknown>>> }
    >("GET", "/openapi.json");
    expect(document.openapi).toBe("3.1.0");
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const operation of operations) {
      expect(operation.summary).toMatch(/\.$/);
      expect(Object.keys(operation.responses as object).some((status) => Number(status) < 400)).toBe(true);
    }
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name ?? "");
    const { schemas: components } = document.components as { schemas: Record<string, unknown> };
    expect(references.filter((name) => !(name in components))).toEqual([]);
    expect(Object.keys(components)).toEqual(
      expect.arrayContaining(["Session", "CreateSession", "Problem", "UniversalEvent", "EventList"]),
    );
    for (const path of ["/v1/sessions/{id}/events/sse", "/v1/sessions/{id}/ws", "/v1/artifacts/{artifact}"])
      expect(document.paths).toHaveProperty([path]);
  });

  it("has a page for the API that needs nothing from elsewhere", async () => {
    const { text, headers } = await server.raw("GET", "/docs/api");
    expect(headers["content-type"]).toContain("text/html");
    expect(text).toContain("/v1/sessions/{id}/messages/stream");
    expect(text).not.toMatch(/<style|https?:\/\/[^"<]*\.(js|css)|style="|\son\w+=|javascript:/);
    expect([...text.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)).toEqual([
      '<script type="module" src="/docs/site.js">',
      '<script type="module" src="/docs/api.js">',
    ]);
  });
});

describe("the inspector", () => {
  it("is served with its files, and its own paths lead to its page", async () => {
    expect((await server.raw("GET", "/")).headers.location).toBe("/ui");
    for (const path of ["/ui", "/ui/", "/ui/sessions/abc"]) expect((await server.raw("GET", path)).text).toContain("inspector");
    const script = await server.raw("GET", "/ui/assets/app.js");
    expect([script.status, script.text]).toEqual([200, "console.log(1)"]);
    expect(script.headers["cache-control"]).toBe("no-store");
    const hashed = await server.raw("GET", "/ui/assets/app-BMJQn-FI.js");
    expect(hashed.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    const gone = await server.raw("GET", "/ui/assets/gone-BMJQn-FI.js");
    expect([gone.status, gone.headers["cache-control"]]).toEqual([404, "no-store"]);
    expect((await server.raw("GET", "/ui")).headers["cache-control"]).toBe("no-store");
  });

  it("is sent compressed to clients that take it", async () => {
    const reply = async (accepted: string) => {
      const response = await fetch(`${server.url}/ui/assets/app-BMJQn-FI.js`, { headers: { "accept-encoding": accepted } });
      return [response.headers.get("content-encoding"), await response.text()];
    };
    expect(await reply("gzip, deflate, br")).toEqual(["br", "console.log(2)"]);
    expect(await reply("gzip;q=0.5, br;q=0")).toEqual(["gzip", "console.log(2)"]);
    expect(await reply("identity")).toEqual([null, "console.log(2)"]);
  });

  it.each([
    "/ui/../token",
    "/ui/%2e%2e/token",
    "/ui/..%2ftoken",
    "/ui/assets/..%2f..%2ftoken.txt",
    "/ui/none.js",
    "/ui/.hidden.txt",
  ])("nothing else is: %s", async (path) => {
    const reply = await server.raw("GET", path);
    expect(reply.text).not.toContain(server.token);
    if (reply.status === 200) expect(reply.text).toContain("inspector");
    else expect([reply.status, JSON.parse(reply.text).code]).toEqual([404, "not_found"]);
  });
});
