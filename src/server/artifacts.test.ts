import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ArtifactList, ArtifactPreview } from "../schema/artifact.ts";
import { problem, startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ limits: { body_bytes: 1024 * 1024, subscribers: 100, artifact_bytes: 2 * 1024 * 1024 } });
});
afterAll(() => server.close());

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const stored = async (id: string, text: string | Buffer, about: { kind: string; mime: string; name?: string }) => {
  const { stream } = await server.core.manager.get(id);
  const info = stream.artifacts.put(Buffer.from(text), about);
  await stream.committed();
  return info;
};
const text = { kind: "text", mime: "text/plain" };

describe("artifacts of sessions", () => {
  it("are listed by session, kind and size, page by page, with who has them", async () => {
    const [one, two] = [(await server.createSession()).session_id, (await server.createSession()).session_id];
    const shared = await stored(one, "shared by both", text);
    await stored(two, "shared by both", text);
    const own = await stored(one, "x".repeat(500), { ...text, name: "long.txt" });
    const image = await stored(one, Buffer.from(PNG, "base64"), { kind: "image", mime: "image/png" });
    const list = (path: string) => server.json<ArtifactList>("GET", path);
    const ids = ({ artifacts }: ArtifactList) => artifacts.map(({ artifact_id }) => artifact_id);
    expect(ids(await list(`/v1/sessions/${one}/artifacts?order=largest`))).toEqual([
      own.artifact_id,
      image.artifact_id,
      shared.artifact_id,
    ]);
    expect(ids(await list(`/v1/sessions/${two}/artifacts`))).toEqual([shared.artifact_id]);
    expect(ids(await list(`/v1/sessions/${one}/artifacts?kind=image`))).toEqual([image.artifact_id]);
    expect(ids(await list(`/v1/sessions/${one}/artifacts?min_bytes=500`))).toEqual([own.artifact_id]);
    const first = await list(`/v1/artifacts?order=largest&limit=2`);
    const rest = await list(`/v1/artifacts?order=largest&limit=2&before=${first.next}`);
    expect([...ids(first), ...ids(rest)]).toEqual([own.artifact_id, image.artifact_id, shared.artifact_id]);
    expect(rest.artifacts[0]?.references).toEqual([
      { stream_kind: "session", id: one },
      { stream_kind: "session", id: two },
    ]);
    expect(problem(await server.call("GET", "/v1/sessions/ses_none/artifacts")).code).toBe("session_not_found");
    expect(problem(await server.call("GET", "/v1/artifacts?kind=film")).code).toBe("invalid_request");
    expect(problem(await server.call("GET", "/v1/artifacts?before=1")).code).toBe("invalid_request");
    expect((await server.json<ArtifactPreview>("GET", `/v1/artifacts/${image.artifact_id}/preview`)).width).toBe(1);
  });

  it("show a short look, without secrets to those who may not see them", async () => {
    const { session_id } = await server.createSession({ env: { MY_TOKEN: "hush-hush-hush" } });
    const { artifact_id } = await stored(session_id, "the token is hush-hush-hush", text);
    const path = `/v1/artifacts/${artifact_id}/preview`;
    expect(await server.json("GET", path)).toMatchObject({ format: "text", head: "the token is hush-hush-hush" });
    const observer = { authorization: `Bearer ${server.tokens.secret("observe")}` };
    const shown = await server.raw("GET", path, observer);
    expect(shown.status).toBe(200);
    expect(shown.text).not.toContain("hush-hush-hush");
    expect(problem(await server.call("GET", `/v1/artifacts/art_${"0".repeat(64)}/preview`)).code).toBe("artifact_not_found");
    expect(problem(await server.call("GET", "/v1/artifacts/art_x/preview")).code).toBe("artifact_not_found");
  });

  it("[R1] a short look that ends or begins in the middle of a secret shows nothing of it", async () => {
    const { session_id } = await server.createSession();
    const observer = { authorization: `Bearer ${server.tokens.secret("observe")}` };
    const key = `sk-ant-api03-${"Kp4q".repeat(12)}`;
    const SHOWN = 2 * 1024;
    for (const inside of [3, 10, 20, key.length - 4]) {
      const long = `${"a ".repeat(SHOWN).slice(0, SHOWN - inside - 1)} ${key} ${"b ".repeat(9_000)} ${key} ${"c ".repeat(SHOWN).slice(0, SHOWN - inside - 1)}`;
      for (const content of [long, JSON.stringify({ list: [long.slice(0, 4_000 + inside), long] })]) {
        const { artifact_id } = await stored(session_id, content, text);
        const shown = await server.raw("GET", `/v1/artifacts/${artifact_id}/preview`, observer);
        expect([inside, shown.status, /sk-ant-a|Kp4q/.test(shown.text)]).toEqual([inside, 200, false]);
      }
    }
  });

  it("are read without secrets by those who may not see them, whatever they are called", async () => {
    const { session_id } = await server.createSession({ env: { MY_TOKEN: "hush-hush-hush" } });
    const observer = { authorization: `Bearer ${server.tokens.secret("observe")}` };
    const key = `sk-ant-api03-${"A".repeat(93)}AA`;
    for (const mime of ["text/plain", "application/octet-stream", "image/png", "image/svg+xml", "application/toml"]) {
      const content = `${mime}: hush-hush-hush and ${key}, grün`;
      const { artifact_id } = await stored(session_id, content, { kind: "file", mime });
      expect((await server.call("GET", `/v1/artifacts/${artifact_id}`)).text).toBe(content);
      const shown = await server.raw("GET", `/v1/artifacts/${artifact_id}`, observer);
      expect({ mime, status: shown.status, text: shown.text.replace(/\[redacted:\w+\]/g, "-") }).toEqual({
        mime,
        status: 200,
        text: `${mime}: - and -, grün`,
      });
    }
  });

  it("of a task are those of its session, and go with it", async () => {
    const { session_id } = await server.createSession();
    const task = await server.core.log.create(
      "task",
      "task_1",
      JSON.stringify({ task_id: "task_1", status: "exited", execution_mode: "pipes", tags: [`session:${session_id}`] }),
    );
    const { artifact_id } = task.artifacts.put(Buffer.from("all it wrote"), { kind: "tool_output", mime: "text/plain" });
    await task.committed();
    const path = `/v1/sessions/${session_id}/artifacts`;
    expect((await server.json<ArtifactList>("GET", path)).artifacts).toMatchObject([
      { artifact_id, references: [{ stream_kind: "task", id: "task_1" }] },
    ]);
    expect((await server.call("DELETE", `/v1/sessions/${session_id}`)).status).toBe(204);
    await server.core.log.erased();
    expect((await server.call("GET", `/v1/artifacts/${artifact_id}`)).status).toBe(404);
  });

  it("over the quota: attachments are refused, and welcome again when a session has gone", async () => {
    const full = (await server.createSession()).session_id;
    await stored(full, Buffer.alloc(2 * 1024 * 1024, 1), { kind: "file", mime: "application/octet-stream" });
    const { session_id } = await server.createSession();
    const message = { message: "look", attachments: [{ mime: "text/plain", data: Buffer.from("hi").toString("base64") }] };
    const refused = await server.call("POST", `/v1/sessions/${session_id}/messages`, message);
    expect([refused.status, problem(refused).code]).toEqual([507, "artifacts_full"]);
    expect((await server.call("POST", `/v1/sessions/${session_id}/messages`, { message: "hello" })).status).toBeLessThan(300);
    await server.call("DELETE", `/v1/sessions/${full}`);
    await server.core.log.erased();
    expect((await server.call("POST", `/v1/sessions/${session_id}/messages`, message)).status).toBeLessThan(300);
  });
});
