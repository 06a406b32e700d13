// Lists name many sessions: what is secret in one of them is in no list of a reader who may not see secrets.
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

it("[R1] lists show no secret that only one of their sessions has", async () => {
  const { session_id } = await server.createSession({ env: { MY_TOKEN: "hush-hush-hush" } });
  await server.createSession({ env: { OTHER_TOKEN: "other-secret-word" } });
  expect((await server.call("POST", `/v1/sessions/${session_id}/messages`, { message: "say hush-hush-hush" })).status).toBe(202);
  const task = { argv: ["true"], title: "with hush-hush-hush" };
  expect((await server.call("POST", `/v1/sessions/${session_id}/tasks`, task)).status).toBe(201);
  const observer = { authorization: `Bearer ${server.tokens.secret("observe")}` };
  for (const path of ["/v1/sessions", "/v1/sessions?search=say", "/v1/tasks", `/v1/sessions/${session_id}/tasks`]) {
    expect((await server.call("GET", path)).text).toContain("hush-hush-hush");
    const { status, text } = await server.raw("GET", path, observer);
    expect({ path, status, named: text.includes(session_id), told: text.includes("hush-hush-hush") }).toEqual({
      path,
      status: 200,
      named: true,
      told: false,
    });
  }
});

it("[R1] a session that takes the id of a removed one hides its own secrets", async () => {
  const observer = { authorization: `Bearer ${server.tokens.secret("observe")}` };
  const said = async (session_id: string): Promise<string> =>
    (await server.raw("GET", `/v1/sessions/${session_id}/events`, observer)).text;
  const again = { session_id: "again" };
  await server.createSession(again);
  expect(await said("again")).toContain("session.started");
  expect((await server.call("DELETE", "/v1/sessions/again")).status).toBe(204);
  await server.createSession({ ...again, env: { MY_TOKEN: "the-secret-of-the-next" } });
  await server.play("again", "say it is the-secret-of-the-next");
  const text = await said("again");
  expect({ shown: text.includes("[redacted:secret]"), told: text.includes("the-secret-of-the-next") }).toEqual({
    shown: true,
    told: false,
  });
});
