/** A chart with axes, scale and legend, by uPlot. Colours are the page's own, and change with its theme. For who does not see it, its name says the figures. */
import { useEffect, useRef } from "react";
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
  /** Of a place on the x axis. */
  place(value: number): string;
  kind: "bars" | "line";
  about: string;
};

const HEIGHT = 180;

export function Chart({ title, x, series, format, place, kind, about }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const theme = useStore(shownTheme);
  const shape = JSON.stringify([x, series, theme]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew when its figures or colours are other ones.
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const plot = new uPlot(optionsOf({ x, series, format, place, kind }, element.clientWidth), dataOf(x, series, kind), element);
    const watch = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [shape, kind]);
  return (
    <figure className="chart">
      <figcaption>
        <strong>{title}</strong>
        <span className="dim">{about}</span>
      </figcaption>
      <div ref={host} role="img" aria-label={`${title} of ${about}`} />
    </figure>
  );
}

/** Bars stand on each other: what is drawn of one is the sum up to it. The largest is drawn first, behind the others. */
function dataOf(x: number[], series: Series[], kind: Props["kind"]): uPlot.AlignedData {
  if (kind === "line") return [x, ...series.map(({ values }) => values)];
  const sums = series.map((_, index) =>
    x.map((__, at) => series.slice(index).reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
  );
  return [x, ...sums];
}

const bars = uPlot.paths.bars?.({ size: [0.7, 34], radius: 0.15 });

function optionsOf({ x, series, format, place, kind }: Omit<Props, "title" | "about">, width: number): uPlot.Options {
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
    cursor: { y: false, points: { size: 6 } },
    scales: {
      x: { time: false, range: (_, min, max) => (only !== null ? [only - 1, only + 1] : [min - half, max + half]) },
      y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_, values) => values.map((value) => (x.includes(value) ? place(value) : "")),
        ...(x.length <= 12 ? { splits: () => x } : {}),
      },
      { ...axis, size: 58, values: (_, values) => values.map((value) => format(value)) },
    ],
    series: [
      { label: "", value: (_, value) => (value === null ? "" : place(value)) },
      ...series.map(
        (each): uPlot.Series => ({
          label: each.label,
          stroke: colour(each.colour),
          width: kind === "line" ? 2 : 0,
          points: { show: kind === "line" && x.length < 40, size: 5, fill: colour(each.colour) },
          ...(kind === "bars" ? { fill: colour(each.colour), ...(bars ? { paths: bars } : {}) } : {}),
          value: (_, __, ___, at) => {
            const value = at === null ? null : each.values[at];
            return value === null || value === undefined ? "–" : format(value);
          },
        }),
      ),
    ],
  };
}
