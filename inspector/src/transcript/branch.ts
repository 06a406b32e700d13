/** Going on from an earlier place: a fork of the session there, opened, and on demand with a message in it. */
import { DragomanError } from "../../../src/client/error.ts";
import type { Item } from "../../../src/schema/item.ts";
import { daemon } from "../state/daemon.ts";
import { putOut, takeBack, taken } from "../state/outbox.ts";
import { go } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { uniqueId } from "../ui/browser.ts";
import type { TranscriptView } from "./context.ts";

export const textOf = (item: Item): string =>
  item.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");

/** `at`: the last event it takes over. An agent that only forks at its end gets a new session that knows what was said up to there. */
export async function forkAt(id: string, at: number, resent?: { turn_id: string | null; text: string }): Promise<void> {
  const next = await daemon
    .session(id)
    .fork({ at })
    .then(({ id: forked }) => forked)
    .catch((error: unknown) => {
      if (error instanceof DragomanError && error.code === "fork_unsupported")
        return retold(id, at, resent?.turn_id ?? null, error);
      throw error;
    });
  sessions.accept(await daemon.session(next).get());
  go({ page: "session", id: next });
  if (resent) await sendTo(next, resent.text);
}

/** From the checkpoint before the turn, or the first one after the event. There is none where no file changed in between. */
async function retold(id: string, at: number, turn: string | null, refused: DragomanError): Promise<string> {
  const { checkpoints } = await daemon.session(id).checkpoints();
  const place = checkpoints.find(({ sequence, turn_id }) => (turn === null ? sequence >= at : turn_id === turn));
  if (!place) throw refused;
  const { session_id } = await daemon.session(id).rewind(place.checkpoint_id, { mode: "conversation" });
  if (session_id === null) throw refused;
  return session_id;
}

export async function sendTo(id: string, text: string): Promise<void> {
  const key = uniqueId();
  putOut({ key, session_id: id, text, files: [] });
  try {
    taken(key, await daemon.session(id).send(text, { idempotencyKey: key }));
  } catch (error) {
    takeBack(key);
    throw error;
  }
}

/** The last event before this turn began: what a fork without the turn takes over. */
export function beforeTurn({ fold }: TranscriptView, turnId: string): number | undefined {
  const start = fold.entries().find((entry) => entry.kind === "turn-start" && entry.turn_id === turnId)?.sequence;
  return start === undefined || start < 2 ? undefined : start - 1;
}
