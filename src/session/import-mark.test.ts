import { afterEach, beforeEach, expect, it } from "vitest";
import type { Log } from "../log/contract.ts";
import { openMemoryLog } from "../log/memory/log.ts";
import { ImportMark, isImporting, removeUnfinishedImports } from "./import-mark.ts";
import { parseRow, type SessionRow } from "./session-row.ts";

let log: Log;
beforeEach(async () => {
  log = await openMemoryLog();
});
afterEach(() => log.close());

const row = (session_id: string): SessionRow => parseRow(JSON.stringify({ session_id, agent: "mock", directory: "/" }));

const there = async (id: string): Promise<boolean> => (await log.row("session", id)) !== undefined;

it("finds and removes a session whose import was cut off", async () => {
  const mark = await ImportMark.put(log, "cut");
  const stream = await log.create("session", "cut", mark.stateOf(row("cut")));
  await stream.committed();
  expect(isImporting((await stream.row()).state)).toBe(true);
  expect(parseRow((await stream.row()).state)).toMatchObject(row("cut"));
  expect(await removeUnfinishedImports(log)).toEqual(["cut"]);
  expect(await there("cut")).toBe(false);
  expect(await removeUnfinishedImports(log)).toEqual([]);
});

it("leaves a session that was completed, though the document is still there", async () => {
  const mark = await ImportMark.put(log, "whole");
  const stream = await log.create("session", "whole", mark.stateOf(row("whole")));
  stream.setState(JSON.stringify(row("whole")));
  await stream.committed();
  expect(isImporting((await stream.row()).state)).toBe(false);
  expect(await removeUnfinishedImports(log)).toEqual([]);
  expect(await there("whole")).toBe(true);
});

it("leaves a session of the same name that another one made, by import or not", async () => {
  await ImportMark.put(log, "other");
  await (await log.create("session", "other", JSON.stringify(row("other")))).committed();
  await ImportMark.put(log, "second");
  const own = await ImportMark.put(log, "second");
  await (await log.create("session", "second", own.stateOf(row("second")))).committed();
  own.remove();
  expect(await removeUnfinishedImports(log)).toEqual([]);
  expect([await there("other"), await there("second")]).toEqual([true, true]);
});

it("passes over a document that says nothing", async () => {
  log.documents.put("importing", "x", "garbage");
  log.documents.put("importing", "y", "{}");
  expect(await removeUnfinishedImports(log)).toEqual([]);
  expect(await log.documents.list("importing")).toEqual([]);
});

it("finds them all, however many", async () => {
  for (let index = 0; index < 250; index++) {
    const mark = await ImportMark.put(log, `cut-${index}`);
    await log.create("session", `cut-${index}`, mark.stateOf(row(`cut-${index}`)));
  }
  await log.documents.committed();
  expect(await removeUnfinishedImports(log)).toHaveLength(250);
});
