/** What events make of a session's facts: the title of one that nobody named, and the error that its last turn ended with. */
import { describe, expect, it } from "vitest";
import type { Usage } from "../event-data.ts";
import type { ProjectedEvent } from "./event.ts";
import { factsAfter, NO_FACTS } from "./facts.ts";

const at = { sequence: 1, time: "2026-01-01T00:00:00.000Z", native_session_id: null };
const asked = (text: string): ProjectedEvent => ({
  ...at,
  type: "message.queued",
  data: { message_id: "m", turn_id: "t", text },
});
const titled = (title: string): ProjectedEvent => ({ ...at, type: "session.updated", data: { title } });
const titleOf = (...events: ProjectedEvent[]): string | null => events.reduce(factsAfter, NO_FACTS).title;

describe("the title of a session that nobody named", () => {
  it("is the first line that says something, of the first message", () => {
    expect(titleOf(asked("\n  Mend   the parser \nand then test it"), asked("second"))).toBe("Mend the parser");
    expect(titleOf(asked(" \n "))).toBe(null);
    expect(titleOf(asked(" \n "), asked("second"))).toBe("second");
  });

  it("is cut at a word when it is long, and cut anyhow when there is none", () => {
    const title = titleOf(asked(`${"word ".repeat(40)}`)) ?? "";
    expect(title).toMatch(/^(word )+word…$/);
    expect(title.length).toBeLessThanOrEqual(81);
    expect(titleOf(asked("x".repeat(500)))).toHaveLength(41);
  });

  it("gives way to any other title, and never takes the place of one", () => {
    expect(titleOf(asked("first"), titled("Named"))).toBe("Named");
    expect(titleOf(titled("Named"), asked("first"))).toBe("Named");
  });
});

describe("the last error", () => {
  const started: ProjectedEvent = { ...at, type: "turn.started", data: { turn_id: "t", initiator: "client" } };
  const ended = (stop_reason: "end_turn" | "interrupted" | "error"): ProjectedEvent => ({
    ...at,
    type: "turn.ended",
    data: { turn_id: "t", stop_reason },
  });
  const failed = (message: string): ProjectedEvent => ({
    ...at,
    type: "error",
    data: { code: "rate_limit", message, details: { error_source: "provider", native_code: null, retryable: true } },
  });
  const errorOf = (...events: ProjectedEvent[]): string | undefined => events.reduce(factsAfter, NO_FACTS).last_error?.message;

  it("is the one that the last turn ended with, until the next begins", () => {
    expect(errorOf(started, failed("first"), failed("second"), ended("error"))).toBe("second");
    expect(errorOf(started, failed("first"), ended("error"), started)).toBe(undefined);
    expect(errorOf(started, ended("end_turn"), failed("its agent died"))).toBe("its agent died");
  });

  it("is none when the turn succeeded or was interrupted all the same", () => {
    for (const reason of ["end_turn", "interrupted"] as const)
      expect(errorOf(started, failed("one attempt"), ended(reason))).toBe(undefined);
  });

  it("keeps the beginning of a long message", () => {
    expect(errorOf(started, failed("x".repeat(10_000)), ended("error"))).toHaveLength(500);
  });
});

describe("the usage of a session", () => {
  const said = (usage: Partial<Usage>): ProjectedEvent => ({
    ...at,
    type: "usage.updated",
    data: { scope: "session", input_tokens: 0, output_tokens: 0, ...usage },
  });
  const ended = (usage: Usage): ProjectedEvent => ({
    ...at,
    type: "turn.ended",
    data: { turn_id: "t", stop_reason: "end_turn", usage },
  });
  const usageOf = (...events: ProjectedEvent[]): Usage | null => events.reduce(factsAfter, NO_FACTS).usage;
  const turn = { input_tokens: 100, output_tokens: 20 };

  it("adds up the turns of an agent that reports no more of the session than its context and cost", () => {
    const context = said({ context_used: 119, context_window: 1000 });
    const cost = said({ context_used: 138, context_window: 1000, cost_usd: 0.5 });
    expect(usageOf(context)).toEqual({ input_tokens: 0, output_tokens: 0, context_used: 119, context_window: 1000 });
    expect(usageOf(context, cost, ended(turn), context, ended(turn))).toEqual({
      input_tokens: 200,
      output_tokens: 40,
      context_used: 119,
      context_window: 1000,
      cost_usd: 0.5,
    });
  });

  it("is what an agent says that counts the session itself", () => {
    expect(usageOf(said({ input_tokens: 7 }), ended(turn), said({ context_used: 9 }))).toEqual({
      input_tokens: 7,
      output_tokens: 0,
      context_used: 9,
    });
  });
});
