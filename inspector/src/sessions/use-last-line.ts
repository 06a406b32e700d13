/** The last line of a session that is in sight. Asked for when it has been there for a moment: a list that is scrolled through asks nothing. */
import { useEffect } from "react";
import type { LastLine } from "../state/last-line-of.ts";
import { lastLines } from "../state/last-lines.ts";
import { useSignal } from "../state/store.ts";

const REST_MS = 250;

export function useLastLine(id: string): LastLine | undefined {
  useEffect(() => {
    const timer = setTimeout(() => lastLines.want(id), REST_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return useSignal(lastLines.changed, () => lastLines.get(id));
}
