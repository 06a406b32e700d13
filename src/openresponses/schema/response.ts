/** The response resource and the compaction resource of Open Responses 2026-04-24. Their items and tools are checked one by one, by type (`validate.ts`). */
import Type from "typebox";
import { Nullable } from "./content.ts";
import { ReasoningSummary } from "./request.ts";
import { ToolChoice } from "./tools.ts";

const Text = Type.String();
const Typed = Type.Object({ type: Text });

/** Tokens of one response. */
export const Usage = Type.Object({
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  input_tokens_details: Type.Object({ cached_tokens: Type.Integer() }),
  output_tokens_details: Type.Object({ reasoning_tokens: Type.Integer() }),
});
export type Usage = Type.Static<typeof Usage>;

/** The five states of a response, and `queued`, in which a background response waits. */
export const RESPONSE_STATUSES = ["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"] as const;

/** A response: 31 keys, all of them required. `status` is a plain string in the specification; the state machine checks its value. */
export const ResponseResource = Type.Object({
  id: Text,
  object: Type.Literal("response"),
  created_at: Type.Integer(),
  completed_at: Nullable(Type.Integer()),
  status: Text,
  incomplete_details: Nullable(Type.Object({ reason: Text })),
  model: Text,
  previous_response_id: Nullable(Text),
  instructions: Nullable(Type.Union([Text, Type.Array(Typed)])),
  output: Type.Array(Typed),
  error: Nullable(Type.Object({ code: Text, message: Text })),
  tools: Type.Array(Typed),
  tool_choice: ToolChoice,
  truncation: Type.Union([Type.Literal("auto"), Type.Literal("disabled")]),
  parallel_tool_calls: Type.Boolean(),
  text: Type.Object({ format: Typed, verbosity: Type.Optional(Text) }),
  top_p: Type.Number(),
  presence_penalty: Type.Number(),
  frequency_penalty: Type.Number(),
  top_logprobs: Type.Integer(),
  temperature: Type.Number(),
  reasoning: Nullable(Type.Object({ effort: Nullable(Text), summary: Nullable(ReasoningSummary) })),
  usage: Nullable(Usage),
  max_output_tokens: Nullable(Type.Integer()),
  max_tool_calls: Nullable(Type.Integer()),
  store: Type.Boolean(),
  background: Type.Boolean(),
  service_tier: Text,
  metadata: Type.Unknown(),
  safety_identifier: Nullable(Text),
  prompt_cache_key: Nullable(Text),
});
export type ResponseResource = Type.Static<typeof ResponseResource>;

/** What `POST /responses/compact` answers. */
export const CompactResource = Type.Object({
  id: Text,
  object: Type.Literal("response.compaction"),
  output: Type.Array(Typed),
  created_at: Type.Integer(),
  usage: Usage,
});
export type CompactResource = Type.Static<typeof CompactResource>;

/** The body of an HTTP error. */
export const ErrorBody = Type.Object({
  error: Type.Object({
    message: Text,
    type: Type.Optional(Nullable(Text)),
    param: Type.Optional(Nullable(Text)),
    code: Type.Optional(Nullable(Text)),
  }),
});
