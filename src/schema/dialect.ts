/**
 * What a dialect is: a reader of one stream that turns each event into lines of another wire format. It keeps what later lines need to be right (whose text a
 * delta is, what a tool was called with) and nothing else, so a reader that begins in the middle is first shown the events before.
 */
import type { LedgerDirection } from "./native.ts";

export type DialectLine = {
  /** The type of the line in its own dialect: what `types` may name. */
  type: string;
  json: string;
  /** A line of the ledger: the type of the event it came with says nothing about it. */
  ofLedger?: true;
};

/** The native message an event was made from. */
export type NativeMessage = {
  text: string;
  /** False: this reader may not see it. */
  shown: boolean;
};

/** One event of a provider, and what is wrong with it. */
export type ProviderEvent = {
  provider: string;
  status: "event" | "done" | "invalid_json";
  event_name: string | null;
  data: object | null;
  raw: string | null;
  errors: readonly string[];
  response_errors: readonly string[];
};

/** What a row of the ledger says by itself, without the events made from it. */
export type LedgerFrame =
  /** `data` is the provider's own JSON, on one line. */
  | ({ type: "provider_event"; data: string | null } & Omit<ProviderEvent, "data">)
  | { type: "output_text_delta"; delta: string }
  | { type: "tool_started"; tool_id: string; name: string; args: object; timeout_ms: number | null }
  | { type: "tool_stdout" | "tool_stderr"; tool_id: string; chunk: string }
  | { type: "tool_ended"; tool_id: string; exit_code: number; duration_ms: number; artifacts: LedgerArtifacts | null }
  | { type: "tool_failed"; tool_id: string; error: string };

/** Where the whole output of a tool lies, and what the model got of it. */
export type LedgerArtifacts = { artifact_refs: readonly unknown[]; parts: readonly unknown[]; output: string };

export type LedgerRow = { native_seq: number; time_ms: number; frames: readonly LedgerFrame[] };

/** Reads the ledger of one session in order, from its first row or from a place where it was `clean`. As pure as a translator. */
export type LedgerReader = {
  frames(row: { dir: LedgerDirection; text: string }): readonly LedgerFrame[];
  /** True: what comes next depends on nothing that was read. A new reader may go on here. */
  readonly clean: boolean;
};

export type DialectEvent = {
  /** The event's JSON; its `raw` is null unless it was asked for. */
  json: string;
  native?: NativeMessage | null;
  /** The rows since the event before, its own included, where the stream is read with its ledger. */
  rows?: readonly LedgerRow[];
  /** True: its row has reported it. */
  told?: boolean;
};

export type DialectReader = {
  /** An event before the place where reading begins: remembered, not reported. In the order of the stream. */
  remember(event: DialectEvent): void;
  /** Events in the order of the stream, each once. */
  lines(event: DialectEvent): DialectLine[];
  /** With a ledger: how many lines were made so far, if another reader could go on from here; null if it could not. */
  readonly place?: number | null;
};

/** Which stream is read, and how. `from`: it is read with its ledger, after this many lines. */
export type DialectStream = { kind: string; id: string; version?: number | undefined; from?: number };

export type Dialect = {
  /** Types of lines, beside the event types that `types` may name in every dialect. */
  readonly lineTypes: readonly string[];
  /** Versions of the format, the newest last. */
  readonly versions: readonly number[];
  /** Event types whose native message is needed to say them. */
  readonly nativeOf: ReadonlySet<string>;
  /** Its lines carry a number of their own, which counts also what a client left out. */
  readonly numbered?: boolean;
  /** The ledger of sessions of this agent, where it says more than the events do. */
  ledgerOf?(agent: string): LedgerReader | undefined;
  open(stream: DialectStream): DialectReader;
};
