// What a caller is informed of who waits for the end of a turn, also of one that never begins, or that another message's turn took in.
import { describe, expect, it } from "vitest";
import type { UniversalEvent } from "../schema/event.ts";
import type { EventDataOf, EventType } from "../schema/event-data.ts";
import { turnOutcome } from "./turn-outcome.ts";

type Told = { [T in EventType]: { type: T; data: EventDataOf[T] } }[EventType];

/** Followed by nothing, for ever, as a session that rests. */
async function* told(...events: Told[]): AsyncGenerator<UniversalEvent> {
  let sequence = 0;
  for (const event of events) yield { ...event, sequence: ++sequence } as UniversalEvent;
  await new Promise(() => {});
}

const queued: Told = { type: "message.queued", data: { message_id: "m", turn_id: "t", text: "words", attempts: 0 } };
const failure: Told = { type: "error", data: { message: "no credit", code: "api_error", details: {} } as EventDataOf["error"] };
const ended = (turn_id: string, stop_reason: "end_turn" | "error"): Told => ({
  type: "turn.ended",
  data: { turn_id, stop_reason },
});

describe("the outcome of a turn", () => {
  it("is refused when somebody removes its message from the queue", async () => {
    const removed: Told = { type: "message.removed", data: { message_id: "m", reason: "client" } };
    await expect(turnOutcome({ turn_id: "t" }, told(queued, removed))).rejects.toMatchObject({ code: "message_removed" });
    await expect(turnOutcome({ turn_id: "t", message_id: "m" }, told(removed))).rejects.toMatchObject({
      code: "message_removed",
    });
  });

  it("is not that of another message that was removed", async () => {
    const other: Told = { type: "message.removed", data: { message_id: "another", reason: "client" } };
    expect(await turnOutcome({ turn_id: "t" }, told(queued, other, ended("t", "end_turn")))).toMatchObject({ turn_id: "t" });
  });

  it("is the one of the running turn that its message was sent into", async () => {
    const steered: Told = { type: "message.removed", data: { message_id: "m", reason: "steered", turn_id: "running" } };
    const outcome = await turnOutcome({ turn_id: "t" }, told(queued, steered, ended("running", "end_turn")));
    expect(outcome).toMatchObject({ turn_id: "running", stop_reason: "end_turn" });
  });

  it("does not hold the error of the turn before", async () => {
    const events = told(queued, failure, ended("before", "error"), ended("t", "end_turn"));
    expect(await turnOutcome({ turn_id: "t" }, events)).toMatchObject({ stop_reason: "end_turn", error: null });
    const own = told(queued, ended("before", "end_turn"), failure, ended("t", "error"));
    expect(await turnOutcome({ turn_id: "t" }, own)).toMatchObject({ stop_reason: "error", error: "no credit" });
  });
});
