import { describe, expect, it } from "vitest";
import { errorData, retryAttempt } from "./errors.ts";

const code = (codexErrorInfo: unknown, message = "it failed") => errorData({ message, codexErrorInfo }).code;

describe("errors in canonical words", () => {
  it.each([
    ["contextWindowExceeded", "context_overflow"],
    ["usageLimitExceeded", "rate_limit"],
    ["rateLimitExceeded", "rate_limit"],
    ["serverOverloaded", "api_error"],
    ["modelNotFound", "api_error"],
    ["unauthorized", "provider_auth"],
    ["sessionBudgetExceeded", "max_budget"],
    ["sandboxError", "execution_error"],
    ["tooManyDenials", "execution_error"],
    ["somethingOfTomorrow", "unknown"],
  ])("%s is %s", (info, expected) => expect(code(info)).toBe(expected));

  it("401, 403 and 413 arrive as a failed connection", () => {
    expect(code({ httpConnectionFailed: { httpStatusCode: 401 } })).toBe("provider_auth");
    expect(code({ httpConnectionFailed: { httpStatusCode: 403 } })).toBe("provider_auth");
    expect(code({ httpConnectionFailed: { httpStatusCode: 413 } })).toBe("context_overflow");
    expect(code("other", "unexpected status 413 Payload Too Large")).toBe("context_overflow");
    expect(code({ responseTooManyFailedAttempts: { httpStatusCode: 429 } })).toBe("rate_limit");
    expect(
      errorData({ message: "x", codexErrorInfo: { httpConnectionFailed: { httpStatusCode: null } } }).details.error_source,
    ).toBe("transport");
  });

  it("a bill that is not paid is no rate limit, though it has the name of one", () => {
    expect(code("usageLimitExceeded", "Quota exceeded. Check your plan and billing details.")).toBe("api_error");
    expect(code("usageLimitExceeded", "You've hit your usage limit. Try again in 3 days.")).toBe("rate_limit");
  });

  it("`other` hides its cause in the message", () => {
    expect(code("other", '{"error":{"code":"context_length_exceeded"}}')).toBe("context_overflow");
    expect(code("other", "Incomplete response returned, reason: max_output_tokens")).toBe("output_length");
    expect(code("other", "Missing environment variable: `KEY`.")).toBe("provider_auth");
    expect(code("other", "stream disconnected before completion")).toBe("api_error");
  });

  it("the message of a refused request is the sentence in the provider's answer", () => {
    const body = {
      error: { message: "Your input is too long.", type: "invalid_request_error", code: "context_length_exceeded" },
    };
    expect(errorData({ message: JSON.stringify(body), codexErrorInfo: "other" })).toMatchObject({
      message: "Your input is too long.",
      code: "context_overflow",
    });
  });

  it("an error of any shape has a message and a code", () => {
    for (const odd of [null, 3, "x", [], { message: 4 }, { codexErrorInfo: {} }]) expect(errorData(odd).message).not.toBe("");
  });

  it("reads the attempt out of the words of a retry", () => {
    expect(retryAttempt("Reconnecting... 2/5")).toBe(2);
    expect(retryAttempt("Reconnecting... waiting for network")).toBeUndefined();
  });
});
