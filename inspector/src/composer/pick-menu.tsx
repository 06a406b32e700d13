/** A list above the composer, for what is being typed: arrow keys choose, Tab or Enter take, Escape closes it until the text changes. */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useState } from "react";

type PickMenu<T> = {
  /** What is listed, for screen readers. */
  label: string;
  text: string;
  found: readonly T[];
  keyOf(each: T): string;
  show(each: T): ReactNode;
  titleOf?(each: T): string | undefined;
  onPick(each: T): void;
};

export function usePickMenu<T>({ label, text, found, keyOf, show, titleOf, onPick }: PickMenu<T>) {
  // Another text begins at the top again. Not by an effect: one that sets state after each key makes React take fast typing for an endless loop.
  const [chosen, setChosen] = useState({ text, at: 0 });
  const at = chosen.text === text ? chosen.at : 0;
  const choose = (next: number): void => setChosen({ text, at: next });
  const [closedFor, setClosedFor] = useState<string | null>(null);
  const list = useId();
  const open = found.length > 0 && closedFor !== text;
  useEffect(() => {
    document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [list, at]);
  const pick = (each: T | undefined): void => {
    if (each !== undefined) onPick(each);
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!open) return false;
    if (event.key === "ArrowDown") choose((at + 1) % found.length);
    else if (event.key === "ArrowUp") choose((at + found.length - 1) % found.length);
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
      : {},
    element: open ? (
      <div className="slash" role="listbox" id={list} aria-label={label}>
        {found.map((each, index) => (
          <div
            key={keyOf(each)}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            title={titleOf?.(each)}
            onMouseDown={(event) => {
              event.preventDefault();
              pick(each);
            }}
          >
            {show(each)}
          </div>
        ))}
      </div>
    ) : null,
  };
}
