// Which sessions the list shows.
import type { Session } from "../../../src/schema/session.ts";

export const filters = [
  { name: "all", label: "All" },
  { name: "waiting", label: "Waiting" },
  { name: "running", label: "Running" },
  { name: "unread", label: "Unread" },
  { name: "ended", label: "Ended" },
  { name: "archived", label: "Archived" },
] as const;
export type FilterName = (typeof filters)[number]["name"];
export type Wanted = { search: string; filter: FilterName; agent: string; nodes: ReadonlySet<string> | null };

export function matches(row: Session, wanted: Wanted, read: Record<string, number>): boolean {
  if (wanted.agent && row.agent !== wanted.agent) return false;
  if (wanted.nodes && !wanted.nodes.has(row.node ?? "")) return false;
  if (row.archived !== (wanted.filter === "archived") || !isIn(row, wanted.filter, read)) return false;
  const words = wanted.search.toLowerCase().split(/\s+/).filter(Boolean);
  const text =
    `${row.title ?? ""} ${row.session_id} ${row.directory} ${row.agent} ${row.model ?? ""} ${row.tags.join(" ")} ${row.node ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function isIn(row: Session, filter: FilterName, read: Record<string, number>): boolean {
  switch (filter) {
    case "all":
    case "archived":
      return true;
    case "waiting":
      return row.pending.permissions + row.pending.questions > 0;
    case "running":
      return row.status === "running" || row.status === "starting";
    case "unread":
      return row.last_sequence > (read[row.session_id] ?? 0);
    case "ended":
      return row.status === "ended";
  }
}
