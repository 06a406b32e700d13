import { expect, it } from "vitest";
import { YoungSessions } from "./young-sessions.ts";

it("a session rests until the minute it was made in is over", () => {
  let now = Date.UTC(2026, 0, 1, 12, 0, 40);
  const sessions = new YoungSessions(() => now);
  sessions.born("a");
  expect(sessions.restMs("a")).toBe(20_000);
  expect(sessions.restMs("unknown")).toBe(0);
  now += 20_000;
  expect(sessions.restMs("a")).toBe(0);
});
