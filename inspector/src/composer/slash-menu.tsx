/** The agent's commands, offered after a slash: arrow keys choose, Tab or Enter take. */
import { type KeyboardEvent, useEffect, useId, useState } from "react";
import type { ConfigChanged } from "../../../src/schema/event-data.ts";

type Command = NonNullable<ConfigChanged["commands"]>[number];

export function useSlashMenu(text: string, commands: Command[], onPick: (name: string) => void) {
  const [at, setAt] = useState(0);
  const [closedFor, setClosedFor] = useState<string | null>(null);
  const list = useId();
  const typed = /^\/(\S*)$/.exec(text)?.[1];
  const found =
    typed === undefined || closedFor === text
      ? []
      : commands.filter((each) => each.name.replace(/^\//, "").toLowerCase().includes(typed.toLowerCase()));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text begins at the top again.
  useEffect(() => setAt(0), [text]);
  useEffect(() => {
    document.getElementById(`${list}-${at}`)?.scrollIntoView({ block: "nearest" });
  }, [list, at]);
  const pick = (each: Command | undefined): void => {
    if (each) onPick(each.name.replace(/^\//, ""));
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (found.length === 0) return false;
    if (event.key === "ArrowDown") setAt((at + 1) % found.length);
    else if (event.key === "ArrowUp") setAt((at + found.length - 1) % found.length);
    else if (event.key === "Tab" || event.key === "Enter") pick(found[at]);
    else if (event.key === "Escape") setClosedFor(text);
    else return false;
    event.preventDefault();
    return true;
  };
  const open = found.length > 0;
  return {
    onKeyDown,
    aria: open
      ? { role: "combobox", "aria-expanded": true, "aria-controls": list, "aria-activedescendant": `${list}-${at}` }
      : ({} as Record<string, never>),
    element: open ? (
      <div className="slash" role="listbox" id={list} aria-label="Commands">
        {found.map((each, index) => (
          <div
            key={each.name}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            title={each.description}
            onMouseDown={(event) => {
              event.preventDefault();
              pick(each);
            }}
          >
            <strong>/{each.name.replace(/^\//, "")}</strong> <span className="dim">{each.description ?? each.input_hint}</span>
          </div>
        ))}
      </div>
    ) : null,
  };
}
