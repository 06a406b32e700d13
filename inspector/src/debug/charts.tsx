/** Latency, tokens, context and cost, turn by turn. */
import { useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { eventPage, problemText } from "../state/daemon.ts";
import { Chart } from "../ui/chart.tsx";
import { Notice, Spinner } from "../ui/controls.tsx";
import { count, duration, money, moneyTick } from "../ui/format.ts";
import { useCalm } from "./coverage.tsx";
import { type TurnMeasure, turnMeasures } from "./turn-measures.ts";

const REFRESH_MS = 1_500;
const PAGE = 3_000;
const SHOWN = 100;

export default function Charts({ row }: { row: Session }) {
  const [turns, setTurns] = useState<TurnMeasure[] | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  useCalm(row.last_sequence, REFRESH_MS, (signal) => {
    eventPage(
      row.session_id,
      { order: "desc", limit: PAGE, types: ["turn.started", "turn.ended", "item.started", "step.ended", "usage.updated"] },
      signal,
    ).then(
      ({ events }) => setTurns(turnMeasures(events.reverse())),
      (error: unknown) => !signal.aborted && setFault(problemText(error)),
    );
  });
  if (fault) return <Notice kind="error">{fault}</Notice>;
  if (!turns) return <Spinner label="loading" />;
  if (turns.length === 0) return <p className="panel dim">No turn has ended yet.</p>;
  const shown = turns.slice(-SHOWN);
  const x = shown.map((_, index) => turns.length - shown.length + index + 1);
  const common = { x, place: (turn: number) => `turn ${turn}` };
  const values = (of: (turn: TurnMeasure) => number | null): (number | null)[] => shown.map(of);
  const about = (list: (number | null)[], show: (value: number) => string): string =>
    `last ${show(list.at(-1) ?? 0)}, highest ${show(Math.max(...list.map((value) => value ?? 0)))}`;
  const [took, first, context, cost] = [
    values((turn) => turn.duration),
    values((turn) => turn.first),
    values((turn) => turn.context),
    values((turn) => turn.cost),
  ];
  const tokens = values((turn) => (turn.input ?? 0) + (turn.output ?? 0));
  return (
    <div className="panel charts">
      <Chart
        {...common}
        kind="line"
        title="Turn duration"
        about={about(took, duration)}
        format={duration}
        series={[
          { label: "Whole turn", values: took, colour: "accent" },
          { label: "Until the first output", values: first, colour: "warn" },
        ]}
      />
      <Chart
        {...common}
        kind="bars"
        title="Tokens"
        about={about(tokens, count)}
        format={count}
        series={[
          { label: "In", values: values((turn) => turn.input), colour: "accent" },
          { label: "Out", values: values((turn) => turn.output), colour: "teal" },
        ]}
      />
      {context.some((value) => value !== null) && (
        <Chart
          {...common}
          kind="line"
          title="Context used"
          about={about(context, count)}
          format={count}
          series={[{ label: "Context", values: context, colour: "violet" }]}
        />
      )}
      {cost.some((value) => value !== null) && (
        <Chart
          {...common}
          kind="bars"
          title="Cost"
          about={about(cost, money)}
          format={money}
          tick={moneyTick}
          series={[{ label: "Cost", values: cost, colour: "clay" }]}
        />
      )}
    </div>
  );
}
