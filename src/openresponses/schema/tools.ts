/** Tools and tool choice of Open Responses 2026-04-24. Hosted and `slug:` tools are known by their type only. */
import Type from "typebox";
import { Nullable } from "./content.ts";

const Text = Type.String();
const JsonSchemaObject = Type.Record(Text, Type.Unknown());

/** A function the client runs. */
export const FunctionToolParam = Type.Object({
  type: Type.Literal("function"),
  name: Type.String({ minLength: 1, maxLength: 64, pattern: "^[a-zA-Z0-9_-]+$" }),
  description: Type.Optional(Nullable(Text)),
  parameters: Type.Optional(Nullable(JsonSchemaObject)),
  strict: Type.Optional(Nullable(Type.Boolean())),
});
export type FunctionToolParam = Type.Static<typeof FunctionToolParam>;

/** A function tool as the response repeats it: every key is there. */
export const FunctionTool = Type.Object({
  type: Type.Literal("function"),
  name: Text,
  description: Nullable(Text),
  parameters: Nullable(JsonSchemaObject),
  strict: Nullable(Type.Boolean()),
});

/** A tool whose input is free text, where the endpoint has them (OpenAI). */
export const CustomToolParam = Type.Object({
  type: Type.Literal("custom"),
  name: Text,
  description: Type.Optional(Text),
  format: Type.Optional(Type.Record(Text, Type.Unknown())),
});
export type CustomToolParam = Type.Static<typeof CustomToolParam>;

/** Which kind of answer is asked for. */
export const ToolChoiceMode = Type.Union([Type.Literal("none"), Type.Literal("auto"), Type.Literal("required")]);
const OneFunction = Type.Object({ type: Type.Literal("function"), name: Type.Optional(Text) });
/** Only these tools, without changing the list of tools (the prompt cache stays valid). */
export const AllowedTools = Type.Object({
  type: Type.Literal("allowed_tools"),
  tools: Type.Array(OneFunction, { maxItems: 128 }),
  mode: Type.Optional(ToolChoiceMode),
});
/** None, auto, required, one function, or some functions. */
export const ToolChoice = Type.Union([ToolChoiceMode, OneFunction, AllowedTools]);
export type ToolChoice = Type.Static<typeof ToolChoice>;
