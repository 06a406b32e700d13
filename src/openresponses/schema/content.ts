/** Content parts of Open Responses 2026-04-24. Only what the specification names; extra fields are allowed everywhere, as it demands. */
import Type from "typebox";

const Text = Type.String();
const Index = Type.Integer({ minimum: 0 });

/** Null or the given schema: the specification writes most absent values as null. */
export const Nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** How closely an image is looked at. */
export const ImageDetail = Type.Union([Type.Literal("low"), Type.Literal("high"), Type.Literal("auto")]);

/** Text of a user, developer or system message, or of a tool's result. */
export const InputText = Type.Object({ type: Type.Literal("input_text"), text: Text });
/** An image by URL or data URL. */
export const InputImage = Type.Object({
  type: Type.Literal("input_image"),
  image_url: Type.Optional(Nullable(Text)),
  detail: Type.Optional(Nullable(ImageDetail)),
});
/** A file by URL or base64 data. */
export const InputFile = Type.Object({
  type: Type.Literal("input_file"),
  filename: Type.Optional(Nullable(Text)),
  file_data: Type.Optional(Nullable(Text)),
  file_url: Type.Optional(Nullable(Text)),
});
/** A video by URL. */
export const InputVideo = Type.Object({ type: Type.Literal("input_video"), video_url: Text });

/** A source the model names for a stretch of its text. */
export const UrlCitation = Type.Object({
  type: Type.Literal("url_citation"),
  url: Text,
  start_index: Index,
  end_index: Index,
  title: Text,
});

const TopLogProb = Type.Object({ token: Text, logprob: Type.Number(), bytes: Type.Array(Type.Integer()) });
/** Probability of one token, with its alternatives. */
export const LogProb = Type.Object({
  token: Text,
  logprob: Type.Number(),
  bytes: Type.Array(Type.Integer()),
  top_logprobs: Type.Array(TopLogProb),
});

/** Text of the model. Annotations of unknown types pass: hosted tools bring their own. */
export const OutputText = Type.Object({
  type: Type.Literal("output_text"),
  text: Text,
  annotations: Type.Array(Type.Object({ type: Text })),
  logprobs: Type.Optional(Type.Array(LogProb)),
});
/** The model declines. */
export const Refusal = Type.Object({ type: Type.Literal("refusal"), refusal: Text });
/** Plain text without a role. */
export const PlainText = Type.Object({ type: Type.Literal("text"), text: Text });
/** One paragraph of a reasoning summary. */
export const SummaryText = Type.Object({ type: Type.Literal("summary_text"), text: Text });
/** Reasoning as the model wrote it. */
export const ReasoningText = Type.Object({ type: Type.Literal("reasoning_text"), text: Text });

/** Everything that may stand in a message or reasoning item of a response. */
export const ContentPart = Type.Union([
  InputText,
  OutputText,
  PlainText,
  SummaryText,
  ReasoningText,
  Refusal,
  InputImage,
  InputFile,
  InputVideo,
]);
export type ContentPart = Type.Static<typeof ContentPart>;

/** Everything that may stand in a tool's result that is not a plain string. */
export const ToolOutputPart = Type.Union([InputText, InputImage, InputFile, InputVideo]);
export type ToolOutputPart = Type.Static<typeof ToolOutputPart>;
