/** A text field that is as high as its text, up to a limit. */
import { type RefObject, useLayoutEffect } from "react";

export function useGrowing(area: RefObject<HTMLTextAreaElement | null>, text: string, most: number): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: measured anew for another text.
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, most)}px`;
  }, [text, area, most]);
}
