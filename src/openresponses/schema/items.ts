/**
 * Items of Open Responses 2026-04-24: what a response contains (out) and what a request may send (in). Items of hosted tools and of `slug:` extensions are
 * known by name only; they are kept and sent back as they came.
 */
import Type from "typebox";
import {
  ContentPart,
  InputFile,
  InputImage,
  InputText,
  InputVideo,
  Nullable,
  OutputText,
  Refusal,
  SummaryText,
  ToolOutputPart,
} from "./content.ts";

const Text = Type.String();
const Id = Type.Optional(Nullable(Text));
const Name = Type.String({ minLength: 1, maxLength: 64, pattern: "^[a-zA-Z0-9_-]+$" });
const CallId = Type.String({ minLength: 1, maxLength: 64 });

/** The life of an item. */
export const ItemStatus = Type.Union([Type.Literal("in_progress"), Type.Literal("completed"), Type.Literal("incomplete")]);
const Phase = Type.Optional(Nullable(Type.Union([Type.Literal("commentary"), Type.Literal("final_answer")])));

/** A message in a response. */
export const Message = Type.Object({
  type: Type.Literal("message"),
  id: Text,
  status: ItemStatus,
  role: Type.Union([Type.Literal("user"), Type.Literal("assistant"), Type.Literal("system"), Type.Literal("developer")]),
  content: Type.Array(ContentPart),
  phase: Phase,
});
/** The model wants a function to be run by the client. */
export const FunctionCall = Type.Object({
  type: Type.Literal("function_call"),
  id: Text,
  call_id: Text,
  name: Text,
  arguments: Text,
  status: ItemStatus,
});
/** The result of a function call. */
export const FunctionCallOutput = Type.Object({
  type: Type.Literal("function_call_output"),
  id: Text,
  call_id: Text,
  output: Type.Union([Text, Type.Array(ToolOutputPart)]),
  status: ItemStatus,
});
/** What the model thought: a summary, its text, or only an encrypted form that goes back with the next request. */
export const Reasoning = Type.Object({
  type: Type.Literal("reasoning"),
  id: Text,
  content: Type.Optional(Nullable(Type.Array(ContentPart))),
  summary: Type.Array(ContentPart),
  encrypted_content: Type.Optional(Nullable(Text)),
});
/** A conversation made short by the provider. */
export const Compaction = Type.Object({
  type: Type.Literal("compaction"),
  id: Text,
  encrypted_content: Text,
  created_by: Type.Optional(Text),
});

/** Items a response may contain by the specification, by their type. */
export const outputItemSchemas = {
  message: Message,
  function_call: FunctionCall,
  function_call_output: FunctionCallOutput,
  reasoning: Reasoning,
  compaction: Compaction,
} as const;

/** Item types of hosted tools seen from OpenAI and others. Nothing but the name is checked. */
export const HOSTED_ITEM_TYPES: ReadonlySet<string> = new Set([
  "apply_patch_call",
  "apply_patch_call_output",
  "code_interpreter_call",
  "computer_call",
  "computer_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "file_search_call",
  "image_generation_call",
  "local_shell_call",
  "local_shell_call_output",
  "mcp_approval_request",
  "mcp_approval_response",
  "mcp_call",
  "mcp_list_tools",
  "shell_call",
  "shell_call_output",
  "tool_search_call",
  "tool_search_output",
  "web_search_call",
]);

const inputMessage = <R extends string, C extends Type.TSchema>(role: R, content: C) =>
  Type.Object({
    id: Id,
    type: Type.Optional(Type.Literal("message")),
    role: Type.Literal(role),
    content: Type.Union([Text, Type.Array(content)]),
    status: Id,
    phase: Phase,
  });

/** A message of the person. */
export const UserMessageParam = inputMessage("user", Type.Union([InputText, InputImage, InputFile, InputVideo]));
/** A message of the application, above the person's. */
export const DeveloperMessageParam = inputMessage("developer", InputText);
/** A message of the system, above the person's. */
export const SystemMessageParam = inputMessage("system", InputText);
/** An earlier answer of the model. */
export const AssistantMessageParam = inputMessage(
  "assistant",
  Type.Union([Type.Object({ ...OutputText.properties, annotations: Type.Optional(OutputText.properties.annotations) }), Refusal]),
);
/** A call the model made earlier. */
export const FunctionCallParam = Type.Object({
  id: Id,
  type: Type.Literal("function_call"),
  call_id: CallId,
  name: Name,
  arguments: Text,
  status: Type.Optional(Nullable(ItemStatus)),
});
/** The outcome of such a call. */
export const FunctionCallOutputParam = Type.Object({
  id: Id,
  type: Type.Literal("function_call_output"),
  call_id: CallId,
  output: Type.Union([Text, Type.Array(ToolOutputPart)]),
  status: Type.Optional(Nullable(ItemStatus)),
});
/** Reasoning that goes back to the model. */
export const ReasoningParam = Type.Object({
  id: Id,
  type: Type.Literal("reasoning"),
  summary: Type.Array(SummaryText),
  content: Type.Optional(Nullable(Type.Array(ContentPart))),
  encrypted_content: Type.Optional(Nullable(Text)),
});
/** A compaction that goes back to the model. */
export const CompactionParam = Type.Object({ id: Id, type: Type.Literal("compaction"), encrypted_content: Text });
/** An item the server still has. */
export const ItemReferenceParam = Type.Object({ type: Type.Optional(Nullable(Type.Literal("item_reference"))), id: Text });

/** Items a request may send, by the specification. */
export const ItemParam = Type.Union([
  ReasoningParam,
  CompactionParam,
  UserMessageParam,
  SystemMessageParam,
  DeveloperMessageParam,
  AssistantMessageParam,
  FunctionCallParam,
  FunctionCallOutputParam,
  ItemReferenceParam,
]);
export type ItemParam = Type.Static<typeof ItemParam>;
