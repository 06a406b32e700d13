// A block of code: readable at once, coloured when the colours are there.

import { memo, useEffect, useState } from "react";
import { visibleText } from "../../../src/schema/visible-text.ts";
import { shownTheme } from "../state/preferences.ts";
import { useStore } from "../state/store.ts";
import { CopyButton } from "./controls.tsx";
import { type ColouredLine, highlight, highlighted, isHighlightable, type Theme } from "./highlight.ts";
import { scrollable } from "./scrollable.ts";

const LONGEST_COLOURED = 30_000;

export const CodeBlock = memo(function CodeBlock({ code, language = "" }: { code: string; language?: string }) {
  const shown = visibleText(code);
  const lines = useColours(shown, language, useStore(shownTheme));
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{language}</span>
        <CopyButton text={() => code} label="Copy code" />
      </div>
      <pre {...scrollable}>
        <code>
          {lines
            ? lines.map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity.
                <span key={index}>
                  {line.map(([text, color], at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: stretches of a line have no other identity.
                    <span key={at} style={{ color }}>
                      {text}
                    </span>
                  ))}
                  {"\n"}
                </span>
              ))
            : shown}
        </code>
      </pre>
    </div>
  );
});

function useColours(code: string, language: string, theme: Theme): ColouredLine[] | null {
  const [made, setMade] = useState<{ code: string; theme: Theme; lines: ColouredLine[] } | null>(null);
  const known = highlighted(code, language, theme);
  useEffect(() => {
    if (known || !isHighlightable(language) || code.length > LONGEST_COLOURED) return;
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
