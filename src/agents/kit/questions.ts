/** Questions of a model as tools for them write them: a text, a header, options with descriptions. Pure. Not here: forms of MCP servers (`forms.ts`). */
import type { QuestionPrompt } from "../../schema/event-data.ts";
import { type JsonRecord, records, str } from "../json.ts";

export function readQuestion(
  native: JsonRecord,
  ways: Pick<QuestionPrompt, "multi_select" | "free_text" | "secret">,
): QuestionPrompt {
  return {
    prompt: str(native.question) ?? "",
    ...(str(native.header) ? { header: str(native.header) ?? "" } : {}),
    options: records(native.options).map(({ label, description }) => ({
      label: str(label) ?? "",
      ...(str(description) ? { description: str(description) ?? "" } : {}),
    })),
    ...ways,
  };
}
