import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { play } from "../../../session/test-session.ts";
import type { NativeMessage } from "../../contract.ts";
import { allow, outputsOf, TestCore } from "../connect/test-core.ts";
import { goOnLive } from "./live.ts";
import { journalOf, replayRun } from "./run.ts";

let test: TestCore;
afterEach(() => test.close());

/** How many steps; the bar is 300. */
const STEPS = Number(process.env.DRAGOMAN_REPLAY_STEPS ?? 30);

async function ledgerOf(id: string): Promise<NativeMessage[]> {
  const session = await test.core.manager.get(id);
  const { messages } = await session.stream.readNative({ limit: 100_000, maxBytes: 1e9 });
  return messages.flatMap(({ dir, body }): NativeMessage[] => {
    const text = body.toString("utf8");
    return dir === "daemon" ? [] : [{ dir, data: text.startsWith("{") ? JSON.parse(text) : text }];
  });
}

describe("a run, played again from its ledger", () => {
  it(`has the same requests to the byte and tells the same: ${STEPS} steps with reads, edits, commands, a plan and a skill`, async () => {
    test = await TestCore.open(
      ({ input }) => {
        const done = input.filter(({ type }) => type === "function_call_output").length;
        if (done >= STEPS) return [{ text: "Done." }];
        const calls = [
          { call: "read", args: { path: "a.txt" } },
          { call: "write", args: { path: `b-${done}.txt`, content: `${done}\n` } },
          { call: "bash", args: { command: `echo ${done}; echo err >&2` } },
          { call: "plan", args: { entries: [{ text: `step ${done}`, status: "pending" }] } },
          { call: "skill", args: { name: "report" } },
          { call: "grep", args: { pattern: `a${done}` } },
        ];
        return [{ text: `Step ${done}.` }, calls[done % calls.length] as { call: string; args: object }];
      },
      { limits: { steps: STEPS + 10 } },
    );
    const skill = join(test.dir, ".agents", "skills", "report");
    mkdirSync(skill, { recursive: true });
    writeFileSync(join(skill, "SKILL.md"), "---\nname: report\ndescription: Reports\n---\nBe short.\n");
    writeFileSync(join(test.work, "a.txt"), "alpha\n");
    const session = await test.start({ permission_mode: "bypass" });
    expect(await play(session, "Go.")).toMatchObject({ data: { stop_reason: "end_turn" } });
    const records = journalOf(await ledgerOf(session.session_id));
    const report = await replayRun(records, test.work);
    expect(report).toMatchObject({ requests: STEPS + 1, differentRequests: [], firstDifference: null, differentTold: null });
    expect(report.told).toBeGreaterThan(STEPS * 5);
    // It can fail: another result is another request.
    const changed = records.map((record) => (record.type === "call.finished" ? { ...record, output: "forged" } : record));
    expect((await replayRun(changed, test.work)).differentRequests.length).toBeGreaterThan(0);
  }, 600_000);

  it("with a denied call, and from a request on with a living model", async () => {
    test = await TestCore.open((request, nth) =>
      nth === 1 ? [{ call: "bash", args: { command: "echo hi" } }] : [{ text: `Seen: ${outputsOf(request)[0] ?? ""}` }],
    );
    const session = await test.start();
    const turn = play(session, "Go.");
    await allow(session);
    await turn;
    const records = journalOf(await ledgerOf(session.session_id));
    expect(await replayRun(records, test.work)).toMatchObject({ requests: 2, differentRequests: [], differentTold: null });
    const count = test.endpoint.requests.length;
    let said = "";
    const options = { until: 2, endpoint: { baseUrl: test.endpoint.baseUrl }, directory: test.work };
    const end = await goOnLive(records, { ...options, onText: (chunk) => (said += chunk) });
    expect(end.reason).toBe("end_turn");
    expect(test.endpoint.requests).toHaveLength(count + 1);
    expect(test.request(count + 1).input).toEqual(test.request(2).input);
    await expect(goOnLive(records, { ...options, until: 9, onText: () => {} })).rejects.toThrow(/no request 9/);
    expect(() => journalOf([])).toThrow(/only sessions of `responses`/);
  });
});
