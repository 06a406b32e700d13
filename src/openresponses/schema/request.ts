/** The bodies of `POST /responses` and `POST /responses/compact` of Open Responses 2026-04-24. */
import Type from "typebox";
import { Nullable } from "./content.ts";
import { ItemParam } from "./items.ts";
import { CustomToolParam, FunctionToolParam, ToolChoice } from "./tools.ts";

const Text = Type.String();
const optional = <T extends Type.TSchema>(schema: T) => Type.Optional(Nullable(schema));

/** How hard the model thinks. */
export const ReasoningEffort = Type.Union([
  Type.Literal("none"),
  Type.Literal("minimal"),
  Type.Literal("low"),
  Type.Literal("medium"),
  Type.Literal("high"),
  Type.Literal("xhigh"),
]);
/** How much of its thinking is reported. */
export const ReasoningSummary = Type.Union([Type.Literal("concise"), Type.Literal("detailed"), Type.Literal("auto")]);

/** An item of a request. Items that came from a provider go back unchanged, whatever their type. */
export const InputItem = Type.Union([ItemParam, Type.Object({ type: Text })]);

/** What a client asks. */
export const CreateResponse = Type.Object({
  model: optional(Text),
  input: optional(Type.Union([Text, Type.Array(InputItem)])),
  instructions: optional(Text),
  previous_response_id: optional(Text),
  include: Type.Optional(Type.Array(Text)),
  tools: optional(Type.Array(Type.Union([FunctionToolParam, CustomToolParam, Type.Object({ type: Text })]))),
  tool_choice: optional(ToolChoice),
  parallel_tool_calls: optional(Type.Boolean()),
  max_tool_calls: optional(Type.Integer({ minimum: 1 })),
  max_output_tokens: optional(Type.Integer({ minimum: 16 })),
  reasoning: optional(Type.Object({ effort: optional(ReasoningEffort), summary: optional(ReasoningSummary) })),
  text: optional(Type.Object({ format: optional(Type.Object({ type: Text })), verbosity: Type.Optional(Text) })),
  temperature: optional(Type.Number()),
  top_p: optional(Type.Number()),
  presence_penalty: optional(Type.Number()),
  frequency_penalty: optional(Type.Number()),
  top_logprobs: optional(Type.Integer({ minimum: 0, maximum: 20 })),
  truncation: Type.Optional(Type.Union([Type.Literal("auto"), Type.Literal("disabled")])),
  service_tier: Type.Optional(Text),
  metadata: optional(Type.Record(Text, Type.String({ maxLength: 512 }))),
  safety_identifier: optional(Type.String({ maxLength: 64 })),
  prompt_cache_key: optional(Type.String({ maxLength: 64 })),
  store: Type.Optional(Type.Boolean()),
  stream: Type.Optional(Type.Boolean()),
  stream_options: optional(Type.Object({ include_obfuscation: Type.Optional(Type.Boolean()) })),
  background: Type.Optional(Type.Boolean()),
});
export type CreateResponse = Type.Static<typeof CreateResponse>;

/** What `POST /responses/compact` takes. */
export const CompactRequest = Type.Object({
  model: Text,
  input: optional(Type.Union([Text, Type.Array(InputItem)])),
  previous_response_id: optional(Text),
  instructions: optional(Text),
  prompt_cache_key: optional(Type.String({ maxLength: 64 })),
});
export type CompactRequest = Type.Static<typeof CompactRequest>;
