// What goes wrong with the mock agent, on purpose.
import type { ErrorCode } from "../../../schema/event-data.ts";
import { type Act, Ending, number, say } from "./stage.ts";

const ERROR_CODES: readonly ErrorCode[] = [
  "provider_auth",
  "api_error",
  "context_overflow",
  "output_length",
  "aborted",
  "rate_limit",
  "max_turns",
  "max_budget",
  "execution_error",
  "unknown",
];

export const faults: Record<string, Act> = {
  retry: {
    usage: "retry N",
    about: "N retries of the provider, then success",
    play: async (stage, args) => {
      for (let attempt = 1; attempt <= number(args, 2); attempt++)
        stage.emit({ type: "status", status: { status: "retrying", detail: "overloaded", attempt } });
      await say(stage, "It worked after all.");
    },
  },
  error: {
    usage: "error CODE",
    about: "ends the turn with an error of that canonical code",
    play: async (stage, args) => {
      const code = ERROR_CODES.find((each) => each === (args || "api_error")) ?? "unknown";
      const message =
        code === args || args === ""
          ? `The mock failed with ${code}.`
          : `There is no code ${JSON.stringify(args)}. Use one of: ${ERROR_CODES.join(", ")}.`;
      stage.emit({ type: "fault", message, code, retryable: code === "rate_limit" });
      throw new Ending("error", code);
    },
  },
  hold: { usage: "hold", about: "does nothing until a message steers the turn", play: (stage) => stage.steered() },
  hang: { usage: "hang", about: "does nothing until it is interrupted", play: (stage) => stage.wait(2 ** 30) },
  garbage: {
    usage: "garbage",
    about: "prints what is no message: text, broken JSON, an unknown type, bytes that are not UTF-8",
    play: async (stage) => {
      stage.raw("Warning: this is not JSON\n");
      stage.raw('{"type":"text","m":\n');
      stage.raw('{"type":"from_the_future","value":1}\n');
      stage.raw(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
      await say(stage, "That was garbage.");
    },
  },
  longline: {
    usage: "longline MB",
    about: "prints one line of so many megabytes",
    play: async (stage, args) => {
      const block = Buffer.alloc(1024 * 1024, "x");
      for (let i = 0; i < number(args, 100); i++) {
        stage.raw(block);
        await stage.wait(0);
      }
      stage.raw("\n");
      await say(stage, "That was a long line.");
    },
  },
  stderr: {
    usage: "stderr N",
    about: "N lines on stderr",
    play: async (stage, args) => {
      for (let i = 1; i <= number(args, 100); i++) stage.stderr(`stderr line ${i}`);
      await say(stage, "I complained.");
    },
  },
  depart: {
    usage: "depart [MS]",
    about: "ends its process a moment after the turn",
    play: async (stage, args) => {
      await say(stage, "I will be gone.");
      setTimeout(() => stage.exit(3), number(args, 50));
    },
  },
  crash: {
    usage: "crash [CODE]",
    about: "exits in mid-turn with that code",
    play: async (stage, args) => {
      stage.emit({ type: "text", m: stage.id(), d: "I am about to " });
      stage.stderr("mock: crashing as asked");
      stage.exit(number(args, 1));
      await stage.wait(2 ** 30);
    },
  },
};
