/** What closes when it loses the focus. */
const OPEN = "[role=dialog], [role=menu]";

/** A person who opens a page writes to it. Not on a touch screen: there the focus brings the keyboard up. */
export function focusUnlessTyping(area: HTMLElement | null): void {
  const typing = document.activeElement?.matches("input, textarea, select, [contenteditable=true]") ?? false;
  if (!typing && !document.querySelector(OPEN) && !matchMedia("(pointer: coarse)").matches) area?.focus();
}
