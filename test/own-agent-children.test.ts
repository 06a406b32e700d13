// Sub-agents of our own agent in a real daemon: of another kind than their parent, and in a daemon that is killed with -9 while they work.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionHandle } from "../src/client/index.ts";
import {
  answerStream,
  type ShortItem,
  sendStream,
  startEndpoint,
  type TestEndpoint,
} from "../src/openresponses/test-endpoint.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { checkGrammar } from "../src/schema/grammar.ts";
import { type DaemonProcess, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

let root: string;
let work: string;
let daemon: DaemonProcess;
let endpoint: TestEndpoint;

beforeEach(() => {
  root = temporaryDir("own-children");
  work = join(root, "work");
  mkdirSync(work);
});
afterEach(async () => {
  await daemon.kill("SIGKILL");
  await endpoint.close();
  removeDir(root);
});

const start = async (): Promise<DaemonProcess> => {
  daemon = await startDaemonProcess(root, [], { RESPONSES_ENDPOINT: endpoint.baseUrl, RESPONSES_MODEL: "m" });
  return daemon;
};

async function until(session: SessionHandle, fits: (event: UniversalEvent) => boolean): Promise<UniversalEvent[]> {
  const seen: UniversalEvent[] = [];
  for await (const event of session.events({ after: 0 })) {
    seen.push(event);
    if (fits(event)) return seen;
  }
  throw new Error("the stream ended");
}

const ended = (times: number) => {
  let left = times;
  return ({ type }: UniversalEvent): boolean => type === "turn.ended" && --left === 0;
};

type Item = { type?: string; name?: string; output?: unknown };
const inputOf = (body: string): Item[] => JSON.parse(body).input;
const outputsOf = (body: string): string[] =>
  inputOf(body).flatMap((item) => (item.type === "function_call_output" ? [String(item.output)] : []));
const isChild = (body: string): boolean =>
  JSON.stringify(inputOf(body)).includes("CHILD TASK") && !inputOf(body).some(({ name }) => name === "agent");

/** A parent that gives this work on, and then ends. */
const parentOf =
  (args: object) =>
  (body: string): readonly ShortItem[] =>
    outputsOf(body).length > 0 ? [{ text: "All done." }] : [{ call: "agent", args }];

async function begin(): Promise<SessionHandle> {
  const { client } = await start();
  const session = await client.createSession({ agent: "responses", directory: work, permission_mode: "bypass" });
  await session.send("Go.");
  return session;
}

const childrenOf = async (parent: SessionHandle) =>
  (await daemon.client.sessions()).sessions.filter(({ parent_session_id }) => parent_session_id === parent.id);

describe("a sub-agent", () => {
  it("of another kind works for the call, and its answer is the call's output", async () => {
    const parent = parentOf({ agent: "mock", prompt: "say Greetings from afar" });
    endpoint = await startEndpoint((response, { body }) => sendStream(response, answerStream(parent(body))));
    const session = await begin();
    const events = await until(session, ended(1));
    expect(checkGrammar(events)).toEqual([]);
    expect(outputsOf(endpoint.requests.at(-1)?.body ?? "{}")).toEqual(["Greetings from afar"]);
    expect(await childrenOf(session)).toMatchObject([{ agent: "mock", status: "ended" }]);
  });

  it("that is like its parent goes on after kill -9 of the daemon: one child, its command ran once", async () => {
    const parent = parentOf({ prompt: "CHILD TASK" });
    let hung = false;
    endpoint = await startEndpoint((response, { body }) => {
      if (!isChild(body)) return sendStream(response, answerStream(parent(body)));
      const command = "echo once >> count.txt";
      if (outputsOf(body).length === 0) return sendStream(response, answerStream([{ call: "bash", args: { command } }]));
      if (hung) return sendStream(response, answerStream([{ text: "The child is done." }]));
      hung = true;
      const whole = answerStream([{ text: "Half of an answer." }]);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(whole.slice(0, whole.indexOf("event: response.output_text.done")));
    });
    const session = await begin();
    await until(session, ({ type, data }) => type === "item.delta" && JSON.stringify(data).includes("Half"));
    await daemon.kill("SIGKILL");
    const again = (await start()).client.session(session.id);
    expect(checkGrammar(await until(again, ended(2)))).toEqual([]);
    expect(outputsOf(endpoint.requests.at(-1)?.body ?? "{}")).toEqual(["The child is done."]);
    expect(await childrenOf(session)).toMatchObject([{ agent: "responses", status: "ended" }]);
    expect(readFileSync(join(work, "count.txt"), "utf8")).toBe("once\n");
  });

  it("of another kind is cut off by kill -9: it is not started again, and the model is informed", async () => {
    const parent = parentOf({ agent: "mock", prompt: "hang" });
    endpoint = await startEndpoint((response, { body }) => sendStream(response, answerStream(parent(body))));
    const session = await begin();
    await until(session, ({ type, data }) => type === "agent.notice" && "name" in data && data.name === "subagent");
    const [{ session_id } = { session_id: "" }] = await childrenOf(session);
    await until(daemon.client.session(session_id), ({ type }) => type === "turn.started");
    await daemon.kill("SIGKILL");
    const again = (await start()).client.session(session.id);
    expect(checkGrammar(await until(again, ended(2)))).toEqual([]);
    expect(outputsOf(endpoint.requests.at(-1)?.body ?? "{}")[0]).toContain("The sub-agent did not come to its end");
    expect(await childrenOf(session)).toHaveLength(1);
  });
});
