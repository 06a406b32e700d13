// The docs page of what becomes of every native message, made from the agents' own tables (`src/agents/<id>/translate/native-types.ts`).
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Disposition } from "../../agents/contract.ts";

type Row = { disposition: Disposition; events: string[]; seen: "live" | "types"; note?: string };
export type NativeTypeTables = { agent: string; tables: { title: string; rows: [string, Row][] }[] };

const AGENTS = new URL("../../agents/", import.meta.url);
const FILE = import.meta.url.endsWith(".ts") ? "native-types.ts" : "native-types.js";

/** The tables of every agent that has them, whatever it calls them. */
export async function loadNativeTypes(): Promise<NativeTypeTables[]> {
  const folders = readdirSync(fileURLToPath(AGENTS), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const found: NativeTypeTables[] = [];
  for (const { name } of folders.sort((a, b) => a.name.localeCompare(b.name))) {
    const file = new URL(`${name}/translate/${FILE}`, AGENTS);
    if (!existsSync(file)) continue;
    const module: Record<string, unknown> = await import(file.href);
    const tables = Object.keys(module)
      .sort()
      .map((key) => ({ title: key.toLowerCase().replaceAll("_", " "), rows: rowsOf(module[key]) }))
      .filter(({ rows }) => rows.length > 0);
    found.push({ agent: name, tables });
  }
  return found;
}

function rowsOf(table: unknown): [string, Row][] {
  if (typeof table !== "object" || table === null) return [];
  return Object.entries(table).flatMap(([type, row]) => (isRow(row) ? [[type, row] satisfies [string, Row]] : []));
}

const isRow = (value: unknown): value is Row =>
  typeof value === "object" && value !== null && "disposition" in value && "events" in value && "seen" in value;

const INTRODUCTION = `# Coverage: every native message and what becomes of it

This page is made by \`node scripts/coverage-page.mjs\` from the tables beside each translator; do not edit it.

Each native message has one disposition. **mapped**: it made events, answered a request of ours, or repeated what is known. **noted**: understood, without a
universal meaning; it is an \`agent.notice\`. **heartbeat**: counted only. Whatever is not listed here becomes \`agent.unparsed\`, is kept verbatim and counted; nothing is dropped.
*Seen live*: recorded from the real program. *Types only*: known from the agent's published types, never seen on the wire.
`;

export function coveragePage(agents: readonly NativeTypeTables[]): string {
  return [INTRODUCTION, totals(agents), ...agents.map(section)].join("\n");
}

function totals(agents: readonly NativeTypeTables[]): string {
  const lines = agents.map(({ agent, tables }) => {
    const rows = tables.flatMap((table) => table.rows.map(([, row]) => row));
    const count = (test: (row: Row) => boolean) => rows.filter(test).length;
    return `| [${agent}](#${agent}) | ${rows.length} | ${count((row) => row.disposition === "mapped")} | ${count((row) => row.disposition === "noted")} | ${count((row) => row.disposition === "heartbeat")} | ${count((row) => row.disposition === "unparsed")} | ${count((row) => row.seen === "live")} | ${count((row) => row.seen === "types")} |`;
  });
  return [
    "| agent | native types | mapped | noted | heartbeat | unparsed | seen live | types only |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...lines,
    "",
  ].join("\n");
}

function section({ agent, tables }: NativeTypeTables): string {
  const parts = tables.flatMap(({ title, rows }) => [
    `### ${agent}: ${title}`,
    "",
    "| native type | disposition | universal events | seen | remark |",
    "| --- | --- | --- | --- | --- |",
    ...rows.map(
      ([type, row]) =>
        `| \`${cell(type)}\` | ${row.disposition} | ${row.events.map((event) => `\`${event}\``).join(", ") || "–"} | ${row.seen === "live" ? "live" : "types only"} | ${cell(row.note ?? "")} |`,
    ),
    "",
  ]);
  return [`## ${agent}`, "", ...parts].join("\n");
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
