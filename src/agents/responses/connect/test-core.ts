/** For tests only: a core with our own agent, whose model is a function of the request. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Core, openCore } from "../../../daemon/core.ts";
import {
  type Answer,
  answerStream,
  type ShortItem,
  sendStream,
  startEndpoint,
  type TestEndpoint,
} from "../../../openresponses/test-endpoint.ts";
import type { UniversalEvent } from "../../../schema/event.ts";
import type { Session } from "../../../session/session.ts";
import { until } from "../../../session/test-session.ts";
import { responsesAgent } from "../agent.ts";

export type ModelRequest = { instructions: string; input: Record<string, unknown>[]; tools: { name: string }[] };

export class TestCore {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-responses-")));
  readonly work = join(this.dir, "work");
  core!: Core;
  endpoint!: TestEndpoint;

  /** `model`: what it answers to a request; the count is that of all requests. */
  static async open(
    model: (request: ModelRequest, nth: number) => readonly ShortItem[],
    settings: object = {},
  ): Promise<TestCore> {
    const test = new TestCore();
    mkdirSync(test.work);
    const answer: Answer = (response, request, nth) =>
      sendStream(response, answerStream(model(JSON.parse(request.body), nth), { input: 100, output: 10 }));
    test.endpoint = await startEndpoint(answer);
    await test.openCore(settings);
    return test;
  }

  async openCore(settings: object = {}): Promise<void> {
    this.core = await openCore({
      dataDir: join(this.dir, "data"),
      config: { agents: { responses: { model: "m", retries: 0, endpoint: this.endpoint.baseUrl, ...settings } } },
      agents: [responsesAgent],
      env: { PATH: process.env.PATH, HOME: this.dir },
      defaultDirectory: this.work,
      log: () => {},
    });
  }

  async start(more: object = {}): Promise<Session> {
    const { session_id } = await this.core.manager.create({
      agent: "responses",
      directory: this.work,
      trust: "trusted",
      ...more,
    });
    return this.core.manager.get(session_id);
  }

  /** The nth request of the model, from 1. */
  request(nth: number): ModelRequest {
    return JSON.parse(this.endpoint.requests.at(nth - 1)?.body ?? "{}");
  }

  async close(): Promise<void> {
    await this.core.close();
    await this.endpoint.close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

/** Waits for a request of the session and allows it once. Returns it. */
export async function allow(session: Session, after = 0): Promise<Extract<UniversalEvent, { type: "permission.requested" }>> {
  const asked = await until(session, ({ type, sequence }) => type === "permission.requested" && sequence > after);
  if (asked.type !== "permission.requested") throw new Error("nothing was asked");
  await session.replyPermission(asked.data.permission_id, { reply: "once" });
  return asked;
}

/** Outputs of calls that this request carries. */
export const outputsOf = ({ input }: ModelRequest): string[] =>
  input.flatMap((item) => (item.type === "function_call_output" ? [String(item.output)] : []));
