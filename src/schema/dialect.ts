/**
 * What a dialect is: a reader of one stream that turns each event into lines of another wire format. It keeps what later lines need to be right (whose text a
 * delta is, what a tool was called with) and nothing else, so a reader that begins in the middle is first shown the events before.
 */

export type DialectLine = {
  /** The type of the line in its own dialect: what `types` may name. */
  type: string;
  json: string;
};

/** The native message an event was made from. */
export type NativeMessage = {
  text: string;
  /** False: this reader may not see it. */
  shown: boolean;
};

/** One event of a provider as our own runtime received it, and what is wrong with it. */
export type ProviderEvent = {
  provider: string;
  status: "event" | "done" | "invalid_json";
  event_name: string | null;
  data: object | null;
  raw: string | null;
  errors: readonly string[];
  response_errors: readonly string[];
};

export type DialectEvent = {
  /** The event's JSON; its `raw` is null unless it was asked for. */
  json: string;
  native?: NativeMessage | null;
  /** What the provider said since the event before, where the session keeps it. */
  provider?: readonly ProviderEvent[];
};

export type DialectReader = {
  /** An event before the place where reading begins: remembered, not told. In the order of the stream. */
  remember(event: DialectEvent): void;
  /** Events in the order of the stream, each once. */
  lines(event: DialectEvent): DialectLine[];
};

/** Which stream is read, and how. */
export type DialectStream = { kind: string; id: string; version?: number | undefined };

export type Dialect = {
  /** Types of lines, beside the event types that `types` may name in every dialect. */
  readonly lineTypes: readonly string[];
  /** Versions of the format, the newest last. */
  readonly versions: readonly number[];
  /** Event types whose native message is needed to say them. */
  readonly nativeOf: ReadonlySet<string>;
  /** Its lines carry a number of their own, which counts also what a client left out. */
  readonly numbered?: boolean;
  open(stream: DialectStream): DialectReader;
};
