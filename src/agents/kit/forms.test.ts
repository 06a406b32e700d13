import { describe, expect, it } from "vitest";
import { formAnswers, formResult, readForm } from "./forms.ts";

const schema = {
  type: "object",
  properties: {
    sure: { type: "boolean", title: "Sure?" },
    count: { type: "integer", description: "how many" },
    size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
    tags: { type: "array", items: { anyOf: [{ const: "a", title: "A", description: "the first" }, { const: "b" }] } },
    note: { type: "string" },
  },
};

describe("a form", () => {
  it("is one question a field, and its message stands before the first", () => {
    const { questions } = readForm({ message: "Fill this in", schema, header: "lab", order: ["note"] });
    expect(questions.map(({ prompt }) => prompt)).toEqual(["Fill this in\nnote", "Sure?", "count: how many", "size", "tags"]);
    expect(questions.map(({ options }) => options.map(({ label }) => label))).toEqual([
      [],
      ["Yes", "No"],
      [],
      ["Small", "Large"],
      ["A", "b"],
    ]);
    expect(questions.at(-1)).toMatchObject({ multi_select: true, free_text: false, header: "lab" });
    expect(questions[4]?.options[0]).toEqual({ label: "A", description: "the first" });
  });

  it("goes back as typed content, and the content back as the same answers", () => {
    const { fields } = readForm({ message: "", schema });
    const answers = [["No"], ["3"], ["Large"], ["A", "b"], []];
    const result = formResult(fields, answers);
    expect(result).toEqual({ action: "accept", content: { sure: false, count: 3, size: "l", tags: ["a", "b"] } });
    expect(formAnswers(fields, result)).toEqual(answers);
    expect(formResult(fields, null)).toEqual({ action: "decline" });
    expect(formAnswers(fields, { action: "cancel" })).toBeNull();
  });

  it("without fields, and a link, is accepted or declined", () => {
    for (const request of [
      { message: "Go on?", schema: {} },
      { message: "Sign in", schema, url: "https://x.test" },
    ]) {
      const { fields, questions } = readForm(request);
      expect(questions).toMatchObject([{ options: [{ label: "Accept" }, { label: "Decline" }], free_text: false }]);
      expect(formResult(fields, [["Accept"]])).toEqual({ action: "accept" });
      expect(formResult(fields, [["Decline"]])).toEqual({ action: "decline" });
      expect(formAnswers(fields, { action: "accept" })).toEqual([["Accept"]]);
    }
  });

  it("puts what fits no choice into the field beside it", () => {
    const { fields, questions } = readForm({
      message: "Which color?",
      schema: { properties: { q: { type: "string", title: "Color", enum: ["red"] }, q_note: { type: "string" } } },
      companionOf: (name) => /^(.+)_note$/.exec(name)?.[1],
    });
    expect(questions).toMatchObject([{ prompt: "Which color?", header: "Color", free_text: true }]);
    expect(formResult(fields, [["teal"]])).toEqual({ action: "accept", content: { q_note: "teal" } });
    expect(formAnswers(fields, { action: "accept", content: { q: "red", q_note: "dark" } })).toEqual([["red", "dark"]]);
  });
});
