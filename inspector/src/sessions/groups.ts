// The list in groups: what is pinned first, then by the day of the last change, or by directory.
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { baseName } from "../ui/format.ts";

export type Grouping = "day" | "directory";
export type Group = { key: string; label: string; title?: string; rows: Session[] };

const DAY_MS = 86_400_000;

/** Rows keep their order inside a group; groups come in the order of their first row. */
export function groupsOf(rows: readonly Session[], grouping: Grouping, now: number): Group[] {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    const { key, label, title } = row.pinned ? { key: "pinned", label: "Pinned", title: undefined } : placeOf(row, grouping, now);
    const group = groups.get(key) ?? { key, label, ...(title === undefined ? {} : { title }), rows: [] };
    group.rows.push(row);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => Number(b.key === "pinned") - Number(a.key === "pinned"));
}

function placeOf(row: Session, grouping: Grouping, now: number): { key: string; label: string; title: string | undefined } {
  if (grouping === "directory") {
    const title = visibleLine(row.directory);
    return { key: `dir ${row.directory}`, label: visibleLine(baseName(row.directory)), title };
  }
  const label = dayOf(row.updated_at, now);
  return { key: label, label, title: undefined };
}

function dayOf(time: string, now: number): string {
  const today = new Date(now).setHours(0, 0, 0, 0);
  const at = Date.parse(time);
  if (at >= today) return "Today";
  if (at >= today - DAY_MS) return "Yesterday";
  if (at >= today - 6 * DAY_MS) return "Last 7 days";
  return "Older";
}
