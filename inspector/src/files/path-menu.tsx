// `@path` in the composer: what is typed behind the @ is looked for in the session's directory, and picked from a list.
import { type RefObject, useEffect, useState } from "react";
import type { PathCompletions } from "../../../src/schema/files.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { usePickMenu } from "../composer/pick-menu.tsx";
import { daemon } from "../state/daemon.ts";

const DELAY_MS = 80;
const SHOWN = 12;

type Found = PathCompletions["paths"];

/** The beginning of a path before the caret: behind an @ that begins a word. */
export function typedPath(text: string, caret: number): string | undefined {
  return /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, caret))?.[1];
}

/** The text with the path in its place, and where the caret stands then. A directory goes on, a file is followed by a space. */
export function withPath(text: string, caret: number, path: string, directory: boolean): { text: string; caret: number } {
  const typed = typedPath(text, caret) ?? "";
  const before = text.slice(0, caret - typed.length) + path + (directory ? "/" : " ");
  return { text: before + text.slice(caret), caret: before.length };
}

export function usePathMenu(
  session: string,
  text: string,
  area: RefObject<HTMLTextAreaElement | null>,
  onPick: (text: string, caret: number) => void,
) {
  const [found, setFound] = useState<Found>([]);
  const caret = area.current?.selectionStart ?? text.length;
  const typed = typedPath(text, Math.min(caret, text.length));
  useEffect(() => {
    if (typed === undefined) return setFound([]);
    const gone = new AbortController();
    const timer = setTimeout(
      () =>
        void daemon
          .session(session)
          .files.complete(typed, { limit: SHOWN }, gone.signal)
          .then(setFound, () => {}),
      DELAY_MS,
    );
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [session, typed]);
  return usePickMenu({
    label: "Files",
    text,
    found: typed === undefined ? [] : found,
    keyOf: ({ path }) => path,
    show: ({ path, type }) => (
      <>
        <strong>{visibleLine(path)}</strong>
        {type === "directory" && <span className="dim">/</span>}
      </>
    ),
    onPick: ({ path, type }) => {
      const made = withPath(text, caret, path.replace(/\/$/, ""), type === "directory");
      onPick(made.text, made.caret);
    },
  });
}
