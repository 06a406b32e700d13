/**
 * The keys of the page. No bare letter acts: letters always go to the composer, whatever has the focus. Everything that acts is a chord with a modifier,
 * so that a sentence typed in the wrong moment can neither answer a request nor leave the session.
 */
import { useEffect, useRef } from "react";
import { awaitRequest } from "./requests/awaited-request.ts";
import { daemon } from "./state/daemon.ts";
import { prefer, preferences } from "./state/preferences.ts";
import { go, route } from "./state/route.ts";
import { sessions } from "./state/sessions.ts";

export const shortcuts = [
  { keys: ["Alt", "H"], does: "Show these keys" },
  { keys: ["Ctrl", "K"], does: "Go to a session, a command, or something that was said" },
  { keys: ["Alt", "N"], does: "New session" },
  { keys: ["Alt", "S"], does: "Search sessions" },
  { keys: ["Alt", "↓"], does: "Next session" },
  { keys: ["Alt", "↑"], does: "Previous session" },
  { keys: ["Alt", "W"], does: "Go to the next request that waits for you" },
  { keys: ["any letter"], does: "Write a message" },
  { keys: ["Enter"], does: "Send, or queue while a turn runs" },
  { keys: ["Ctrl", "Enter"], does: "Steer the running turn" },
  { keys: ["Ctrl", "."], does: "Interrupt the turn" },
  { keys: ["Alt", "1 … 9"], does: "Answer the first waiting permission; each button shows its number" },
  { keys: ["Alt", "I"], does: "Show or hide the debugging drawer" },
  { keys: ["Alt", "L"], does: "Show or hide the list of sessions" },
  { keys: ["Alt", "G"], does: "Agents" },
  { keys: ["Esc"], does: "Leave a field, close a dialog" },
] as const;

type Actions = { onNew(): void; onHelp(): void; onFind(): void };

/** A request that appeared under the person's fingers is not answered by a chord that was meant for the one before it. */
const SETTLE_MS = 400;

export function useShortcuts(actions: Actions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.isComposing || document.querySelector("[role=dialog]")) return;
      if (event.altKey && !event.ctrlKey && !event.metaKey) {
        if (chord(event.code, latest.current)) event.preventDefault();
      } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        latest.current.onFind();
        event.preventDefault();
      } else if ((event.ctrlKey || event.metaKey) && event.key === ".") {
        interrupt();
        event.preventDefault();
      } else if (isLetter(event) && !isTyping(event.target)) focus("#composer");
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}

/** By the place of the key, not by what it types: Option on a Mac makes other characters. */
function chord(code: string, { onNew, onHelp }: Actions): boolean {
  switch (code) {
    case "KeyH":
      onHelp();
      return true;
    case "KeyN":
      onNew();
      return true;
    case "KeyS":
      return focus("#session-search");
    case "ArrowDown":
      return step(1);
    case "ArrowUp":
      return step(-1);
    case "KeyW":
      return nextWaiting();
    case "KeyI":
      prefer({ drawer: !preferences.get().drawer });
      return true;
    case "KeyL":
      prefer({ sidebar: !preferences.get().sidebar });
      return true;
    case "KeyG":
      go({ page: "agents" });
      return true;
    default:
      return /^Digit[1-9]$/.test(code) && choose(code.slice(-1));
  }
}

/** A key that types a character and nothing else. The space is not one: it presses the button that has the focus. */
const isLetter = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  !ctrlKey && !metaKey && !altKey && key !== " " && [...key].length === 1;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName)) &&
  !isTicked(target);

/** Boxes and radios take no letters. */
const isTicked = (target: HTMLElement): boolean =>
  target instanceof HTMLInputElement && /^(checkbox|radio|range)$/.test(target.type);

function interrupt(): void {
  const here = route.get();
  if (here.page !== "session") return;
  void daemon
    .session(here.id)
    .interrupt()
    .catch(() => {});
}

function focus(selector: string): boolean {
  const element = document.querySelector<HTMLElement>(selector);
  element?.focus();
  return element !== null;
}

/** Presses the button of the first waiting permission that shows this number. */
function choose(digit: string): boolean {
  const button = document.querySelector<HTMLButtonElement>(`.dock [data-chord="${digit}"]`);
  if (!button) return false;
  if (performance.now() - Number(button.dataset.since) >= SETTLE_MS) button.click();
  return true;
}

/** Along the list as it is shown, filters and all. */
function step(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLAnchorElement>("#session-list a.session-row")];
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
  if (here.page !== "session" || here.id !== id) go({ page: "session", id });
  awaitRequest(id);
  return true;
}
