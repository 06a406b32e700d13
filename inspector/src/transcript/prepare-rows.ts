// Parses the texts of the rows around those in sight while the page has nothing else to do, so that scrolling finds them ready.
import { useEffect } from "react";
import { prepareMarkdown } from "../ui/markdown.tsx";
import type { TranscriptView } from "./context.ts";
import type { Row } from "./rows.ts";

const AROUND = 40;
/** Left over for whatever else the frame holds. */
const SPARE_MS = 6;

export function usePreparedRows(view: TranscriptView, rows: readonly Row[], first: number, last: number): void {
  useEffect(() => {
    const texts = textsAround(view, rows, first, last);
    let handle = 0;
    const prepare = (deadline: IdleDeadline): void => {
      while (deadline.timeRemaining() > SPARE_MS) {
        const next = texts.next();
        if (next.done) return;
        prepareMarkdown(next.value);
      }
      handle = requestIdleCallback(prepare);
    };
    handle = requestIdleCallback(prepare);
    return () => cancelIdleCallback(handle);
  }, [view, rows, first, last]);
}

/** The nearest first; above before below, where readers of a long session go. */
function* textsAround(view: TranscriptView, rows: readonly Row[], first: number, last: number): Generator<string> {
  for (let distance = 1; distance <= AROUND; distance++) {
    for (const row of [rows[first - distance], rows[last + distance]]) {
      const item = row?.kind === "message" ? view.item(row.item_id) : undefined;
      if (item?.status === "in_progress") continue;
      for (const part of item?.content ?? []) if (part.type === "text") yield part.text;
    }
  }
}
