import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { UniversalEvent } from "../schema/event.ts";
import { replayCommand } from "./replay-command.ts";
import { verifyCommand } from "./verify-command.ts";

const folder = mkdtempSync(join(tmpdir(), "verify-commands-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function io(env: NodeJS.ProcessEnv = process.env) {
  const written = { out: "", err: "" };
  const into = (name: "out" | "err") => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  return { written, env, stdout: into("out"), stderr: into("err") };
}
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const eventsIn = (text: string): UniversalEvent[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as UniversalEvent);

describe("verify", () => {
  it("prints a table, records, and the recording replays to the same story", async () => {
    const record = join(folder, "traces");
    const verify = io();
    const options = { agents: ["mock"], scenario: ["mock-edit", "mock-permission-allow", "mock-resume"], record };
    expect(await verifyCommand(options, verify)).toBe(0);
    expect(verify.written.out).toMatch(/scenario +native +mapped +noted +unparsed +broken +time +result/);
    expect(verify.written.out).toMatch(/mock-resume +\d+ +\d+ +0 +0 +0 +[\d.]+ s {2}passed/);
    expect(verify.written.out).toContain("3 passed, 0 failed, 0 skipped");

    const versions = join(record, "mock", readdirSync(join(record, "mock"))[0] ?? "");
    expect(readdirSync(versions).sort()).toEqual(["mock-edit.ndjson", "mock-permission-allow.ndjson", "mock-resume.ndjson"]);
    const replay = io();
    const files = readdirSync(versions)
      .sort()
      .map((name) => join(versions, name));
    expect(await replayCommand({ agent: "mock", files }, replay)).toBe(0);
    const events = eventsIn(replay.written.out);
    expect(new Set(events.map((event) => event.session_id))).toEqual(new Set(["sess_1_1", "sess_2_1", "sess_3_1"]));
    expect(new Set(events.map((event) => event.event_id)).size).toBe(events.length);
    const types = events.map((event) => event.type);
    expect(types).toContain("permission.resolved");
    expect(types.filter((type) => type === "turn.ended")).toHaveLength(4);
    expect(replay.written.err).toContain("0 unparsed · 0 rules broken");
  });

  it("exits with 1 when a scenario does not come to its end", async () => {
    const verify = io();
    expect(await verifyCommand({ agents: ["mock"], scenario: ["mock-steer"], timeLimitMs: 250 }, verify)).toBe(1);
    expect(verify.written.out).toContain("hung");
    expect(verify.written.out).toContain("no end after 0.25 s");
    expect(verify.written.out).toContain("0 passed, 1 failed, 0 skipped");
  });

  it("says all of it as JSON", async () => {
    const verify = io();
    expect(await verifyCommand({ agents: ["mock"], scenario: ["mock-text"], json: true }, verify)).toBe(0);
    const { agents, summary } = JSON.parse(verify.written.out) as { agents: { results: object[] }[]; summary: object };
    expect(summary).toMatchObject({ passed: 1, failed: 0, unparsed: 0, broken: 0 });
    expect(agents[0]?.results[0]).toMatchObject({ scenario: "mock-text", verdict: "passed", broken: [], failures: [] });
  });

  it("exits with 1 when a named agent is not installed, with advice", async () => {
    const verify = io({ PATH: folder });
    expect(await verifyCommand({ agents: ["qwen"] }, verify)).toBe(1);
    expect(verify.written.out).toContain("qwen: Qwen Code is not installed.");
  });

  it("does not take a name that does not exist for success", async () => {
    const verify = io();
    expect(await verifyCommand({ agents: ["mock"], scenario: ["no-such-one"] }, verify)).toBe(1);
    expect(verify.written.err).toContain("No scenario fits");
    expect(await verifyCommand({ agents: ["nobody"] }, verify)).toBe(2);
    expect(verify.written.err).toContain("Cannot verify nobody");
  });
});

describe("replay", () => {
  const row = (data: unknown, dir = "out"): string => `${JSON.stringify({ t_ms: 1, dir, data })}\n`;
  const hello = row({ type: "hello", session: "s-1", resumed: false, remembered: 0 });

  it("does not take U+2028 for a line end, and takes a BOM and CRLF", async () => {
    const text = `\uFEFF${hello}${row({ type: "turn", id: "1", by: "client" })}${row({ type: "text", m: "m", d: "one\u2028two" })}${row({ type: "message_end", m: "m" })}`;
    const replay = io();
    expect(await replayCommand({ agent: "mock", files: [file("odd.ndjson", text.replaceAll("\n", "\r\n"))] }, replay)).toBe(0);
    expect(replay.written.out).toContain("one\u2028two");
    expect(eventsIn(replay.written.out).every((event) => event.raw === null)).toBe(true);
  });

  it("shows the native message of each event when asked", async () => {
    const replay = io();
    await replayCommand(
      { agent: "mock", files: [file("raw.ndjson", hello + row({ type: "note", name: "n" }))], raw: true },
      replay,
    );
    expect(eventsIn(replay.written.out).find((event) => event.type === "agent.notice")?.raw).toEqual({ type: "note", name: "n" });
  });

  it("exits with 1 for what is not understood, and tells the rest", async () => {
    const replay = io();
    const files = [file("unknown.ndjson", hello + row({ type: "from-the-future" }) + row({ type: "ping" }))];
    expect(await replayCommand({ agent: "mock", files, json: true }, replay)).toBe(1);
    expect(eventsIn(replay.written.out).map((event) => event.type)).toContain("agent.unparsed");
    expect(JSON.parse(replay.written.err)).toMatchObject({ rows: 3, totals: { unparsed: 1, heartbeat: 1 } });
  });

  it("names the line that is no row of a trace", async () => {
    const replay = io();
    const bad = file("bad.ndjson", `${hello}not json\n{"t_ms":1}\n[]\n${row(1, "sideways")}{"t_ms":1,"dir":"out"}\n`);
    expect(await replayCommand({ agent: "mock", files: [bad] }, replay)).toBe(1);
    for (const line of [2, 3, 4, 5, 6]) expect(replay.written.err).toContain(`line ${line} is no row of a trace`);
    expect(eventsIn(replay.written.out)[0]?.type).toBe("session.started");
  });

  it("says what is wrong with a file, and goes on with the next", async () => {
    const replay = io();
    const files = [join(folder, "missing.ndjson"), folder, file("empty.ndjson", ""), file("good.ndjson", hello)];
    expect(await replayCommand({ agent: "mock", files }, replay)).toBe(1);
    expect(replay.written.err).toContain("missing.ndjson: there is no such file");
    expect(replay.written.err).toContain("is a folder; name the traces in it");
    expect(replay.written.err).toContain("empty.ndjson: holds no row of a trace");
    expect(new Set(eventsIn(replay.written.out).map((event) => event.session_id))).toEqual(new Set(["sess_4_1"]));
  });

  it("exits with 2 for an unknown agent, or without files", async () => {
    const replay = io();
    expect(await replayCommand({ agent: "nobody", files: ["x"] }, replay)).toBe(2);
    expect(replay.written.err).toContain("claude-sdk");
    expect(await replayCommand({ agent: "acp", files: [] }, replay)).toBe(2);
  });

  it("gives the same bytes each time", async () => {
    const trace = file(
      "twice.ndjson",
      hello + row({ type: "turn", id: "1", by: "client" }) + row({ type: "done", reason: "end_turn" }),
    );
    const [first, second] = [io(), io()];
    await replayCommand({ agent: "mock", files: [trace] }, first);
    await replayCommand({ agent: "mock", files: [trace] }, second);
    expect(first.written.out).toBe(second.written.out);
    expect(readFileSync(trace, "utf8")).toContain("done");
  });
});
