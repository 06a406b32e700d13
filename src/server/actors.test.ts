// Who did it, as events say it: the same over HTTP and WebSocket, for every command, with the token that was used.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { UniversalEvent } from "../schema/event.ts";
import { until } from "../session/test-session.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

type Command = (name: string, fields: Record<string, unknown>) => Promise<unknown>;

const overHttp = (id: string): Command => {
  const paths: Record<string, [string, string]> = {
    send: ["POST", "messages"],
    interrupt: ["POST", "interrupt"],
    terminate: ["POST", "terminate"],
    configure: ["PATCH", ""],
  };
  return async (name, { permission_id, question_id, ...body }) => {
    const request = permission_id ? `permissions/${permission_id}/reply` : `questions/${question_id}/reply`;
    const [method, path] = paths[name] ?? ["POST", request];
    const { status, text } = await server.call(method, `/v1/sessions/${id}/${path}`.replace(/\/$/, ""), body);
    if (status >= 300) throw new Error(text);
  };
};

const overWebSocket = async (id: string): Promise<Command> => {
  const protocols = ["dragoman.v1", `token.${server.token}`];
  const ws = new WebSocket(`${server.url.replace("http", "ws")}/v1/sessions/${id}/ws?subscribe=false`, protocols);
  await new Promise((resolve, reject) => ws.once("open", resolve).once("error", reject));
  return (op, fields) =>
    new Promise((resolve, reject) => {
      const answer = (data: Buffer): void => {
        const message = JSON.parse(data.toString()) as { id?: string; ok?: boolean; problem?: unknown };
        if (message.id !== op) return;
        ws.off("message", answer);
        if (message.ok) resolve(null);
        else reject(new Error(JSON.stringify(message.problem)));
      };
      ws.on("message", answer);
      ws.send(JSON.stringify({ id: op, op, ...fields }));
    });
};

describe("[A1] events name the actor of the command that caused them", () => {
  it.each(["http", "websocket"] as const)("over %s", async (surface) => {
    const { session_id: id, created_by } = await server.createSession();
    const session = await server.core.manager.get(id);
    const token_id = server.tokens.find(server.token)?.id;
    const actor = { token_id, role: "admin", surface };
    expect(created_by).toEqual({ ...actor, surface: "http" });
    const command = surface === "http" ? overHttp(id) : await overWebSocket(id);
    const next = (type: UniversalEvent["type"]): Promise<UniversalEvent> => until(session, (event) => event.type === type);
    await command("configure", { title: "t", model: "mock-2" });
    await command("send", { message: "ask\nquestion\nhang" });
    const asked = await next("permission.requested");
    if (asked.type !== "permission.requested") throw new Error("no permission");
    await command("reply_permission", { permission_id: asked.data.permission_id, reply: "once" });
    const question = await next("question.requested");
    if (question.type !== "question.requested") throw new Error("no question");
    await command("reply_question", { question_id: question.data.question_id, answers: [["Red"], ["Basil"]] });
    await until(session, ({ type, data }) => type === "item.completed" && JSON.stringify(data).includes("You chose Red"));
    await command("interrupt", {});
    const ended = next("turn.ended");
    expect((await ended).data).toMatchObject({ stop_reason: "interrupted", actor });
    expect((await next("config.changed")).data).toMatchObject({ actor });
    expect((await next("turn.started")).data).toMatchObject({ initiator: "client", actor });
    expect((await next("permission.resolved")).data).toMatchObject({ metadata: { resolved_by: "client", actor } });
    expect((await next("question.resolved")).data).toMatchObject({ resolved_by: "client", actor });
    const over = next("session.ended");
    await command("terminate", {}).catch(() => {});
    expect((await over).data).toMatchObject({ reason: "terminated", actor });
  });

  it("the token decides what it is called: a header cannot make an agent of a page, or the other way round", async () => {
    const root = server.tokens.find(server.token);
    if (!root) throw new Error("no root token");
    const { secret } = server.tokens.mint(root, { role: "operate", lifetimeMs: 60_000, surface: "mcp" });
    const headers = { authorization: `Bearer ${secret}`, "dragoman-client": "cli", "content-type": "application/json" };
    const reply = await server.raw("POST", "/v1/sessions", headers, '{"agent":"mock"}');
    expect(JSON.parse(reply.text)).toMatchObject({ created_by: { surface: "mcp", role: "operate" } });
  });
});
