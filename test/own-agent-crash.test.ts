// Our own agent in a daemon that is killed with -9 in the middle of its work: the turn goes on by itself, and nothing is done twice.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionHandle } from "../src/client/index.ts";
import { answerStream, sendStream, startEndpoint, type TestEndpoint } from "../src/openresponses/test-endpoint.ts";
import type { UniversalEvent } from "../src/schema/event.ts";
import { checkGrammar } from "../src/schema/grammar.ts";
import { type DaemonProcess, processesRunning, removeDir, startDaemonProcess, temporaryDir } from "./daemon-process.ts";

let root: string;
let work: string;
let daemon: DaemonProcess;
let endpoint: TestEndpoint;

beforeEach(() => {
  root = temporaryDir("own-agent");
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

/** Waits for a committed event, from the beginning of the session. */
async function until(
  session: SessionHandle,
  fits: (event: UniversalEvent, seen: UniversalEvent[]) => boolean,
): Promise<UniversalEvent[]> {
  const seen: UniversalEvent[] = [];
  for await (const event of session.events({ after: 0 })) {
    seen.push(event);
    if (fits(event, seen)) return seen;
  }
  throw new Error("the stream ended");
}

/** The turn after the one that was cut has ended. */
const continued = (event: UniversalEvent, seen: UniversalEvent[]): boolean =>
  event.type === "turn.ended" && seen.filter(({ type }) => type === "turn.ended").length === 2;

async function killAndGoOn(session: SessionHandle, when: (event: UniversalEvent) => boolean): Promise<UniversalEvent[]> {
  await until(session, when);
  await daemon.kill("SIGKILL");
  const again = (await start()).client.session(session.id);
  const events = await until(again, continued);
  expect(checkGrammar(events)).toEqual([]);
  expect(
    events.filter(({ type }) => type === "turn.started").map(({ data }) => ("initiator" in data ? data.initiator : "")),
  ).toEqual(["client", "agent"]);
  expect(events.findLast(({ type }) => type === "turn.ended")).toMatchObject({ data: { stop_reason: "end_turn" } });
  return events;
}

describe("kill -9 of the daemon", () => {
  it("while a command runs: it does not run again, the model is told, and no process is left", async () => {
    endpoint = await startEndpoint((response, _request, nth) => {
      const command = "echo once >> count.txt; echo begun; sleep 1234";
      sendStream(response, answerStream(nth === 1 ? [{ call: "bash", args: { command } }] : [{ text: "I see." }]));
    });
    const { client } = await start();
    const session = await client.createSession({ agent: "responses", directory: work, permission_mode: "bypass" });
    await session.send("Run it.");
    await killAndGoOn(session, (event) => event.type === "item.delta" && event.data.part_type === "tool_output");
    expect(readFileSync(join(work, "count.txt"), "utf8")).toBe("once\n");
    expect(endpoint.requests.at(-1)?.body).toContain("The daemon was restarted while this ran");
    expect(processesRunning("sleep 1234", root)).toEqual([]);
  });

  it("in the middle of an answer: it is asked for again, and counts once", async () => {
    endpoint = await startEndpoint((response, _request, nth) => {
      const whole = answerStream([{ text: "The whole answer." }, { call: "write", args: { path: "a.txt", content: "alpha" } }]);
      if (nth > 2) return sendStream(response, answerStream([{ text: "Done." }]));
      if (nth === 2) return sendStream(response, whole);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(whole.slice(0, whole.indexOf("event: response.completed")));
    });
    const { client } = await start();
    const session = await client.createSession({ agent: "responses", directory: work, permission_mode: "bypass" });
    await session.send("Answer.");
    const events = await killAndGoOn(session, (event) => event.type === "item.started" && event.data.item.kind === "tool_call");
    expect(readFileSync(join(work, "a.txt"), "utf8")).toBe("alpha");
    expect(endpoint.requests).toHaveLength(3);
    expect(events.filter(({ type }) => type === "error")).toEqual([]);
  });

  it("while a person is asked: the question is asked again, and the answer counts", async () => {
    writeFileSync(join(work, "a.txt"), "alpha\n");
    endpoint = await startEndpoint((response, _request, nth) => {
      const edit = { path: "a.txt", edits: [{ old: "alpha", new: "beta" }] };
      sendStream(response, answerStream(nth === 1 ? [{ call: "edit", args: edit }] : [{ text: "Done." }]));
    });
    const { client } = await start();
    const session = await client.createSession({ agent: "responses", directory: work });
    await session.send("Edit.");
    await until(session, ({ type }) => type === "permission.requested");
    await daemon.kill("SIGKILL");
    const again = (await start()).client.session(session.id);
    const seen = await until(
      again,
      (event, all) =>
        event.type === "permission.requested" && all.filter(({ type }) => type === "permission.requested").length === 2,
    );
    const asked = seen.at(-1);
    if (asked?.type !== "permission.requested") throw new Error("nothing was asked");
    await again.replyPermission(asked.data.permission_id, { reply: "once" });
    expect(checkGrammar(await until(again, continued))).toEqual([]);
    expect(readFileSync(join(work, "a.txt"), "utf8")).toBe("beta\n");
  });
});
