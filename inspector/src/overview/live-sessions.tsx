/** All sessions that run or wait for somebody, with what they say just now. Those that wait stand first. */
import { useMemo } from "react";
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { useMinute } from "../ui/use-minute.ts";
import { LiveCard } from "./live-card.tsx";

const MOST = 60;

export function LiveSessions() {
  const rows = useSignal(sessions.changed, sessions.list);
  const now = useMinute();
  const live = useMemo(
    () =>
      rows
        .filter(({ status }) => status === "running" || status === "waiting" || status === "starting")
        .toSorted((a, b) => Number(b.status === "waiting") - Number(a.status === "waiting")),
    [rows],
  );
  if (live.length === 0) return null;
  return (
    <section className="live-sessions" aria-label="Running now">
      <h2>
        Running now <span className="dim">{live.length}</span>
      </h2>
      <div className="live-grid">
        {live.slice(0, MOST).map((row) => (
          <LiveCard key={row.session_id} row={row} now={now} />
        ))}
      </div>
    </section>
  );
}
