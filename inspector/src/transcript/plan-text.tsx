/** A plan that an agent wrote as Markdown. Nothing in it is hidden, and the exact text is a click away: a person decides about it. */
import { lazy, Suspense, useState } from "react";
import type { QuestionData } from "../../../src/schema/event-data.ts";
import { visibleText } from "../../../src/schema/visible-text.ts";
import { Button } from "../ui/controls.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { Visible } from "../ui/visible.tsx";

/** Of its own chunk: a request can be answered before a session was ever opened. */
const Markdown = lazy(() => import("../ui/markdown.tsx").then((module) => ({ default: module.Markdown })));

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
          <Suspense fallback={<p className="plain-text">{visibleText(text)}</p>}>
            <Markdown text={visibleText(text)} streaming={false} />
          </Suspense>
        )}
      </div>
      <Button look="quiet" onClick={() => setExact(!exact)}>
        {exact ? "Show formatted" : "Show exact text"}
      </Button>
    </div>
  );
}
