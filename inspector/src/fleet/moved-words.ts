/** How it is said that a session has another owner; in the transcript and in the news of the fleet the same. */
import type { EventDataOf } from "../../../src/schema/event-data.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";

export function movedWords({ from, to, reason }: EventDataOf["session.moved"]): string {
  const origin = from === null ? "" : ` from ${visibleLine(from)}`;
  switch (reason) {
    case "takeover":
      return `taken over by ${visibleLine(to)}${origin}`;
    case "move":
      return `moved to ${visibleLine(to)}${origin}`;
    case "restart":
      return `goes on at ${visibleLine(to)} after its restart`;
  }
}
