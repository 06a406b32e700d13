/**
 * Sends what a person wrote. What was not taken comes back to the composer of its session, whichever one is open by then, and nothing is sent twice: words whose fate is not known,
 * because the connection was lost, keep their key when they are sent again. Not here: where messages are written.
 */
import { DragomanError } from "../../../src/client/error.ts";
import { type Attached, toInput } from "../composer/attachments.ts";
import { uniqueId } from "../ui/browser.ts";
import { daemon, problemText } from "./daemon.ts";
import { putOut, takeBack, taken } from "./outbox.ts";
import { sessions } from "./sessions.ts";

export type Written = {
  text: string;
  files: readonly Attached[];
  when?: "queue" | "steer";
  /** One of the agent's own commands. */
  command?: boolean;
};

/** Words and files that were not taken, and why. */
export type Returned = Pick<Written, "text" | "files"> & { detail: string };

const returned = new Map<string, Returned>();
export const returnedTo = (session: string): Returned | undefined => returned.get(session);
export const takeReturned = (session: string): void => void returned.delete(session);

/** The last message of each session that may have been taken. */
const unsure = new Map<string, { key: string; written: Written }>();

/** `shown`: at once, before the session's events report it. */
export async function sendMessage(session: string, written: Written, shown: boolean): Promise<void> {
  const { text, files, when, command } = written;
  const before = unsure.get(session);
  const key = before && isSame(before.written, written) ? before.key : uniqueId();
  if (shown) putOut({ key, session_id: session, text, files: files.map(({ name }) => name) });
  try {
    const accepted = await daemon.session(session).send(text, {
      ...(command === undefined ? {} : { command }),
      ...(when === undefined ? {} : { when_busy: when }),
      idempotencyKey: key,
      ...(files.length > 0 ? { attachments: files.map(toInput) } : {}),
    });
    if (unsure.get(session)?.key === key) unsure.delete(session);
    taken(key, accepted);
  } catch (error) {
    takeBack(key);
    if (error instanceof DragomanError && (error.code === "unreachable" || error.code === "bad_answer"))
      unsure.set(session, { key, written });
    const more = returned.get(session);
    returned.set(session, {
      text: more ? `${more.text}\n\n${text}` : text,
      files: [...(more?.files ?? []), ...files],
      detail: problemText(error),
    });
    sessions.changed.flush();
  }
}

const isSame = (a: Written, b: Written): boolean =>
  a.text === b.text &&
  a.when === b.when &&
  a.command === b.command &&
  a.files.length === b.files.length &&
  a.files.every(({ id }, index) => id === b.files[index]?.id);
