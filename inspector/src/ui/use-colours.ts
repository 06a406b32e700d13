/** The colours of a text in some language, when they are there: none for a language nobody knows, or for very long texts. */
import { useEffect, useState } from "react";
import { type ColouredLine, highlight, highlighted, isHighlightable, type Theme } from "./highlight.ts";

const LONGEST_COLOURED = 30_000;

export function useColours(code: string, language: string, theme: Theme): ColouredLine[] | null {
  const [made, setMade] = useState<{ code: string; theme: Theme; lines: ColouredLine[] } | null>(null);
  const known = highlighted(code, language, theme);
  useEffect(() => {
    if (known || !isHighlightable(language) || code === "" || code.length > LONGEST_COLOURED) return;
    let gone = false;
    // Streaming code changes many times a second: colour it when it rests.
    const timer = setTimeout(() => {
      void highlight(code, language, theme).then((lines) => {
        if (!gone && lines) setMade({ code, theme, lines });
      });
    }, 60);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [code, language, theme, known]);
  return known ?? (made?.code === code && made.theme === theme ? made.lines : null);
}
