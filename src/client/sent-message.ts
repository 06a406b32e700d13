/** A message on its way into a session: the request that carries it, and where in the story it was queued. Not here: the turn it begins (turn-outcome.ts). */
import type { AttachmentInput } from "../schema/session.ts";
import type { EventsPage, PageOptions } from "./event-pages.ts";
import { callOptions } from "./http.ts";

export type SendOptions = {
  /** The message is one of the agent's own commands, `/name arguments`. Without it, a message is text, whatever it begins with. */
  command?: boolean;
  attachments?: AttachmentInput[];
  when_busy?: "queue" | "steer" | "reject";
  /** The same key sent again gives the same answer and no second turn. */
  idempotencyKey?: string;
  signal?: AbortSignal | undefined;
};

export const messageRequest = (message: string, { command, attachments, when_busy, idempotencyKey, signal }: SendOptions) => ({
  body: {
    message,
    ...(command ? { command } : {}),
    ...(attachments ? { attachments } : {}),
    ...(when_busy ? { when_busy } : {}),
  },
  ...callOptions({ signal, idempotencyKey }),
});

type Pages = { page(options: PageOptions): Promise<EventsPage> };

/** A message that was sent before, under the same key, may be long done: the event before the one that reported it. */
export async function beforeQueued(
  session: Pages,
  messageId: string,
  last: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  for (let before = last + 1, more = true; more; ) {
    const page = await session.page({ before, types: ["message.queued"], order: "desc", limit: 1000, signal });
    const found = page.events.find(({ type, data }) => type === "message.queued" && data.message_id === messageId);
    if (found) return found.sequence - 1;
    [before, more] = [page.next, page.has_more];
  }
  return last;
}
