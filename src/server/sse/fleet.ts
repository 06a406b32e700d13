/**
 * The stream of a fleet to one client: all nodes, then what changes among them, and every session that another node took, read from the log. Every message carries the
 * cursor of the log up to which moved sessions were reported, so that a client that comes back misses none. Changes of nodes are not kept: who comes back gets all nodes anew.
 */
import type { GlobalBatch, Log } from "../../log/contract.ts";
import type { UniversalEvent } from "../../schema/event.ts";
import type { FleetMessage } from "../../schema/node.ts";
import type { FleetPort } from "../fleet-port.ts";
import { fail } from "./follow.ts";
import { namedEvent, type SseStream } from "./stream.ts";

export async function followFleet(
  sse: SseStream,
  { fleet, log, after }: { fleet: FleetPort; log: Log; after: string },
): Promise<void> {
  let cursor = after;
  let stop = (): void => {};
  const write = (message: FleetMessage): boolean => sse.write(`id: ${cursor}\n${namedEvent(message.type, message)}`);
  try {
    // Nothing is kept for a client that does not read: it comes back, and gets all nodes anew.
    const watched = await fleet.watch((changes) => {
      if (!changes.every(write)) sse.close();
    });
    stop = watched.stop;
    write({ type: "nodes", at: new Date().toISOString(), nodes: watched.nodes });
  } catch (error) {
    return fail(sse, error);
  }
  const subscription = log.subscribeAll({
    after,
    onBatch(batch) {
      let more = true;
      for (const [index, type] of batch.types.entries()) {
        if (type !== "session.moved") continue;
        cursor = batch.cursorOf(index);
        more = write(movedIn(batch, index)) && more;
      }
      cursor = batch.cursor;
      return more;
    },
    onEnd: (reason, error) => (reason === "failed" ? fail(sse, error) : sse.end()),
  });
  sse.onDrain(() => subscription.resume());
  sse.onClose(() => {
    stop();
    subscription.close();
  });
}

function movedIn(batch: GlobalBatch, index: number): FleetMessage {
  const { time, session_id, sequence, data } = JSON.parse(batch.events[index] ?? "") as UniversalEvent & {
    type: "session.moved";
  };
  return { type: "session.moved", at: time, session_id, sequence, ...data };
}
