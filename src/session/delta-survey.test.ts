import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mockAgent } from "../agents/mock/agent.ts";
import { type Core, openCore } from "../daemon/core.ts";
import { Redactor } from "../redaction/redactor.ts";
import { surveyDeltas } from "./delta-survey.ts";
import { ExportRedaction } from "./export-redaction.ts";
import type { Session } from "./session.ts";
import { eventsOf, play } from "./test-session.ts";
import { exportLines } from "./transfer.ts";

const SECRET = "correct-horse-battery";
const redactor = new Redactor({ values: [SECRET] });

let dataDir: string;
let core: Core;
let session: Session;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "dragoman-survey-"));
  core = await openCore({ dataDir, config: {}, agents: [mockAgent], env: process.env, defaultDirectory: dataDir, log: () => {} });
  session = await core.manager.get((await core.manager.create({ agent: "mock", directory: dataDir })).session_id);
});
afterAll(async () => {
  await core.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describe("secrets that are divided over deltas", () => {
  it("are found in every delta that holds a piece, and nowhere else", async () => {
    await play(session, "say nothing to hide");
    const clean = session.stream.lastCommitted;
    const text = `${SECRET} and once more ${SECRET}, at the end ${SECRET}`;
    await play(session, `say ${text}`);
    const survey = await surveyDeltas(session.stream, session.stream.lastCommitted + 1, redactor, async () => {});
    const deltas = (await eventsOf(session)).flatMap((event) => (event.type === "item.delta" ? [event] : []));
    const said = deltas
      .filter(({ sequence }) => sequence > clean)
      .map(({ sequence, data }) => survey.deltas.get(sequence) ?? data.delta)
      .join("");
    expect(said.endsWith(redactor.text(text))).toBe(true);
    expect(said).not.toContain(SECRET);
    expect([...survey.deltas.keys()].filter((sequence) => sequence <= clean)).toEqual([]);
    expect(survey.tainted.size).toBeGreaterThan(0);
  });

  it("are not in an export that began before they were said: it ends where it was looked for them", async () => {
    const redaction = await ExportRedaction.of(session.stream, redactor, async () => {});
    const last = session.stream.lastCommitted;
    await play(session, `say later ${SECRET}`);
    const sequences: number[] = [];
    for await (const line of exportLines(core.log, session.stream, redaction)) {
      const { kind, event } = JSON.parse(line);
      if (kind === "event") sequences.push(event.sequence);
    }
    expect(sequences.at(-1)).toBe(last);
  });
});
