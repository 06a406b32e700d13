import type { StreamKind, StreamRow } from "../contract.ts";
import { int, intOrNull, type SqlRow, text, word } from "./row-readers.ts";

export type NumberedRow = StreamRow & { no: number };

/** As the log shows it: numbers of streams are the engine's own. */
export const withoutNumber = ({ no: _, ...row }: NumberedRow): StreamRow => row;

export function numberedRow(row: SqlRow): NumberedRow {
  return {
    no: int(row, "no"),
    kind: word<StreamKind>(row, "kind"),
    id: text(row, "id"),
    created_at: int(row, "created_at"),
    updated_at: int(row, "updated_at"),
    last_sequence: int(row, "last_sequence"),
    last_native: int(row, "last_native"),
    open_since: intOrNull(row, "open_since"),
    state: text(row, "state"),
  };
}
