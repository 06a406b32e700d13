/** A plan that an agent wrote as Markdown. Nothing in it is hidden, and the exact text is a click away: a person decides about it. */
import { useState } from "react";
import type { QuestionData } from "../../../src/schema/event-data.ts";
import { visibleText } from "../../../src/schema/visible-text.ts";
import { Button } from "../ui/controls.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { Visible } from "../ui/visible.tsx";

export type PlanInput = { plan: string /** What else the input holds. */; rest: Record<string, unknown> };

/** The plan in a tool's input; null when it holds none. */
export function planIn(input: unknown): PlanInput | null {
  if (typeof input !== "object" || input === null) return null;
  const { plan, ...rest } = input as Record<string, unknown>;
  return typeof plan === "string" && plan !== "" ? { plan, rest } : null;
}

/** The plan that a question asks about. */
export const planAsked = ({ metadata }: QuestionData): string | null =>
  metadata?.kind === "plan_approval" ? (planIn(metadata)?.plan ?? null) : null;

export function PlanText({ text }: { text: string }) {
  const [exact, setExact] = useState(false);
  return (
    <div className="plan-text">
      <div className="plan-body" {...scrollable}>
        {exact ? (
          <pre className="plain-text">
            <Visible text={text} />
          </pre>
        ) : (
          <Markdown text={visibleText(text)} streaming={false} />
        )}
      </div>
      <Button look="quiet" onClick={() => setExact(!exact)}>
        {exact ? "Show formatted" : "Show exact text"}
      </Button>
    </div>
  );
}
