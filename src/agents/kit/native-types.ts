/**
 * Tables of native types: one row says what becomes of a native message, which events it can make, and whether a real program was seen sending it. The page
 * docs/coverage.md is made from them, and a test of each agent holds them against its translator.
 */
import type { EventType } from "../../schema/event-data.ts";
import type { Disposition } from "../contract.ts";

export type NativeTypeRow = {
  readonly disposition: Disposition;
  readonly events: EventType[];
  /** `types`: known from the agent's published types, never seen on the wire. */
  readonly seen: "live" | "types";
  readonly note?: string;
};

/** A row that also says what is done with the message: the translator works from the same table. */
export type HandledRow<Handler> = NativeTypeRow & { readonly handle: Handler };

export type NativeTypeTable<Row extends NativeTypeRow = NativeTypeRow> = Readonly<Record<string, Row>>;

export const row =
  (disposition: Disposition, seen: NativeTypeRow["seen"]) =>
  (events: EventType[] = [], note?: string): NativeTypeRow => ({ disposition, events, seen, ...(note ? { note } : {}) });

export const live = row("mapped", "live");
export const typed = row("mapped", "types");
export const notedLive = (note?: string): NativeTypeRow => row("noted", "live")(["agent.notice"], note);
export const notedTyped = (note?: string): NativeTypeRow => row("noted", "types")(["agent.notice"], note);

/** One row of a table that the translator works from. */
export const handled = <Handler>(handle: Handler, about: NativeTypeRow): HandledRow<Handler> => ({ ...about, handle });
