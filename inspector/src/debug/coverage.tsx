// How the agent's native messages were understood, type by type, and the flight recorder to take away.
import { useEffect, useState } from "react";
import type { Coverage as CoverageData, Session } from "../../../src/schema/session.ts";
import { access, canOperate, daemon, problemText, sessionPath } from "../state/daemon.ts";
import { useStore } from "../state/store.ts";
import { download } from "../ui/artifact.tsx";
import { Button, Notice, Spinner } from "../ui/controls.tsx";

const KINDS = ["mapped", "noted", "heartbeat", "unparsed"] as const;
const ABOUT = {
  mapped: "became universal events",
  noted: "known, and nothing a reader needs",
  heartbeat: "signs of life",
  unparsed: "not understood; kept whole",
} as const;
const REFRESH_MS = 1_500;

export function Coverage({ row }: { row: Session }) {
  const [data, setData] = useState<CoverageData | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const operate = canOperate(useStore(access));
  const { session_id, last_sequence } = row;
  useCalm(last_sequence, REFRESH_MS, (signal) => {
    daemon
      .session(session_id)
      .coverage(signal)
      .then(setData, (error: unknown) => !signal.aborted && setFault(problemText(error)));
  });
  if (fault) return <Notice kind="error">{fault}</Notice>;
  if (!data) return <Spinner label="loading" />;
  const total = KINDS.reduce((sum, kind) => sum + data.totals[kind], 0);
  return (
    <div className="panel">
      <div className="coverage-bar" role="img" aria-label={KINDS.map((kind) => `${data.totals[kind]} ${kind}`).join(", ")}>
        {KINDS.filter((kind) => data.totals[kind] > 0).map((kind) => (
          <span key={kind} className={kind} style={{ flexGrow: data.totals[kind] }} />
        ))}
      </div>
      <dl className="totals">
        {KINDS.map((kind) => (
          <div key={kind} className={kind} title={ABOUT[kind]}>
            <dt>{kind}</dt>
            <dd>{data.totals[kind].toLocaleString()}</dd>
          </div>
        ))}
      </dl>
      <table className="facts">
        <thead>
          <tr>
            <th>Native type</th>
            <th>Understood as</th>
            <th className="number">Messages</th>
          </tr>
        </thead>
        <tbody>
          {data.types
            .toSorted((a, b) => Number(b.disposition === "unparsed") - Number(a.disposition === "unparsed") || b.count - a.count)
            .map((each) => (
              <tr key={`${each.type} ${each.disposition}`} className={each.disposition}>
                <td>
                  <code>{each.type}</code>
                </td>
                <td>{each.disposition}</td>
                <td className="number">{each.count.toLocaleString()}</td>
              </tr>
            ))}
        </tbody>
      </table>
      <p className="dim">{total.toLocaleString()} native messages in both directions, none dropped.</p>
      {operate && (
        <Button icon="download" onClick={() => void download(`${sessionPath(session_id)}/native`, `${session_id}.native.ndjson`)}>
          Download the flight recorder
        </Button>
      )}
    </div>
  );
}

/** Acts at once, and again when the value changed, but not more often than every `ms`. */
export function useCalm(value: number, ms: number, act: (signal: AbortSignal) => void): void {
  const [calm, setCalm] = useState(value);
  useEffect(() => {
    if (value === calm) return;
    const timer = setTimeout(() => setCalm(value), ms);
    return () => clearTimeout(timer);
  }, [value, calm, ms]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the calm value alone decides when.
  useEffect(() => {
    const gone = new AbortController();
    act(gone.signal);
    return () => gone.abort();
  }, [calm]);
}
