/** All that the open session waits for, above the composer: in sight wherever the transcript is scrolled to. */
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { RequestCards } from "./request-cards.tsx";

export function RequestDock({ session, agent }: { session: string; agent: string }) {
  const waiting = useSignal(sessions.changed, sessions.requests).filter((each) => each.session_id === session).length;
  if (waiting === 0) return null;
  return (
    <section className="dock" aria-label="Waiting for you">
      {waiting > 1 && <p className="dim">{waiting} requests wait for you</p>}
      <RequestCards session={session} agent={agent} chords />
    </section>
  );
}
