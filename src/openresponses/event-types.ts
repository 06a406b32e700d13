/**
 * The table of the 71 event types seen in Responses streams, and of their fields: the 24 of the specification, the hosted-tool events of its schema folder,
 * those that only OpenAI sends, and four that other servers send. `slug:name` types are extensions: known as such, never checked further.
 */
import Type from "typebox";
import { ContentPart, Nullable } from "./schema/content.ts";

/** Where an event type comes from. */
export type EventOrigin = "core" | "hosted" | "openai" | "wild" | "extension";

interface EventRow {
  readonly origin: EventOrigin;
  readonly fields: Type.TProperties;
}

const Text = Type.String();
const Index = Type.Integer({ minimum: 0 });
const Typed = Nullable(Type.Object({ type: Text }));
const obfuscation = { obfuscation: Type.Optional(Text) };
const item = { item_id: Text, output_index: Index };
const content = { ...item, content_index: Index };
const summary = { ...item, summary_index: Index };
const command = { output_index: Index, command_index: Index };
const image = { b64_json: Text, created_at: Type.Integer() };
const response = { response: Type.Object({}) };
const delta = { delta: Text, ...obfuscation };
const logprobs = { logprobs: Type.Optional(Type.Array(Type.Unknown())) };

const core = (fields: Type.TProperties): EventRow => ({ origin: "core", fields });
const hosted = (fields: Type.TProperties): EventRow => ({ origin: "hosted", fields });
const openai = (fields: Type.TProperties): EventRow => ({ origin: "openai", fields });
const wild = (fields: Type.TProperties): EventRow => ({ origin: "wild", fields });

const ROWS = {
  "response.created": core(response),
  "response.queued": core(response),
  "response.in_progress": core(response),
  "response.completed": core(response),
  "response.failed": core(response),
  "response.incomplete": core(response),
  "response.output_item.added": core({ output_index: Index, item: Typed }),
  "response.output_item.done": core({ output_index: Index, item: Typed }),
  "response.content_part.added": core({ ...content, part: ContentPart }),
  "response.content_part.done": core({ ...content, part: ContentPart }),
  "response.output_text.delta": core({ ...content, ...delta, ...logprobs }),
  "response.output_text.done": core({ ...content, text: Text, ...logprobs }),
  "response.output_text.annotation.added": core({ ...content, annotation_index: Index, annotation: Typed }),
  "response.refusal.delta": core({ ...content, delta: Text }),
  "response.refusal.done": core({ ...content, refusal: Text }),
  "response.reasoning.delta": core({ ...content, ...delta }),
  "response.reasoning.done": core({ ...content, text: Text }),
  "response.reasoning_summary_part.added": core({ ...summary, part: ContentPart }),
  "response.reasoning_summary_part.done": core({ ...summary, part: ContentPart }),
  "response.reasoning_summary_text.delta": core({ ...summary, ...delta }),
  "response.reasoning_summary_text.done": core({ ...summary, text: Text }),
  "response.function_call_arguments.delta": core({ ...item, ...delta }),
  "response.function_call_arguments.done": core({ ...item, arguments: Text }),
  error: core({}),

  "response.file_search_call.in_progress": hosted(item),
  "response.file_search_call.searching": hosted(item),
  "response.file_search_call.completed": hosted(item),
  "response.web_search_call.in_progress": hosted(item),
  "response.web_search_call.searching": hosted(item),
  "response.web_search_call.completed": hosted(item),
  "response.code_interpreter_call.in_progress": hosted(item),
  "response.code_interpreter_call.interpreting": hosted(item),
  "response.code_interpreter_call.completed": hosted(item),
  "response.code_interpreter_call_code.delta": hosted({ ...item, ...delta }),
  "response.code_interpreter_call_code.done": hosted({ ...item, code: Text }),
  "response.image_generation_call.in_progress": hosted(item),
  "response.image_generation_call.generating": hosted(item),
  "response.image_generation_call.partial_image": hosted({ ...item, partial_image_index: Index, partial_image_b64: Text }),
  "response.image_generation_call.completed": hosted(item),
  "response.mcp_call.in_progress": hosted(item),
  "response.mcp_call.completed": hosted(item),
  "response.mcp_call.failed": hosted(item),
  "response.mcp_call_arguments.delta": hosted({ ...item, ...delta }),
  "response.mcp_call_arguments.done": hosted({ ...item, arguments: Text }),
  "response.mcp_list_tools.in_progress": hosted(item),
  "response.mcp_list_tools.completed": hosted(item),
  "response.mcp_list_tools.failed": hosted(item),
  "response.custom_tool_call_input.delta": hosted({ ...item, ...delta }),
  "response.custom_tool_call_input.done": hosted({ ...item, input: Text }),
  "response.shell_call_command.added": hosted({ ...command, command: Text }),
  "response.shell_call_command.delta": hosted({ ...command, ...delta }),
  "response.shell_call_command.done": hosted({ ...command, command: Text }),
  "response.apply_patch_call_operation_diff.delta": hosted({ ...item, ...delta }),
  "response.apply_patch_call_operation_diff.done": hosted({ ...item, diff: Text }),
  "image_generation.partial_image": hosted({ ...image, partial_image_index: Index }),
  "image_generation.completed": hosted(image),
  "image_edit.partial_image": hosted({ ...image, partial_image_index: Index }),
  "image_edit.completed": hosted(image),

  "response.audio.delta": openai({ delta: Text }),
  "response.audio.done": openai({}),
  "response.audio.transcript.delta": openai({ delta: Text }),
  "response.audio.transcript.done": openai({}),
  "response.compaction.compacting": openai({}),
  "response.shell_call_output_content.delta": openai({}),
  "response.shell_call_output_content.done": openai({}),
  "response.reasoning_text.delta": openai({ ...content, delta: Text }),
  "response.reasoning_text.done": openai({ ...content, text: Text }),

  // vLLM
  "response.reasoning_part.added": wild({ item_id: Text }),
  "response.reasoning_part.done": wild({ item_id: Text }),
  // Hugging Face responses.js
  "response.mcp_call.arguments_delta": wild({ delta: Text }),
  "response.mcp_call.arguments_done": wild({ arguments: Text }),
} as const satisfies Record<string, EventRow>;

/** A type of the table. */
export type KnownEventType = keyof typeof ROWS;

/** The 71 known types, in the order of the table. */
export const KNOWN_EVENT_TYPES = Object.keys(ROWS) as readonly KnownEventType[];

/** Own names only: `constructor` is no event type. */
export const isKnownEventType = (type: string): type is KnownEventType => Object.hasOwn(ROWS, type);

/** `vendor:name`. Clients must be able to ignore these. */
export const isExtension = (type: string): boolean => /^[a-z0-9][a-z0-9_-]*:[^\s:][^\s]*$/i.test(type);

/** Null for a type we do not know. */
export function originOf(type: string): EventOrigin | null {
  if (isKnownEventType(type)) return ROWS[type].origin;
  return isExtension(type) ? "extension" : null;
}

/** The schema of one event. Every event carries `sequence_number`. */
export const schemaOfEvent = (type: KnownEventType): Type.TObject =>
  Type.Object({ type: Type.Literal(type), sequence_number: Index, ...ROWS[type].fields });

/** The schema of an extension event. */
export const ExtensionEvent = Type.Object({ type: Text, sequence_number: Index });

/** These carry a whole response. */
export const RESPONSE_EVENTS: ReadonlySet<string> = new Set([
  "response.created",
  "response.queued",
  "response.in_progress",
  "response.completed",
  "response.failed",
  "response.incomplete",
]);

/** After one of these the response is over. */
export const TERMINAL_EVENTS: ReadonlySet<string> = new Set(["response.completed", "response.failed", "response.incomplete"]);
