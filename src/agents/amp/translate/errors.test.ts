import { describe, expect, it } from "vitest";
import { readResultError } from "./errors.ts";

const code = (text: string) => {
  const read = readResultError(text);
  return read.kind === "fault"
    ? `${read.error.code} ${read.error.details.native_code} ${read.error.details.retryable}`
    : read.kind;
};

describe("the error of an Amp result", () => {
  it.each([
    ['429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}', "rate_limit 429 true"],
    ['400 {"type":"error","error":{"message":"bad request"}}', "api_error 400 false"],
    ['400 {"type":"error","error":{"message":"prompt is too long: 9 > 8"}}', "context_overflow 400 false"],
    ['429 {"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}', "api_error 429 false"],
    ['403 {"error":"no"}', "provider_auth 403 false"],
    ["500", "api_error 500 true"],
    ["Unauthorized Check your access token.", "provider_auth unauthorized false"],
    ["Model Provider Overloaded Try again in a few seconds.", "api_error overloaded true"],
    ["Context Limit Reached This conversation has reached the context window limit.", "context_overflow context_limit false"],
    ["Out of Credits Add credits to keep using Amp.", "api_error out_of_credits false"],
    ["Model Stream Timed Out The model stopped sending data before finishing.", "api_error stream_timeout true"],
    ["Expected property name or '}' in JSON at position 1 (line 1 column 2)", "api_error bad_stream true"],
    ["terminated", "api_error network true"],
    ["stream ended without producing a Message with role=assistant", "api_error network true"],
    ["Invalid JSON on stdin line 1: nope", "execution_error invalid_input false"],
    ["No valid messages found in stdin", "execution_error invalid_input false"],
    ["User cancelled (SIGINT/SIGTERM)", "cancelled"],
    ["Something never heard of", "execution_error null false"],
    ["", "execution_error null false"],
  ])("%s", (text, expected) => {
    expect(code(text)).toBe(expected);
  });

  it("names the tools that needed approval", () => {
    const text = "The following tools require user approval, which is not supported in stream JSON mode: Bash, edit_file";
    expect(readResultError(text)).toEqual({ kind: "approval", tools: ["Bash", "edit_file"] });
    expect(readResultError("A tool requires user approval, which is not supported in stream JSON mode")).toEqual({
      kind: "approval",
      tools: [],
    });
  });

  it("says the provider's own words, not the JSON around them", () => {
    const read = readResultError('429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}');
    expect(read).toMatchObject({ error: { message: "slow down" } });
  });
});
