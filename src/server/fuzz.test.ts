// Whatever comes in, the server answers with a reply it documents, never with a fault of its own, and lives on.
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { seedOf } from "../test-seed.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

const SEED = seedOf(20_250_811);

let server: TestServer;
let id: string;
beforeAll(async () => {
  server = await startTestServer();
  id = (await server.createSession()).session_id;
});
afterAll(() => server.close());

const keys = fc.constantFrom(
  "agent",
  "session_id",
  "message",
  "attachments",
  "when_busy",
  "reply",
  "answers",
  "metadata",
  "env",
  "title",
  "__proto__",
  "constructor",
  "token",
  "role",
);
const values = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom("mock", "queue", "once", "--flag", "../..", "\0", "a".repeat(3_000)),
  fc.array(fc.record({ path: fc.string(), data: fc.base64String(), mime: fc.string() }, { requiredKeys: [] })),
);
const bodies = fc.oneof(
  fc.dictionary(keys, values).map((value) => JSON.stringify(value)),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc.string({ unit: "binary" }),
);
const routes = fc.constantFrom(
  "POST /v1/sessions",
  "PATCH /v1/sessions/ID",
  "POST /v1/sessions/ID/messages",
  "POST /v1/sessions/ID/fork",
  "POST /v1/sessions/ID/interrupt",
  "POST /v1/sessions/ID/permissions/x/reply",
  "POST /v1/sessions/ID/questions/x/reply",
  "POST /v1/auth/tokens",
);

it("random bodies", async () => {
  await fc.assert(
    fc.asyncProperty(routes, bodies, async (route, body) => {
      const [method = "", path = ""] = route.replace("ID", id).split(" ");
      const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json" };
      const reply = await server.raw(method, path, headers, Buffer.from(body));
      expect(reply.status, `${route} ${body}`).toSatisfy((status: number) => status < 500 && status !== 429);
    }),
    { seed: SEED, numRuns: 300 },
  );
  expect((await server.raw("GET", "/v1/health")).status).toBe(200);
});

it("random paths and queries", async () => {
  const part = fc.oneof(
    fc.webSegment(),
    fc.constantFrom("v1", "sessions", "..", "%2e%2e", "%00", "%ff", "ui", "docs", "events", id),
  );
  const query = fc.dictionary(fc.constantFrom("after", "limit", "types", "before", "order", "search"), fc.string());
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), query, async (parts, fields) => {
      const path = `/${parts.join("/")}?${new URLSearchParams(fields)}`;
      if (/\/events\/?\?/.test(path.replace(/%\w\w/g, ""))) return;
      const reply = await server.raw("GET", path, { authorization: `Bearer ${server.token}` });
      expect(reply.status, path).toSatisfy((status: number) => status < 500 && status !== 429);
      expect(reply.headers["cache-control"]).toBe("no-store");
    }),
    { seed: SEED, numRuns: 300 },
  );
});

it("random list and page queries", async () => {
  const paths = fc.constantFrom("/v1/sessions", "/v1/sessions/ID/events", "/v1/sessions/ID/native", "/v1/agents/mock/models");
  const names = fc.constantFrom("after", "before", "limit", "types", "order", "search", "status", "dialect", "directory");
  const value = fc.oneof(
    fc.integer().map(String),
    fc.string(),
    fc.constantFrom("desc", "1e9", "9007199254740991", "99999999999999999999"),
  );
  await fc.assert(
    fc.asyncProperty(paths, fc.dictionary(names, value), async (path, fields) => {
      const reply = await server.call("GET", `${path.replace("ID", id)}?${new URLSearchParams(fields)}`);
      expect(reply.status, JSON.stringify([path, fields])).toSatisfy((status: number) => status < 500 && status !== 429);
    }),
    { seed: SEED, numRuns: 300 },
  );
});
