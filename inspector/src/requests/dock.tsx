/** All that the open session waits for, above the composer: in sight wherever the transcript is scrolled to. */
import { useEffect } from "react";
import { focusComposer } from "../composer/focus.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { useKeptFocus } from "../ui/use-kept-focus.ts";
import { focusAwaited } from "./awaited-request.ts";
import { RequestCards } from "./request-cards.tsx";

export function RequestDock({ session, agent }: { session: string; agent: string }) {
  const waiting = useSignal(sessions.changed, sessions.requests).filter((each) => each.session_id === session).length;
  useEffect(() => {
    if (waiting > 0) focusAwaited(session);
  }, [session, waiting]);
  // Who answered one goes on with the next, or writes.
  const keptFocus = useKeptFocus(".request", (card) => {
    const next = card ?? document.querySelector<HTMLElement>(".dock .request");
    if (next) next.focus();
    else focusComposer();
  });
  if (waiting === 0) return null;
  return (
    <section className="dock" aria-label="Waiting for you" {...keptFocus}>
      {waiting > 1 && <p className="dim">{waiting} requests wait for you</p>}
      <RequestCards session={session} agent={agent} chords />
    </section>
  );
}
