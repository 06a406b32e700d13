/**
 * How people name a session on the command line: by its id, by the beginning of its id, or as `latest` (also `-`), the one that was written to last. On a
 * terminal, whoever names none chooses from a list. Turned into ids before a command runs, so that every command takes all of them.
 */
import type { Dragoman } from "../client/dragoman.ts";
import { canAsk } from "./ask.ts";
import { type Command, type Terminal, UsageError } from "./command.ts";

const LATEST: ReadonlySet<string> = new Set(["latest", "-"]);
/** An id that the daemon made. */
const WHOLE = /^sess_[0-9a-z]{20,}$/;
/** How many are named when the beginning fits several. */
const NAMED = 5;

/** A person left the list without choosing. */
export class NotPicked extends Error {}

export async function resolveSessions(
  command: Command,
  words: string[],
  daemon: () => Promise<Dragoman>,
  terminal: Terminal,
): Promise<string[]> {
  const first = command.completes?.indexOf("sessions") ?? -1;
  if (first < 0) return words;
  if (words.length === 0 && command.usage.endsWith(" <session>") && canAsk(terminal)) {
    const { pickSession } = await import("./pick-session.ts");
    const picked = await pickSession(await daemon(), terminal);
    if (picked === undefined) throw new NotPicked();
    return [picked];
  }
  const every = command.usage.includes("<session>…");
  const isReference = (at: number): boolean => at === first || (every && at > first);
  return Promise.all(words.map((word, at) => (isReference(at) ? sessionId(word, daemon) : word)));
}

/** A word that fits nothing is left as it is: the daemon says that there is no such session. */
export async function sessionId(word: string, daemon: () => Promise<Dragoman>): Promise<string> {
  if (word === "" || WHOLE.test(word)) return word;
  const dragoman = await daemon();
  if (LATEST.has(word)) {
    const [latest] = (await dragoman.sessions({ order: "updated", limit: 1, archived: "include" })).sessions;
    if (!latest) throw new UsageError(`there is no session yet, so none is the latest`);
    return latest.session_id;
  }
  const { sessions } = await dragoman.sessions({ search: word, limit: 200, archived: "include" });
  const ids = sessions.map(({ session_id }) => session_id).filter((id) => id.startsWith(word));
  if (ids.length <= 1 || ids.includes(word)) return ids.includes(word) ? word : (ids[0] ?? word);
  const shown = ids.slice(0, NAMED).join(", ");
  throw new UsageError(
    `${word} is the beginning of ${ids.length} sessions: ${shown}${ids.length > NAMED ? ", …" : ""}. Type more of it`,
  );
}
