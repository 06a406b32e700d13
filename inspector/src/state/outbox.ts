/** Messages on their way: shown at once, and until the session's own events report them. */
import { sessions } from "./sessions.ts";
import { Store } from "./store.ts";

export type Outgoing = {
  key: string;
  session_id: string;
  text: string;
  files: readonly string[];
  sent_at: string;
  /** Known once the daemon took it. */
  turn_id: string | null;
  /** The last event that was known here when it was sent: what reports it comes after that, and may come before the daemon's answer. */
  after: number;
};

export const outbox = new Store<readonly Outgoing[]>([]);

export function putOut(message: Omit<Outgoing, "sent_at" | "turn_id" | "after">): void {
  const after = sessions.get(message.session_id)?.last_sequence ?? 0;
  outbox.update((list) => [...list, { ...message, sent_at: new Date().toISOString(), turn_id: null, after }]);
}

/** The daemon took it: what waits in the queue is shown there. */
export const taken = (key: string, { turn_id, queued }: { turn_id: string; queued: boolean }): void =>
  outbox.update((list) => (queued ? without(list, key) : list.map((each) => (each.key === key ? { ...each, turn_id } : each))));

export const takeBack = (key: string): void => outbox.update((list) => without(list, key));

const without = (list: readonly Outgoing[], key: string): readonly Outgoing[] =>
  list.some((each) => each.key === key) ? list.filter((each) => each.key !== key) : list;
