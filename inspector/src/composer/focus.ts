/** What closes when it loses the focus. */
const OPEN = "[role=dialog], [role=menu]";
/** Where a person is at it. */
const TAKEN = "input, textarea, select, [contenteditable=true], .request";

/** A person who opens a page writes to it. Not on a touch screen: there the focus brings the keyboard up. */
export function focusUnlessTyping(area: HTMLElement | null): void {
  const taken = document.activeElement?.closest(TAKEN) ?? null;
  if (taken === null && !document.querySelector(OPEN) && !matchMedia("(pointer: coarse)").matches) area?.focus();
}

/** For what is not the composer itself. */
export const focusComposer = (): void => focusUnlessTyping(document.querySelector<HTMLElement>("#composer"));
