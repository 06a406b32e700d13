// For tests of live sessions: what was committed, and waiting for what will be.
import type { UniversalEvent } from "../schema/event.ts";
import { foldItems } from "../schema/projection/item-projection.ts";
import type { Session } from "./session.ts";

export const eventsOf = async (session: Pick<Session, "stream">): Promise<UniversalEvent[]> =>
  (await session.stream.read({ limit: 1_000_000, maxBytes: 1e9 })).events.map((json) => JSON.parse(json) as UniversalEvent);

/** Waits until a committed event fits, and returns it. */
export const until = (session: Session, fits: (event: UniversalEvent) => boolean, after = 0): Promise<UniversalEvent> =>
  new Promise((resolve) => {
    const subscription = session.stream.subscribe({
      after,
      onBatch: (batch) => {
        const found = batch.events.map((json) => JSON.parse(json) as UniversalEvent).find(fits);
        if (!found) return;
        setImmediate(() => subscription.close());
        resolve(found);
      },
    });
  });

export const turnEnd = (session: Session, turnId: string): Promise<UniversalEvent> =>
  until(session, (event) => event.type === "turn.ended" && event.data.turn_id === turnId);

/** Sends a message and waits for the end of its turn. */
export async function play(session: Session, text: string): Promise<UniversalEvent> {
  const { turn_id } = await session.send(text, [], "queue");
  return turnEnd(session, turn_id);
}

/** The texts of all messages, or those of one role, in order. */
export const textsIn = (events: UniversalEvent[], role?: "assistant" | "user"): string[] =>
  foldItems(events).flatMap((item) =>
    item.kind === "message" && (role === undefined || item.role === role)
      ? [item.content.map((part) => ("text" in part ? (part.text ?? "") : "")).join("")]
      : [],
  );

export const textsOf = async (session: Session, role?: "assistant" | "user"): Promise<string[]> =>
  textsIn(await eventsOf(session), role);
