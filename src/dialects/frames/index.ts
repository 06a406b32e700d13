// The frames dialect: compact frames for surfaces and for the record of our own runtime.
import type { Dialect, LedgerReader } from "../../schema/dialect.ts";
import { frameTypes } from "./frame.ts";
import { FramesReader } from "./frames-reader.ts";

export const framesDialect: Dialect = {
  lineTypes: frameTypes,
  versions: [1, 2],
  nativeOf: new Set(["agent.unparsed"]),
  numbered: true,
  open: (stream) => new FramesReader(stream),
};

/** Frames of sessions whose agent shows its provider's stream come from their ledger. */
export const framesWithLedger = (ledgerOf: (agent: string) => LedgerReader | undefined): Dialect => ({
  ...framesDialect,
  ledgerOf,
});
