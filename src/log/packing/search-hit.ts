import type { SearchHit, StreamKind } from "../contract.ts";
import { int, type SqlRow, text, textOrNull, word } from "./row-readers.ts";

/** A row of the search index as what was found. */
export const hitOf = (row: SqlRow): SearchHit => ({
  kind: word<StreamKind>(row, "kind"),
  stream_id: text(row, "id"),
  sequence: int(row, "sequence"),
  item_id: textOrNull(row, "item_id"),
  sort: text(row, "sort"),
  at: int(row, "at"),
  text: text(row, "text"),
  agent: text(row, "agent"),
  directory: text(row, "directory"),
  title: textOrNull(row, "title"),
});
