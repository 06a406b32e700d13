import { describe, expect, it } from "vitest";
import { byStatus, faultOf, ofAgent, ofProvider, providerBody } from "./error-table.ts";

const code = (...told: Parameters<typeof faultOf>) => faultOf(...told)?.code;

describe("the table of faults", () => {
  it.each([
    [400, "api_error", false],
    [401, "provider_auth", false],
    [402, "api_error", false],
    [403, "provider_auth", false],
    [408, "api_error", true],
    [413, "context_overflow", false],
    [429, "rate_limit", true],
    [500, "api_error", true],
    [529, "api_error", true],
  ] as const)("[U14] HTTP %d is %s", (status, expected, retryable) => {
    expect(byStatus(status)).toEqual(ofProvider(expected, retryable));
    expect(faultOf({ status })).toEqual(ofProvider(expected, retryable));
  });

  it("knows a name in every spelling", () => {
    for (const name of ["context_window_exceeded", "contextWindowExceeded", "ContextWindowExceededError"])
      expect(code({ names: [name] })).toBe("context_overflow");
    expect(faultOf({ names: ["billing_error"] })).toEqual(faultOf({ status: 402 }));
    expect(faultOf({ status: 402, text: "You exceeded your current quota" })).toEqual(faultOf({ status: 402 }));
  });

  it("takes the most exact thing that was told", () => {
    expect(code({ names: ["invalid_request"], text: "prompt is too long: 9 > 8" })).toBe("context_overflow");
    expect(code({ status: 400, text: "API key not valid" })).toBe("provider_auth");
    expect(code({ names: ["overloaded"], text: "rate limit" })).toBe("api_error");
    expect(code({ names: ["invalid_request"], status: 429 })).toBe("rate_limit");
    expect(code({ names: ["of_tomorrow"], status: 400, text: "no" })).toBe("api_error");
    expect(code({ names: ["of_tomorrow"], text: "no" })).toBeUndefined();
  });

  it.each([
    ["API Error: 400 the request is wrong", "api_error", false],
    ["404 no such thing", "api_error", false],
    ["Error: 500 it broke", "api_error", true],
    ["unexpected status 401 Unauthorized: no", "provider_auth", false],
    ["529 {}", "api_error", true],
  ] as const)("reads the status that begins %j", (text, expected, retryable) => {
    expect(faultOf({ text })).toEqual(ofProvider(expected, retryable));
  });

  it("takes no other number for a status", () => {
    expect(faultOf({ text: "it took 500 tries" })).toBeUndefined();
    expect(faultOf({ text: "4000 words" })).toBeUndefined();
  });

  it("knows the allowance of a subscription from a limit that passes", () => {
    expect(faultOf({ names: ["usage_limit_reached", "rate_limit"] })).toEqual(ofProvider("rate_limit"));
    expect(faultOf({ names: ["rate_limit"] })).toEqual(ofProvider("rate_limit", true));
  });

  it("reads the body of a provider's answer", () => {
    const body = { error: { message: "Too much.", type: "invalid_request_error", code: "context_length_exceeded" } };
    expect(providerBody(JSON.stringify(body))).toEqual({
      message: "Too much.",
      names: ["context_length_exceeded", "invalid_request_error"],
    });
    expect(providerBody('{"message":"Plain."}')).toEqual({ message: "Plain.", names: [] });
    for (const text of ["Plain.", "{broken", "{}", "[1]"]) expect(providerBody(text)).toBeUndefined();
  });

  it("lets an agent add rows, which count first", () => {
    const rows = { names: { loop_detected: ofAgent("max_turns") }, texts: [[/^Turn Limit/, ofAgent("max_turns")]] } as const;
    expect(code({ names: ["loop_detected"] }, rows)).toBe("max_turns");
    expect(code({ text: "Turn Limit: too many requests" }, rows)).toBe("max_turns");
    expect(code({ names: ["constructor"] }, rows)).toBeUndefined();
  });

  it("says what broke on the way", () => {
    for (const text of ["stream disconnected before completion", "fetch failed", "ECONNRESET", "request timed out"])
      expect(faultOf({ text })).toEqual({ code: "api_error", source: "transport", retryable: true });
  });
});
