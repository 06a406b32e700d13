import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answer, assistant, call, echo, init, success, toolResult } from "../translate/test-messages.ts";
import { phaseAfter, type RunPhase, WATCHDOG_TIMES, Watchdog, watchdogTimes } from "./watchdog.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const phases = (...messages: { data: unknown }[]): RunPhase =>
  messages.reduce<RunPhase>((phase, { data }) => phaseAfter(phase, data), "starting");

describe("the watchdog", () => {
  it("knows what Amp was last seen doing", () => {
    expect(phases()).toBe("starting");
    expect(phases(init(), echo("hi"))).toBe("model");
    expect(phases(init(), echo("hi"), call("t", "Bash", {}))).toBe("tools");
    expect(phases(init(), echo("hi"), call("t", "Bash", {}), toolResult("t", "x"))).toBe("model");
    expect(phases(init(), echo("hi"), assistant([{ type: "text", text: "cut" }], null))).toBe("incomplete");
    expect(phases(init(), echo("hi"), answer("x"))).toBe("done");
    expect(phases(init(), echo("hi"), answer("x"), success("x"))).toBe("leaving");
  });

  it("waits for ever for a tool, and not for a model that says nothing", () => {
    const alarms: string[] = [];
    let nudges = 0;
    const watchdog = new Watchdog(
      WATCHDOG_TIMES,
      () => nudges++,
      ({ phase }) => alarms.push(phase),
    );
    for (const { data } of [init(), echo("hi"), call("t", "Bash", {})]) watchdog.saw(data);
    vi.advanceTimersByTime(10 * WATCHDOG_TIMES.silence_ms);
    expect([nudges, alarms]).toEqual([0, []]);
    watchdog.saw(toolResult("t", "x").data);
    vi.advanceTimersByTime(WATCHDOG_TIMES.nudge_ms);
    expect([nudges, alarms]).toEqual([1, []]);
    vi.advanceTimersByTime(WATCHDOG_TIMES.silence_ms);
    expect(alarms).toEqual(["model"]);
    watchdog.stop();
  });

  it("is patient again after each sign of life, and done when it is stopped", () => {
    const alarms: string[] = [];
    const watchdog = new Watchdog(
      WATCHDOG_TIMES,
      () => {},
      ({ phase }) => alarms.push(phase),
    );
    watchdog.saw(assistant([], null).data);
    vi.advanceTimersByTime(WATCHDOG_TIMES.incomplete_ms - 1);
    watchdog.touch();
    vi.advanceTimersByTime(WATCHDOG_TIMES.incomplete_ms - 1);
    expect(alarms).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(alarms).toEqual(["incomplete"]);
    watchdog.touch();
    watchdog.stop();
    vi.advanceTimersByTime(WATCHDOG_TIMES.silence_ms);
    expect(alarms).toEqual(["incomplete"]);
  });

  it("takes its times from the configuration, and nonsense from nobody", () => {
    expect(watchdogTimes({ silence_ms: 5, nudge_ms: -1, start_ms: "x", other: 3 })).toEqual({ ...WATCHDOG_TIMES, silence_ms: 5 });
    expect(watchdogTimes(undefined)).toEqual(WATCHDOG_TIMES);
  });
});
