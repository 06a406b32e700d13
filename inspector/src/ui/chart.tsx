/** A chart with axes, scale and legend, by uPlot. Colours are the page's own, and change with its theme. For people who do not see it, its name gives the figures. */
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { shownTheme } from "../state/preferences.ts";
import { useStore } from "../state/store.ts";

export type Series = {
  label: string;
  values: (number | null)[];
  colour: "accent" | "run" | "good" | "warn" | "clay" | "violet" | "teal";
};

type Props = {
  title: string;
  /** Where each value stands: numbers of turns, or times in seconds. */
  x: number[];
  series: Series[];
  format(value: number): string;
  /** Of a value on the y axis, whose values are `step` apart; `format` where it is not given. */
  tick?(value: number, step: number): string;
  /** Of a place on the x axis. */
  place(value: number): string;
  kind: "bars" | "line";
  about: string;
};

const HEIGHT = 180;
/** Room that a label of the x axis takes. */
const LABEL_WIDTH = 64;

export function Chart({ title, x, series, format, tick = format, place, kind, about }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const theme = useStore(shownTheme);
  const [at, setAt] = useState<number | null>(null);
  const shape = JSON.stringify([x, series, theme]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew when its figures or colours are other ones.
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const options = optionsOf({ x, series, tick, place, kind }, element.clientWidth);
    const plot = new uPlot(
      { ...options, hooks: { setCursor: [({ cursor }) => setAt(cursor.idx ?? null)] } },
      dataOf(x, series, kind),
      element,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [shape, kind]);
  const pointed = at === null ? undefined : x[at];
  return (
    <figure className="chart">
      <figcaption>
        <strong>{title}</strong>
        <span className="dim">{about}</span>
      </figcaption>
      <div ref={host} role="img" aria-label={`${title}: ${about}`} />
      <ul className="chart-legend" aria-label={`Legend of ${title}`}>
        {series.map(({ label, colour, values }) => (
          <li key={label}>
            <span className="swatch" style={{ background: `var(--${colour})` }} />
            {label}
            {at !== null && <span className="number">{shown(values[at], format)}</span>}
          </li>
        ))}
        {pointed !== undefined && <li className="dim">{place(pointed)}</li>}
      </ul>
    </figure>
  );
}

const shown = (value: number | null | undefined, format: Props["format"]): string =>
  value === null || value === undefined ? "–" : format(value);

/** Bars stand on each other: what is drawn of one is the sum up to it. The largest is drawn first, behind the others. */
function dataOf(x: number[], series: Series[], kind: Props["kind"]): uPlot.AlignedData {
  if (kind === "line") return [x, ...series.map(({ values }) => values)];
  const sums = series.map((_, index) =>
    x.map((__, at) => series.slice(index).reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
  );
  return [x, ...sums];
}

const bars = uPlot.paths.bars?.({ size: [0.7, 34], radius: 0.15 });

/** Steps of the y axis. Counts are whole, so a step between one and zero is only for money: it begins far below. */
const STEPS = [-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));

/** As many places as have room for their label, counted from the newest. */
function labelled(x: readonly number[], width: number): number[] {
  const stride = Math.max(1, Math.ceil((x.length * LABEL_WIDTH) / Math.max(width, LABEL_WIDTH)));
  return x.filter((_, index) => (x.length - 1 - index) % stride === 0);
}

type Drawn = Pick<Props, "x" | "series" | "place" | "kind"> & { tick: NonNullable<Props["tick"]> };

function optionsOf({ x, series, tick, place, kind }: Drawn, width: number): uPlot.Options {
  const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const [text, line] = [colour("text-dim"), colour("line")];
  const font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const axis = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const only = x.length === 1 ? (x[0] ?? 0) : null;
  const step = Math.min(...x.slice(1).map((value, index) => value - (x[index] ?? 0)), Number.POSITIVE_INFINITY);
  const half = Number.isFinite(step) ? step / 2 : 0.5;
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, points: { size: 6 } },
    scales: {
      x: { time: false, range: (_, min, max) => (only !== null ? [only - 1, only + 1] : [min - half, max + half]) },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 30,
        grid: { show: false },
        splits: (plot) => labelled(x, plot.bbox.width / devicePixelRatio),
        values: (_, values) => values.map(place),
      },
      { ...axis, size: 58, incrs: STEPS, values: (_, values, __, ___, step) => values.map((value) => tick(value, step)) },
    ],
    series: [
      {},
      ...series.map(
        (each): uPlot.Series => ({
          label: each.label,
          stroke: colour(each.colour),
          width: kind === "line" ? 2 : 0,
          points: { show: kind === "line" && x.length < 40, size: 5, fill: colour(each.colour) },
          ...(kind === "bars" ? { fill: colour(each.colour), ...(bars ? { paths: bars } : {}) } : {}),
        }),
      ),
    ],
  };
}
