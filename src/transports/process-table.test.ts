import { describe, expect, it } from "vitest";
import {
  descendantsOf,
  listProcesses,
  listProcessesInPortions,
  liveGroup,
  type ProcessRow,
  parseProcStat,
  parsePsLine,
  readProcess,
  signalSame,
  startedSince,
} from "./process-table.ts";

describe("the process table", () => {
  it("knows this very process", async () => {
    const row = readProcess(process.pid);
    expect(row).toMatchObject({ pid: process.pid, zombie: false });
    expect(listProcesses().find(({ pid }) => pid === process.pid)).toEqual(row);
    const portions: number[] = [];
    const table = await listProcessesInPortions((ms) => void portions.push(ms));
    expect(table.find(({ pid }) => pid === process.pid)).toEqual(row);
    expect(portions.length).toBeGreaterThan(0);
  });

  it("knows nobody by an impossible pid", () => {
    for (const pid of [0, -1, 1.5, Number.NaN, 2 ** 31]) expect(readProcess(pid)).toBeNull();
  });

  it("reads a stat line whose command name has spaces and brackets", () => {
    const rest = Array.from({ length: 30 }, (_, i) => i + 23).join(" ");
    const stat = `12 (a) R (b)) Z 1 34 56 0 -1 4 0 0 0 0 1 2 3 4 20 0 1 0 98765 ${rest}`;
    const row = parseProcStat(12, stat);
    expect(row).toMatchObject({ pid: 12, ppid: 1, pgid: 34, sid: 56, zombie: true });
    expect(row?.startTime.endsWith("/98765")).toBe(true);
    expect(parseProcStat(12, "12 (cut")).toBeNull();
  });

  it("reads a line of ps", () => {
    expect(parsePsLine("  501     1   500 Ss   Tue Mar  3 10:11:12 2026  ")).toEqual({
      pid: 501,
      ppid: 1,
      pgid: 500,
      sid: null,
      zombie: false,
      startTime: "Tue Mar  3 10:11:12 2026",
    });
    expect(parsePsLine("")).toBeNull();
  });

  it("finds the live group of a leader, dead or alive, and no stranger", () => {
    const row = (pid: number, ticks: number, change: Partial<ProcessRow> = {}): ProcessRow => ({
      ...{ pid, ppid: 1, pgid: 10, sid: 10, zombie: false, startTime: `b/${ticks}` },
      ...change,
    });
    const pids = (table: ProcessRow[]) => liveGroup({ pid: 10, startTime: "b/5" }, table).map(({ pid }) => pid);
    const members = [row(11, 5), row(12, 9)];
    const otherGroup = [row(14, 9, { sid: 7 }), row(15, 9, { pgid: 8 })];
    const strangers = [row(13, 4), ...otherGroup, row(16, 9, { zombie: true }), row(17, 9, { startTime: "c/9" })];
    expect(pids([row(10, 5), ...members, ...strangers])).toEqual([10, 11, 12]);
    expect(pids([row(10, 5, { zombie: true }), ...members, ...strangers])).toEqual([11, 12]);
    expect(pids([...members, ...strangers])).toEqual([11, 12]);
    expect(pids([row(10, 6), ...members, ...strangers])).toEqual([]);
  });

  it("finds descendants, over dead ones too", () => {
    const row = (pid: number, ppid: number, zombie = false) => ({ pid, ppid, pgid: pid, sid: pid, zombie, startTime: "b/1" });
    const table = [row(5, 4), row(4, 3, true), row(3, 2), row(2, 1), row(9, 1), row(1, 0)];
    expect(descendantsOf([2], table).map(({ pid }) => pid)).toEqual([3, 5]);
  });

  it("does not signal another process with the same pid", () => {
    const me = readProcess(process.pid);
    expect(me).not.toBeNull();
    if (me !== null) expect(signalSame({ ...me, startTime: `${me.startTime}0` }, "SIGKILL")).toBe(false);
  });

  it("compares start times of one boot only", () => {
    expect(startedSince("boot-a/20", "boot-a/20")).toBe(true);
    expect(startedSince("boot-a/100", "boot-a/20")).toBe(true);
    expect(startedSince("boot-a/19", "boot-a/20")).toBe(false);
    expect(startedSince("boot-b/100", "boot-a/20")).toBe(false);
    expect(startedSince("Tue Mar  3 10:11:13 2026", "Tue Mar  3 10:11:12 2026")).toBe(true);
    expect(startedSince("nonsense", "nonsense")).toBe(false);
  });
});
