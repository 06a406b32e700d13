/** The settings of a session of our own agent. They are part of the journal: a request is built from nothing else. */
import Type from "typebox";

const Count = Type.Integer({ minimum: 0 });

/** How much is asked. */
export const PermissionMode = Type.Union([
  Type.Literal("default"),
  Type.Literal("plan"),
  Type.Literal("accept_edits"),
  Type.Literal("bypass"),
]);
export type PermissionMode = Type.Static<typeof PermissionMode>;

/** Where a turn ends by itself. */
export const Limits = Type.Object({
  /** Requests to the model in one turn. */
  steps: Type.Integer({ minimum: 1 }),
  /** Input and output tokens of one turn; null for no limit. */
  tokens: Type.Union([Count, Type.Null()]),
  /** Dollars of one turn, by `prices`; null for no limit. */
  cost_usd: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
  /** Wall time of one turn; null for no limit. */
  time_ms: Type.Union([Count, Type.Null()]),
});
export type Limits = Type.Static<typeof Limits>;

/** Dollars for a million tokens. */
export const Prices = Type.Object({ input: Type.Number(), cached: Type.Number(), output: Type.Number() });
export type Prices = Type.Static<typeof Prices>;

export const Settings = Type.Object({
  model: Type.String(),
  /** The system prompt, built once. */
  instructions: Type.String(),
  /** The tools as they are sent. */
  tools: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  /** Facts of the endpoint that shape a request. */
  endpoint: Type.Object({
    reasoning: Type.Union([Type.Literal("encrypted"), Type.Literal("items"), Type.Literal("none")]),
    tool_choice: Type.Boolean(),
    compact: Type.Boolean(),
    prompt_cache_key: Type.Boolean(),
    images_in_tool_results: Type.Boolean(),
  }),
  mode: PermissionMode,
  reasoning_effort: Type.Union([Type.String(), Type.Null()]),
  max_output_tokens: Type.Union([Count, Type.Null()]),
  /** Tokens the model takes; null when nobody knows, then only an overflow starts a compaction. */
  context_window: Type.Union([Count, Type.Null()]),
  limits: Limits,
  prices: Type.Union([Prices, Type.Null()]),
  /** What happens to a turn that a crash cut off. */
  after_crash: Type.Union([Type.Literal("continue"), Type.Literal("stop")]),
});
export type Settings = Type.Static<typeof Settings>;

export const DEFAULT_LIMITS: Limits = { steps: 100, tokens: null, cost_usd: null, time_ms: null };

/** Settings with the usual values for what is not given. */
export const settingsFor = (given: Partial<Settings> & Pick<Settings, "model" | "instructions" | "tools">): Settings => ({
  endpoint: { reasoning: "none", tool_choice: false, compact: false, prompt_cache_key: false, images_in_tool_results: false },
  mode: "default",
  reasoning_effort: null,
  max_output_tokens: null,
  context_window: null,
  limits: DEFAULT_LIMITS,
  prices: null,
  after_crash: "continue",
  ...given,
});
