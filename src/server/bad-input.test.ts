import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProblemCode, ProblemError, problemCodes } from "../schema/problem-codes.ts";
import { problemOf } from "./problems.ts";
import { problem, type Reply, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
let id: string;
const json = (): Record<string, string> => ({ authorization: `Bearer ${server.token}`, "content-type": "application/json" });

beforeAll(async () => {
  server = await startTestServer();
  id = (await server.createSession()).session_id;
});
afterAll(() => server.close());

const expectProblem = (reply: Reply, code: ProblemCode): void => {
  const { status, title } = problemCodes[code];
  expect([reply.status, reply.headers["content-type"], problem(reply)]).toEqual([
    status,
    "application/problem+json",
    expect.objectContaining({ type: `/docs/api#problem-${code}`, code, status, title, detail: expect.any(String) }),
  ]);
  expect(reply.text).not.toMatch(/\bat .*\.(ts|js):\d+/);
};

describe("every problem code", () => {
  it.each(Object.keys(problemCodes) as ProblemCode[])(
    "%s has an error status, a title and advice, and becomes a problem",
    (code) => {
      const { status, title, advice } = problemCodes[code];
      expect(status).toBeGreaterThanOrEqual(400);
      expect(problemOf(new ProblemError(code))).toMatchObject({ code, status, title, detail: `${title}. ${advice}` });
    },
  );

  it("is explained on the API page", async () => {
    const { text } = await server.raw("GET", "/docs/api");
    for (const code of Object.keys(problemCodes)) expect(text).toContain(`id="problem-${code}"`);
  });
});

it("a session's id with a NUL behind it is no name of the session: nothing is found, and its agent goes on", async () => {
  const own = (await server.createSession()).session_id;
  for (const end of ["%00", "%00x"])
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/events"],
      ["GET", "/pending"],
      ["POST", "/interrupt"],
      ["DELETE", ""],
    ] as const)
      expectProblem(await server.raw(method, `/v1/sessions/${own}${end}${path}`, json()), "session_not_found");
  const { status, text } = await server.raw("POST", `/v1/sessions/${own}/messages`, json(), '{"message":"hello"}');
  expect([status, text]).toEqual([202, expect.stringContaining("turn_id")]);
});

describe("bodies", () => {
  it.each(["{", "{'a':1}", "[1,", "\u0000", "undefined", '{"agent":"mock"}garbage'])("malformed JSON: %j", async (body) => {
    expectProblem(await server.raw("POST", "/v1/sessions", json(), body), "invalid_json");
  });

  it.each([
    ["no body", undefined, ""],
    ["null", "null", ""],
    ["a list", "[]", ""],
    ["a missing field", "{}", ""],
    ["a wrong type", '{"agent":5}', "/agent"],
    ["an unknown field", '{"agent":"mock","command":"rm -rf /"}', ""],
    ["an unknown mode", '{"agent":"mock","permission_mode":"yolo"}', "/permission_mode"],
    ["an option in disguise", '{"agent":"mock","model":"--dangerously"}', "/model"],
    ["a path as id", '{"agent":"mock","session_id":"../../etc"}', "/session_id"],
    ["a wrong variable name", '{"agent":"mock","env":{"A B":"x"}}', "/env"],
  ])("that do not fit the schema: %s", async (_, body, path) => {
    const reply = await server.raw("POST", "/v1/sessions", json(), body);
    expectProblem(reply, "invalid_request");
    expect(problem(reply).errors?.some((error) => error.path.startsWith(path) && error.message !== "")).toBe(true);
  });

  it("with a field nobody knows are told its name", async () => {
    const reply = await server.raw("POST", "/v1/sessions", json(), '{"agent":"mock","bogus":1}');
    expect(problem(reply)).toMatchObject({
      detail: "body has unknown fields: bogus. See `errors` and /openapi.json.",
      errors: [{ path: "", message: "has unknown fields: bogus" }],
    });
  });

  it("metadata that would make every list of sessions long is refused", async () => {
    const metadata = Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`key-${at}`, "value"]));
    const reply = await server.call("POST", "/v1/sessions", { agent: "mock", directory: server.dataDir, metadata });
    expect(reply.status).toBe(400);
    expect(
      (await server.call("POST", "/v1/sessions", { agent: "mock", directory: server.dataDir, metadata: { a: "x" } })).status,
    ).toBe(201);
  });

  it("nested too deeply", async () => {
    const deep = `{"agent":"mock","metadata":{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`;
    expectProblem(await server.raw("POST", "/v1/sessions", json(), deep), "invalid_request");
  });

  it.each(["__proto__", "\\u005f_proto__", "\\u005F_proto_\\u005F"])("a key %s does not become a prototype", async (key) => {
    const body = `{"agent":"mock","directory":${JSON.stringify(server.dataDir)},"metadata":{"${key}":{"polluted":true},"a":1}}`;
    const reply = await server.raw("POST", "/v1/sessions", json(), body);
    expect(reply.status).toBe(201);
    expect(JSON.parse(reply.text).metadata).toEqual({ a: 1 });
  });

  it("too large", async () => {
    const body = JSON.stringify({ message: "x".repeat(2 * 1024 * 1024) });
    expectProblem(await server.raw("POST", `/v1/sessions/${id}/messages`, json(), body), "body_too_large");
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"])(
    "of type %s",
    async (type) => {
      const reply = await server.raw("POST", "/v1/sessions", { ...json(), "content-type": type }, '{"agent":"mock"}');
      expectProblem(reply, "unsupported_media_type");
    },
  );
});

describe("paths and queries", () => {
  it.each(["/nowhere", "/v1", "/v1/sessions/x/y/z", "/v1/%ZZ", "/v1/../../etc/passwd", "//v1/health"])(
    "unknown: %s",
    async (path) => {
      expectProblem(await server.call("GET", path), "not_found");
    },
  );

  it("wrong method", async () => {
    const reply = await server.call("PATCH", "/v1/sessions");
    expectProblem(reply, "method_not_allowed");
    expect(reply.headers.allow).toBe("GET, POST");
  });

  it.each([
    "after=-1",
    "after=abc",
    "after=1.5",
    "limit=0",
    "limit=100000",
    "order=sideways",
    "dialect=klingon",
    "include_raw=perhaps",
  ])("events?%s", async (query) => {
    const reply = await server.call("GET", `/v1/sessions/${id}/events?${query}`);
    expectProblem(reply, "invalid_request");
    expect(problem(reply).errors?.[0]?.path).toBe(`querystring/${query.split("=")[0]}`);
  });

  it("cursors beyond the stream", async () => {
    for (const path of [
      `/v1/sessions/${id}/events?after=99`,
      `/v1/sessions/${id}/events/sse?after=99`,
      "/v1/events/sse?after=99999.1",
    ])
      expectProblem(await server.call("GET", path), "cursor_too_large");
    for (const path of ["snapshot", "items"])
      expect(problem(await server.call("GET", `/v1/sessions/${id}/${path}?at=99`)).detail).toMatch(/^at=99 lies beyond/);
    expectProblem(await server.call("GET", "/v1/events/sse?after=x"), "invalid_request");
    const header = { "last-event-id": "x" };
    expectProblem(await server.call("GET", `/v1/sessions/${id}/events/sse`, undefined, header), "invalid_request");
  });
});

describe("things that are not there", () => {
  it("sessions", async () => {
    for (const [method, path, body] of [
      ["GET", ""],
      ["PATCH", "", { title: "x" }],
      ["DELETE", ""],
      ["POST", "/messages", { message: "x" }],
      ["POST", "/messages/stream", { message: "x" }],
      ["GET", "/events"],
      ["GET", "/events/sse"],
      ["POST", "/interrupt"],
      ["POST", "/terminate"],
      ["POST", "/fork"],
      ["GET", "/pending"],
      ["POST", "/permissions/p/reply", { reply: "once" }],
      ["POST", "/questions/q/reply", { answers: [] }],
      ["POST", "/questions/q/reject"],
      ["GET", "/coverage"],
      ["GET", "/native"],
      ["GET", "/items"],
    ] as const)
      expectProblem(await server.call(method, `/v1/sessions/none${path}`, body), "session_not_found");
  });

  it("agents, directories, requests, artifacts", async () => {
    expectProblem(await server.call("POST", "/v1/sessions", { agent: "nobody" }), "agent_unknown");
    expectProblem(await server.call("GET", "/v1/agents/nobody"), "agent_unknown");
    expectProblem(await server.call("GET", "/v1/agents/nobody/models"), "agent_unknown");
    expectProblem(await server.call("POST", "/v1/agents/nobody/install"), "agent_unknown");
    expectProblem(await server.call("POST", "/v1/sessions", { agent: "mock", directory: "/no/such" }), "directory_not_found");
    const reply = { reply: "once" };
    expectProblem(await server.call("POST", `/v1/sessions/${id}/permissions/p/reply`, reply), "permission_not_found");
    expectProblem(await server.call("POST", `/v1/sessions/${id}/questions/q/reply`, { answers: [] }), "question_not_found");
    expectProblem(await server.call("GET", `/v1/artifacts/art_${"0".repeat(64)}`), "artifact_not_found");
    expectProblem(await server.call("GET", "/v1/artifacts/..%2F..%2Ftoken"), "artifact_not_found");
    expectProblem(await server.call("GET", `/v1/sessions/${id}/ws`), "invalid_request");
  });

  it("conflicts", async () => {
    const { session_id } = await server.createSession({ session_id: "taken" });
    expectProblem(
      await server.call("POST", "/v1/sessions", { agent: "mock", session_id, directory: server.dataDir }),
      "session_exists",
    );
    expectProblem(await server.call("POST", `/v1/sessions/${session_id}/fork`), "not_resumable");
    await server.call("POST", `/v1/sessions/${session_id}/terminate`);
    expectProblem(await server.call("POST", `/v1/sessions/${session_id}/messages`, { message: "x" }), "session_ended");
    expectProblem(await server.call("PATCH", `/v1/sessions/${session_id}`, { title: "x" }), "session_ended");
  });
});

describe("attachments", () => {
  const send = (attachment: object) =>
    server.call("POST", `/v1/sessions/${id}/messages`, { message: "x", attachments: [attachment] });

  it("outside the session's directory, by any way", async () => {
    const directory = join(server.dataDir, "work");
    mkdirSync(directory);
    writeFileSync(join(server.dataDir, "secret.txt"), "secret");
    symlinkSync(join(server.dataDir, "secret.txt"), join(directory, "link.txt"));
    symlinkSync(server.dataDir, join(directory, "up"));
    const inner = await server.createSession({ directory });
    for (const path of [
      "../secret.txt",
      join(server.dataDir, "secret.txt"),
      "link.txt",
      "up/secret.txt",
      "none.txt",
      "",
      ".",
      "a\0b",
    ]) {
      const body = { message: "x", attachments: [{ path }] };
      const reply = await server.call("POST", `/v1/sessions/${inner.session_id}/messages`, body);
      expect([path, problem(reply).code]).toEqual([path, "attachment_not_found"]);
    }
  });

  it("that are not base64, are two things at once, or are too large", async () => {
    expectProblem(await send({ data: "not base64!", mime: "text/plain" }), "invalid_request");
    expectProblem(await send({ data: "aaaa", path: "a.txt", mime: "text/plain" }), "invalid_request");
    writeFileSync(join(server.dataDir, "large.bin"), Buffer.alloc(2 * 1024 * 1024));
    expectProblem(await send({ path: "large.bin" }), "body_too_large");
  });
});

describe("limits", () => {
  it("on open streams: those who may only look do not keep others out", async () => {
    const small = await startTestServer({ limits: { body_bytes: 1024 * 1024, subscribers: 4 } });
    try {
      const { session_id } = await small.createSession();
      const path = `/v1/sessions/${session_id}/events/sse`;
      const observer = { authorization: `Bearer ${small.tokens.secret("observe")}` };
      const open = [1, 2, 3].map(() => small.raw("GET", path, observer));
      await expect.poll(async () => (await small.call("GET", "/metrics")).text).toContain("dragoman_subscribers 3\n");
      expectProblem(await small.raw("GET", path, observer), "too_many_subscribers");
      open.push(small.call("GET", path));
      await expect.poll(async () => (await small.call("GET", "/metrics")).text).toContain("dragoman_subscribers 4\n");
      await small.call("POST", `/v1/sessions/${session_id}/terminate`);
      for (const { text } of await Promise.all(open)) expect(text).toContain("session.ended");
    } finally {
      await small.close();
    }
  });

  it("on open streams", async () => {
    const small = await startTestServer({ limits: { body_bytes: 1024 * 1024, subscribers: 1 } });
    try {
      const session = await small.createSession();
      const path = `/v1/sessions/${session.session_id}/events/sse`;
      const open = small.call("GET", path);
      await expect.poll(async () => (await small.call("GET", "/metrics")).text).toContain("dragoman_subscribers 1\n");
      expectProblem(await small.call("GET", path), "too_many_subscribers");
      expectProblem(await small.call("GET", "/v1/events/sse"), "too_many_subscribers");
      await small.call("POST", `/v1/sessions/${session.session_id}/terminate`);
      expect((await open).text).toContain("session.ended");
      expect((await small.call("GET", path)).status).toBe(200);
    } finally {
      await small.close();
    }
  });
});

describe("faults of the daemon", () => {
  it("say nothing of their inside to the client, and all of it to the log", async () => {
    const broken = await startTestServer({
      routes: [
        (app) =>
          void app.get("/v1/broken", { config: { reach: "none" } }, async () => {
            throw new TypeError("secret detail");
          }),
      ],
    });
    try {
      const reply = await broken.call("GET", "/v1/broken");
      expectProblem(reply, "internal");
      expect(reply.text).not.toContain("secret detail");
      expect(broken.logged.join("")).toContain("secret detail");
    } finally {
      await broken.close();
    }
  });
});
