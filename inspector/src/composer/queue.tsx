// Messages that wait for the running turn to end. The daemon tells how many; their words are known to the window that sent them.
import { useEffect } from "react";
import { sessions } from "../state/sessions.ts";
import { Store, useStore } from "../state/store.ts";
import { Icon } from "../ui/icons.tsx";

type Queued = { session_id: string; turn_id: string; text: string };
const queued = new Store<readonly Queued[]>([]);

export const noteQueued = (message: Queued): void => queued.update((list) => [...list, message]);

export function Queue({ session, count }: { session: string; count: number }) {
  const mine = useStore(queued).filter(({ session_id }) => session_id === session);
  useEffect(
    () =>
      sessions.watch(session, (event) => {
        if (event.type === "turn.started") forget(({ turn_id }) => turn_id === event.data.turn_id);
      }),
    [session],
  );
  useEffect(() => {
    if (count === 0) forget(({ session_id }) => session_id === session);
  }, [session, count]);
  if (count === 0) return null;
  // What the daemon works off first is at the front.
  const shown = mine.slice(-count);
  const others = count - shown.length;
  return (
    <ul className="queue" aria-label="Queued messages">
      {shown.map(({ turn_id, text }) => (
        <li key={turn_id}>
          <Icon name="send" size={12} />
          <span title={text}>{text}</span>
        </li>
      ))}
      {others > 0 && (
        <li className="dim">
          {others} {shown.length > 0 ? "more " : ""}from elsewhere
        </li>
      )}
    </ul>
  );
}

const forget = (which: (each: Queued) => boolean): void =>
  queued.update((list) => (list.some(which) ? list.filter((each) => !which(each)) : list));
