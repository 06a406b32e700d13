/** The focus of a person who works with the keyboard does not fall back to the page when the button that had it goes or is disabled. */
import { type HTMLAttributes, useEffect, useRef } from "react";

/** `next` says where it goes on, given the last element inside that matched `place`; null: that one is gone. */
export function useKeptFocus(
  place: string,
  next: (last: HTMLElement | null) => void,
): Pick<HTMLAttributes<HTMLElement>, "onFocus" | "onBlur"> {
  const last = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const has = document.activeElement;
    if (last.current === null || (has !== document.body && !has?.matches(":disabled"))) return;
    const there = last.current.isConnected ? last.current : null;
    last.current = null;
    next(there);
  });
  return {
    onFocus: ({ target }) => {
      last.current = target.closest<HTMLElement>(place);
    },
    // Not called for what is removed; what was disabled was not left by the person either.
    onBlur: ({ target }) => {
      if (!target.matches(":disabled")) last.current = null;
    },
  };
}
