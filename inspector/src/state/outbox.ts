/** Messages on their way: shown at once, and until the session's own events report them. */
import { Store } from "./store.ts";

export type Outgoing = {
  key: string;
  session_id: string;
  text: string;
  files: readonly string[];
  sent_at: string;
  /** Known once the daemon took it. */
  turn_id: string | null;
};

export const outbox = new Store<readonly Outgoing[]>([]);

export const putOut = (message: Omit<Outgoing, "sent_at" | "turn_id">): void =>
  outbox.update((list) => [...list, { ...message, sent_at: new Date().toISOString(), turn_id: null }]);

/** The daemon took it: what waits in the queue is shown there. */
export const taken = (key: string, { turn_id, queued }: { turn_id: string; queued: boolean }): void =>
  outbox.update((list) => (queued ? without(list, key) : list.map((each) => (each.key === key ? { ...each, turn_id } : each))));

export const takeBack = (key: string): void => outbox.update((list) => without(list, key));

const without = (list: readonly Outgoing[], key: string): readonly Outgoing[] =>
  list.some((each) => each.key === key) ? list.filter((each) => each.key !== key) : list;
