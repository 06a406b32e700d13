/** The last line of a session that is in sight. Asked for when it has been there for a moment: a list that is scrolled through asks nothing. */
import { useEffect } from "react";
import type { QuestionData } from "../../../src/schema/event-data.ts";
import type { Session } from "../../../src/schema/session.ts";
import { failureOf } from "../../../src/schema/session-failure.ts";
import type { LastLine } from "../state/last-line-of.ts";
import { lastLines } from "../state/last-lines.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { planAsked } from "../transcript/plan-text.tsx";

const REST_MS = 250;

function useLastLine(id: string): LastLine | undefined {
  useEffect(() => {
    const timer = setTimeout(() => lastLines.want(id), REST_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return useSignal(lastLines.changed, () => lastLines.get(id));
}

/** What a list says of a session below its title: why it failed, what it asks, or its last line. Undefined: nothing is known yet. */
export function useShownLine(row: Session): { text: string; byUser: boolean } | undefined {
  const line = useLastLine(row.session_id);
  const waiting = useSignal(sessions.changed, sessions.requests).find((each) => each.session_id === row.session_id);
  const failure = failureOf(row);
  if (failure) return { text: failure.message, byUser: false };
  if (waiting)
    return { text: waiting.kind === "permission" ? (line?.asked ?? waiting.data.action) : askedIn(waiting.data), byUser: false };
  return line && { text: line.text, byUser: line.by === "user" };
}

const askedIn = (question: QuestionData): string => (planAsked(question) === null ? question.prompt : "Proposes a plan");
