/** The keys of a tree, as people know them from editors: up and down through what is shown, right into a folder, left out of it. */
import type { KeyboardEvent } from "react";

const levelOf = (item: Element | undefined): number => Number(item?.getAttribute("aria-level") ?? 0);

export function treeKeys(event: KeyboardEvent<HTMLElement>): void {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="treeitem"]')];
  const at = items.indexOf(document.activeElement as HTMLElement);
  const to = at < 0 ? null : target(event.key, items, at);
  if (to === null) return;
  event.preventDefault();
  if (to && to === items[at]) to.click();
  else to?.focus();
}

/** Where a key goes; the item itself: it is opened or closed. Null: the key means nothing here. Undefined: there is nothing in that direction. */
function target(key: string, items: readonly HTMLElement[], at: number): HTMLElement | null | undefined {
  const item = items[at];
  const expanded = item?.getAttribute("aria-expanded");
  switch (key) {
    case "ArrowDown":
      return items[at + 1];
    case "ArrowUp":
      return items[at - 1];
    case "Home":
      return items[0];
    case "End":
      return items.at(-1);
    case "ArrowRight":
      if (expanded === "false") return item;
      return levelOf(items[at + 1]) > levelOf(item) ? items[at + 1] : undefined;
    case "ArrowLeft":
      return expanded === "true" ? item : items.slice(0, at).findLast((each) => levelOf(each) < levelOf(item));
    default:
      return null;
  }
}
