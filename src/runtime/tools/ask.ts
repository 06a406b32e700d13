/** Asks the person. It changes nothing, so a crash means that it is asked again. */
import Type from "typebox";
import { isObject } from "../../openresponses/json.ts";
import type { QuestionAsker } from "../ports.ts";
import { type AnyTool, defineTool, ToolError } from "./tool.ts";

export function askTool(asker: QuestionAsker): AnyTool {
  return defineTool({
    name: "ask",
    description:
      "Asks the user, when the task cannot go on without a decision of theirs. Not for what you can find out yourself.",
    parameters: Type.Object({
      questions: Type.Array(
        Type.Object({
          question: Type.String({ minLength: 1 }),
          options: Type.Optional(Type.Array(Type.String(), { maxItems: 8, description: "Answers to choose from." })),
        }),
        { minItems: 1, maxItems: 4 },
      ),
    }),
    effect: "none",
    // One question without a list.
    repair: (args) =>
      isObject(args) && args.questions === undefined && typeof args.question === "string" ? { questions: [{ ...args }] } : args,
    subject: () => ({ kind: "internal" }),
    async run({ questions }, { signal, call }) {
      const asked = questions.map(({ question, options = [] }) => ({ question, options }));
      const answers = await asker.ask(asked, signal, call);
      if (answers === null) throw new ToolError("The user does not answer. Go on as you think best, or end with what is open.");
      return { output: asked.map(({ question }, at) => `${question}\n→ ${answers[at] ?? "(no answer)"}`).join("\n\n") };
    },
  });
}
