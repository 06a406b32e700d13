/** Each canonical error code in words, and what to do about it: the same whatever the agent. */
import type { ErrorCode } from "../../../src/schema/event-data.ts";

export const errorTitles: Record<ErrorCode, string> = {
  provider_auth: "Not signed in",
  api_error: "Provider error",
  context_overflow: "Context is full",
  output_length: "Answer was cut",
  aborted: "Stopped",
  rate_limit: "Usage limit",
  max_turns: "Turn limit",
  max_budget: "Budget used up",
  execution_error: "Agent failed",
  unknown: "Error",
};

export const errorAdvice: Record<ErrorCode, string> = {
  provider_auth:
    "The agent is not signed in, or its key is wrong. Sign in with the agent's own login, or pass its key in the environment.",
  api_error: "The provider failed. Send the message again; if it keeps failing, check the provider's status page.",
  context_overflow: "The conversation no longer fits the model. Compact it, or continue in a new session.",
  output_length: "The answer was cut at the model's limit. Ask it to continue.",
  aborted: "The turn was stopped. Send the next message when you are ready.",
  rate_limit: "The usage limit was reached. Wait for the limit to reset, or choose another model.",
  max_turns: "The agent's own limit of turns was reached. Send a message to continue.",
  max_budget: "The budget of this session is used up. Raise it, or continue in a new session.",
  execution_error: "The agent itself failed. Its stderr and the native messages of this turn show more.",
  unknown: "An error of an unknown kind. The native message of this event shows what the agent reported.",
};
