/** Rows of one run: each figure is measured several times, and the table shows the medians. */
const rows = new Map();

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

export const show = (value) =>
  value === null || value === undefined ? "" : Math.abs(value) >= 100 ? Math.round(value).toLocaleString("en") : value.toFixed(2);

/** One measurement of a row: figures by column (`dragoman`, `pipe`, `peer`). `note` is shown behind the name. */
export function row(name, figures, note = "") {
  const known = rows.get(name) ?? { name, note, figures: {} };
  for (const [column, value] of Object.entries(figures)) known.figures[column] = [...(known.figures[column] ?? []), value];
  rows.set(name, known);
  const said = Object.entries(figures).map(([column, value]) => `${column} ${show(value)}`);
  process.stderr.write(`  ${name}: ${said.join(", ")}\n`);
}

export const result = () =>
  [...rows.values()].map(({ name, note, figures }) => {
    const {
      dragoman = null,
      pipe = null,
      peer = null,
    } = Object.fromEntries(Object.entries(figures).map(([column, values]) => [column, median(values)]));
    return { name, note, dragoman, pipe, ratio: dragoman === null || !pipe ? null : dragoman / pipe, peer, rounds: figures };
  });

export function markdown(peerName) {
  const all = result();
  const lines = [
    `| measure | dragoman | bare pipe | ratio |${peerName ? ` ${peerName} |` : ""}`,
    `| --- | ---: | ---: | ---: |${peerName ? " ---: |" : ""}`,
  ];
  for (const { name, note, dragoman, pipe, ratio, peer } of all) {
    const cells = [note ? `${name} (${note})` : name, show(dragoman), show(pipe), ratio === null ? "" : ratio.toFixed(2)];
    lines.push(`| ${[...cells, ...(peerName ? [show(peer)] : [])].join(" | ")} |`);
  }
  return lines.join("\n");
}
