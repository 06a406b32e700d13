// Keys. None is taken while someone types, but those with a modifier.
import { useEffect, useRef } from "react";
import { daemon } from "./state/daemon.ts";
import { prefer, preferences } from "./state/preferences.ts";
import { go, route } from "./state/route.ts";
import { sessions } from "./state/sessions.ts";

export const shortcuts = [
  { keys: ["?"], does: "Show these keys" },
  { keys: ["n"], does: "New session" },
  { keys: ["/"], does: "Search sessions" },
  { keys: ["j"], does: "Next session" },
  { keys: ["k"], does: "Previous session" },
  { keys: ["w"], does: "Go to the next request that waits for you" },
  { keys: ["i"], does: "Write a message" },
  { keys: ["Enter"], does: "Send, or queue while a turn runs" },
  { keys: ["Ctrl", "Enter"], does: "Steer the running turn" },
  { keys: ["Ctrl", "."], does: "Interrupt the turn" },
  { keys: ["a"], does: "Allow the waiting permission once" },
  { keys: ["A"], does: "Always allow it" },
  { keys: ["x"], does: "Deny it" },
  { keys: ["d"], does: "Show or hide the debugging drawer" },
  { keys: ["s"], does: "Show or hide the list of sessions" },
  { keys: ["g"], does: "Agents" },
  { keys: ["Esc"], does: "Leave a field, close a dialog" },
] as const;

type Actions = { onNew(): void; onHelp(): void };

export function useShortcuts(actions: Actions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing) return;
      const here = route.get();
      if ((event.ctrlKey || event.metaKey) && event.key === ".") {
        if (here.page === "session")
          void daemon
            .session(here.id)
            .interrupt()
            .catch(() => {});
        event.preventDefault();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || document.querySelector("[role=dialog]"))
        return;
      if (press(event.key, latest.current)) event.preventDefault();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}

function press(key: string, { onNew, onHelp }: Actions): boolean {
  switch (key) {
    case "?":
      onHelp();
      return true;
    case "n":
      onNew();
      return true;
    case "/":
      return focus("#session-search");
    case "i":
      return focus("#composer");
    case "j":
      return step(1);
    case "k":
      return step(-1);
    case "w":
      return nextWaiting();
    case "a":
      return click('.dock [data-answer="allow_once"]');
    case "A":
      return click('.dock [data-answer="allow_always"]');
    case "x":
      return click('.dock [data-answer^="reject"]');
    case "d":
      prefer({ drawer: !preferences.get().drawer });
      return true;
    case "s":
      prefer({ sidebar: !preferences.get().sidebar });
      return true;
    case "g":
      go({ page: "agents" });
      return true;
    default:
      return false;
  }
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName)) &&
  !isTicked(target);

/** Boxes and radios take no letters. */
const isTicked = (target: HTMLElement): boolean =>
  target instanceof HTMLInputElement && /^(checkbox|radio|range)$/.test(target.type);

function focus(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  element?.focus();
  return element !== null;
}

function click(selector: string): boolean {
  const element = document.querySelector<HTMLButtonElement>(selector);
  element?.click();
  return element !== null;
}

/** Along the list as it is shown, filters and all. */
function step(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>("#session-list a")];
  if (rows.length === 0) return false;
  const at = rows.findIndex((row) => row.getAttribute("aria-current") === "page");
  const next = rows[at < 0 ? 0 : (at + by + rows.length) % rows.length];
  next?.click();
  next?.scrollIntoView({ block: "nearest" });
  return true;
}

function nextWaiting(): boolean {
  const waiting = [...new Set(sessions.requests().map((each) => each.session_id))];
  const here = route.get();
  const at = here.page === "session" ? waiting.indexOf(here.id) : -1;
  const id = waiting[(at + 1) % waiting.length];
  if (id === undefined) return false;
  go({ page: "session", id });
  requestAnimationFrame(() => focus(".dock button, .dock input"));
  return true;
}
