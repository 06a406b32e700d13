import { describe, expect, it } from "vitest";
import { ResponsesError, retryAfter } from "./errors.ts";
import { DEFAULT_RETRY, type RetryNotice, waitAfter, withRetry } from "./retry.ts";

const policy = { retries: 5, baseMs: 1, maxMs: 60_000, random: () => 1 };
const error = (code: ConstructorParameters<typeof ResponsesError>[0], retryAfterMs?: number) =>
  new ResponsesError(code, code, retryAfterMs === undefined ? {} : { retryAfterMs });

describe("retry", () => {
  it("doubles the wait, with jitter, up to the limit", () => {
    const waits = [1, 2, 3, 4, 5, 6].map((attempt) =>
      waitAfter(error("cut"), attempt, { ...DEFAULT_RETRY, maxMs: 6000, random: () => 1 }),
    );
    expect(waits).toEqual([1000, 2000, 4000, 6000, 6000, null]);
    expect(waitAfter(error("cut"), 1, { ...DEFAULT_RETRY, random: () => 0 })).toBe(750);
  });

  it("waits as long as the provider asks, and never for what cannot succeed", () => {
    expect(waitAfter(error("rate_limit", 90_000), 1, policy)).toBe(90_000);
    for (const code of [
      "auth",
      "model_unknown",
      "quota",
      "invalid_request",
      "aborted",
      "not_a_stream",
      "context_overflow",
    ] as const) {
      expect(waitAfter(error(code), 1, policy), code).toBeNull();
    }
  });

  it("reads Retry-After in seconds, milliseconds and as a date", () => {
    expect(retryAfter({ "retry-after": "3" })).toBe(3000);
    expect(retryAfter({ "retry-after-ms": "250", "retry-after": "3" })).toBe(250);
    expect(retryAfter({ "retry-after": "Thu, 01 Jan 1970 00:00:10 GMT" }, 4000)).toBe(6000);
    expect(retryAfter({ "retry-after": "soon" })).toBeUndefined();
    expect(retryAfter({ "retry-after": "999999" })).toBe(600_000);
    expect(retryAfter({})).toBeUndefined();
  });

  it("asks again until it succeeds and tells each wait", async () => {
    const notices: RetryNotice[] = [];
    const value = await withRetry(
      async (attempt) => {
        if (attempt < 3) throw error("server_error");
        return attempt;
      },
      { policy, onRetry: (notice) => void notices.push(notice) },
    );
    expect(value).toBe(3);
    expect(notices.map(({ attempt, waitMs }) => [attempt, waitMs])).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  it("gives the last error after the last attempt, and stops waiting at once when aborted", async () => {
    let attempts = 0;
    const failing = withRetry(
      async () => {
        attempts += 1;
        throw error("cut");
      },
      { policy },
    );
    await expect(failing).rejects.toMatchObject({ code: "cut" });
    expect(attempts).toBe(6);
    const controller = new AbortController();
    const waiting = withRetry(() => Promise.reject(error("rate_limit", 600_000)), {
      policy,
      signal: controller.signal,
      onRetry: () => queueMicrotask(() => controller.abort()),
    });
    await expect(waiting).rejects.toMatchObject({ code: "aborted" });
  });

  it("does not touch errors of our own", async () => {
    await expect(withRetry(() => Promise.reject(new TypeError("bug")), { policy })).rejects.toThrow("bug");
  });
});
