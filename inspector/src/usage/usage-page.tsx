/** What all sessions used: cost and tokens by day and agent, and the sums by agent and directory. */
import { useMemo, useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { agentName, agents } from "../state/agents.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { Chart, type Series } from "../ui/chart.tsx";
import { Choice } from "../ui/choice.tsx";
import { Spinner } from "../ui/controls.tsx";
import { count, money, moneyTick } from "../ui/format.ts";
import { PageHead } from "../ui/page-head.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { useMinute } from "../ui/use-minute.ts";
import { dailyUsage, type Total, totals } from "./daily-usage.ts";

const COLOURS = ["accent", "teal", "clay", "violet", "run", "good", "warn"] as const;
const SPANS = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
];

export default function UsagePage() {
  const rows = useSignal(sessions.changed, sessions.list);
  const loaded = useSignal(sessions.changed, sessions.loaded);
  const [span, setSpan] = useState("30");
  return (
    <main className="page">
      <PageHead title="Usage" about="Each session counts on the day of its last activity">
        <Choice label="Days" value={span} options={SPANS} onChange={setSpan} />
      </PageHead>
      <div className="usage-page" {...scrollable}>
        {!loaded ? (
          <div className="blank">
            <Spinner label="loading" />
          </div>
        ) : (
          <UsageOf rows={rows} span={span} />
        )}
      </div>
    </main>
  );
}

function UsageOf({ rows, span }: { rows: readonly Session[]; span: string }) {
  const now = useMinute();
  const known = useStore(agents);
  const { days, agents: used } = useMemo(() => dailyUsage(rows, Number(span), now), [rows, span, now]);
  const series = (of: "cost" | "tokens" | "sessions"): Series[] =>
    used.map((each, index) => ({
      label: agentName(known, each.agent),
      values: each[of],
      colour: COLOURS[index % COLOURS.length] ?? "accent",
    }));
  const sum = (of: "cost" | "tokens" | "sessions"): number => used.flatMap((each) => each[of]).reduce((a, b) => a + b, 0);
  const common = { x: days, place: dayName, kind: "bars" } as const;
  const costs = sum("cost") > 0;
  return (
    <>
      {!costs && <p className="dim">No agent reported what these days cost.</p>}
      <div className="usage-charts">
        {costs && (
          <Chart
            {...common}
            title="Cost"
            about={`${money(sum("cost"))} in ${span} days`}
            format={money}
            tick={moneyTick}
            series={series("cost")}
          />
        )}
        <Chart
          {...common}
          title="Tokens"
          about={`${count(sum("tokens"))} in ${span} days`}
          format={count}
          series={series("tokens")}
        />
        <Chart
          {...common}
          title="Sessions"
          about={`${sum("sessions")} in ${span} days`}
          format={count}
          series={series("sessions")}
        />
      </div>
      <div className="usage-tables">
        <Totals title="By agent" rows={totals(rows, (row) => agentName(known, row.agent))} />
        <Totals title="By directory" rows={totals(rows, (row) => visibleLine(row.directory))} />
      </div>
    </>
  );
}

const dayName = (seconds: number): string =>
  new Date(seconds * 1_000).toLocaleDateString(undefined, { day: "numeric", month: "short" });

const MOST = 20;

const Totals = ({ title, rows }: { title: string; rows: Total[] }) => (
  <section aria-label={title}>
    <h2>{title}</h2>
    <table className="facts">
      <thead>
        <tr>
          <th>Name</th>
          <th className="number">Sessions</th>
          <th className="number">Tokens</th>
          <th className="number">Cost</th>
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, MOST).map((row) => (
          <tr key={row.name}>
            <td>
              <bdi>{row.name}</bdi>
            </td>
            <td className="number">{row.sessions}</td>
            <td className="number">{count(row.tokens)}</td>
            <td className="number">{row.cost === null ? "–" : money(row.cost)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
