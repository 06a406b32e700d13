// Numbers and times as the inspector shows them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bytes, clock, count, duration, exactTime, timeOfDay } from "../../inspector/src/ui/format.ts";

describe("figures", () => {
  it("never reach the next unit by rounding", () => {
    expect([999, 1_000, 9_949, 9_999, 999_499, 999_999].map(count)).toEqual(["999", "1.0k", "9.9k", "10k", "999k", "1.0M"]);
    expect([999.4, 999.6, 59_940, 59_960, 119_700, 3_599_900].map(duration)).toEqual([
      "999 ms",
      "1.0 s",
      "59.9 s",
      "1 min 0 s",
      "2 min 0 s",
      "1 h 0 min",
    ]);
    expect([999, 1_023, 1_048_575, 5_368_709_120].map(bytes)).toEqual(["999 B", "1.0 kB", "1.0 MB", "5.0 GB"]);
  });
});

describe("times", () => {
  const before = process.env.TZ;
  beforeAll(() => {
    process.env.TZ = "Asia/Kolkata";
  });
  afterAll(() => {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  });

  it("are those of the person's clock, to the millisecond too", () => {
    expect(exactTime("2026-11-18T19:26:32.065Z")).toBe("00:56:32.065");
  });

  it("of another day say the day", () => {
    const now = new Date();
    const [day, year] = [String(now.getDate()), String(now.getFullYear() - 1)];
    expect(timeOfDay(now.toISOString())).not.toMatch(/[A-Z][a-z]{2} \d/);
    const earlier = new Date(now);
    earlier.setFullYear(now.getFullYear() - 1, now.getMonth(), 15);
    expect(timeOfDay(earlier.toISOString())).toContain("15");
    expect(clock(earlier.toISOString())).toContain(year);
    expect(clock(now.toISOString())).not.toContain(`${day},`);
  });
});
