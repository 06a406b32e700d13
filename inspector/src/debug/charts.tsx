// Latency, tokens and cost, turn by turn.
import { useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { eventPage, problemText } from "../state/daemon.ts";
import { Notice, Spinner } from "../ui/controls.tsx";
import { count, duration, money } from "../ui/format.ts";
import { useCalm } from "./coverage.tsx";
import { type TurnMeasure, turnMeasures } from "./turn-measures.ts";

const REFRESH_MS = 1_500;
const PAGE = 3_000;

export function Charts({ row }: { row: Session }) {
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
  const costs = turns.some((turn) => turn.cost !== null);
  return (
    <div className="panel charts">
      <Bars title="Turn duration" turns={turns} show={duration} parts={[{ name: "duration", of: (turn) => turn.duration }]} />
      <Bars title="Until the first output" turns={turns} show={duration} parts={[{ name: "wait", of: (turn) => turn.first }]} />
      <Bars
        title="Tokens"
        turns={turns}
        show={count}
        parts={[
          { name: "in", of: (turn) => turn.input },
          { name: "out", of: (turn) => turn.output },
        ]}
      />
      {turns.some((turn) => turn.context !== null) && (
        <Bars title="Context used" turns={turns} show={count} parts={[{ name: "context", of: (turn) => turn.context }]} />
      )}
      {costs && <Bars title="Cost" turns={turns} show={money} parts={[{ name: "cost", of: (turn) => turn.cost }]} />}
    </div>
  );
}

type PartOf = { name: string; of(turn: TurnMeasure): number | null };
type BarsProps = { title: string; turns: TurnMeasure[]; parts: PartOf[]; show(value: number): string };

const HEIGHT = 72;
const SHOWN = 60;

function Bars({ title, turns, parts, show }: BarsProps) {
  const shown = turns.slice(-SHOWN);
  const sums = shown.map((turn) => parts.reduce((sum, part) => sum + (part.of(turn) ?? 0), 0));
  const largest = Math.max(...sums, 0);
  const last = sums.at(-1) ?? 0;
  const width = 100 / Math.max(shown.length, 12);
  return (
    <figure className="chart">
      <figcaption>
        <strong>{title}</strong>
        <span className="dim">
          last {show(last)} · most {show(largest)}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title} of ${shown.length} turns; the last ${show(last)}, the most ${show(largest)}`}
      >
        {shown.map((turn, index) => {
          let top = HEIGHT;
          return parts.map((part, layer) => {
            const value = part.of(turn) ?? 0;
            const height = largest > 0 ? (value / largest) * (HEIGHT - 2) : 0;
            top -= height;
            return (
              <rect
                key={`${turn.turn_id} ${part.name}`}
                className={`layer-${layer}`}
                x={index * width}
                y={top}
                width={width * 0.8}
                height={height}
              >
                <title>{`turn ${index + 1}: ${part.name} ${show(value)}`}</title>
              </rect>
            );
          });
        })}
      </svg>
    </figure>
  );
}
