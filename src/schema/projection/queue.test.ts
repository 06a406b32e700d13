import { describe, expect, it } from "vitest";
import type { ProjectedEvent } from "./event.ts";
import { SessionProjection } from "./session-projection.ts";

function projected(...events: { type: string; data: unknown }[]): SessionProjection {
  const projection = new SessionProjection();
  events.forEach((event, index) => {
    projection.apply({ ...event, sequence: index + 1, time: `t${index + 1}`, native_session_id: null } as ProjectedEvent);
  });
  return projection;
}

const queued = (id: string) => ({ type: "message.queued", data: { message_id: id, turn_id: `turn_${id}`, text: `say ${id}` } });
const order = (projection: SessionProjection) => projection.queue.map(({ message_id }) => message_id).join("");

describe("the queue", () => {
  it("keeps the order of arrival, and what was changed of a message", () => {
    const projection = projected(queued("a"), queued("b"), { type: "message.updated", data: { message_id: "a", text: "other" } });
    expect(projection.queue).toEqual([
      { message_id: "a", turn_id: "turn_a", text: "other", queued_at: "t1" },
      { message_id: "b", turn_id: "turn_b", text: "say b", queued_at: "t2" },
    ]);
  });

  it("moves a message to a position; beyond the end is the end", () => {
    const three = [queued("a"), queued("b"), queued("c")];
    const move = (message_id: string, position: number) => ({ type: "message.updated", data: { message_id, position } });
    expect(order(projected(...three, move("c", 0)))).toBe("cab");
    expect(order(projected(...three, move("a", 1)))).toBe("bac");
    expect(order(projected(...three, move("a", 9)))).toBe("bca");
    expect(order(projected(...three, move("x", 0)))).toBe("abc");
  });

  it("loses a message to the turn that names it, and to its removal", () => {
    const taken = { type: "turn.started", data: { turn_id: "turn_a", initiator: "client", message_id: "a" } };
    const removed = { type: "message.removed", data: { message_id: "b", reason: "client" } };
    const projection = projected(queued("a"), queued("b"), queued("c"), taken, removed);
    expect(order(projection)).toBe("c");
    expect(projection.turn).toMatchObject({ turn_id: "turn_a", message_id: "a" });
  });
});
