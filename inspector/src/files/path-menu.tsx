// `@path` in the composer: what is typed behind the @ is looked for in the session's directory, and picked from a list.
import { type KeyboardEvent, type RefObject, useEffect, useId, useState } from "react";
import type { PathCompletions } from "../../../src/schema/files.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
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
  const [at, setAt] = useState(0);
  const [closedFor, setClosedFor] = useState<string | null>(null);
  const list = useId();
  const caret = area.current?.selectionStart ?? text.length;
  const typed = closedFor === text ? undefined : typedPath(text, Math.min(caret, text.length));
  useEffect(() => {
    setAt(0);
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
  useEffect(() => {
    document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [list, at]);
  const open = typed !== undefined && found.length > 0;
  const pick = (each: Found[number] | undefined): void => {
    if (!each) return;
    const made = withPath(text, caret, each.path.replace(/\/$/, ""), each.type === "directory");
    onPick(made.text, made.caret);
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!open) return false;
    if (event.key === "ArrowDown") setAt((at + 1) % found.length);
    else if (event.key === "ArrowUp") setAt((at + found.length - 1) % found.length);
    else if (event.key === "Tab" || event.key === "Enter") pick(found[at]);
    else if (event.key === "Escape") setClosedFor(text);
    else return false;
    event.preventDefault();
    return true;
  };
  return {
    onKeyDown,
    aria: open
      ? { role: "combobox", "aria-expanded": true, "aria-controls": list, "aria-activedescendant": `${list}-${at}` }
      : ({} as Record<string, never>),
    element: open ? (
      <div className="slash" role="listbox" id={list} aria-label="Files">
        {found.map((each, index) => (
          <div
            key={each.path}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onMouseDown={(event) => {
              event.preventDefault();
              pick(each);
            }}
          >
            <strong>{visibleLine(each.path)}</strong>
            {each.type === "directory" && <span className="dim">/</span>}
          </div>
        ))}
      </div>
    ) : null,
  };
}
