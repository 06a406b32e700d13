// A block of code: readable at once, coloured when the colours are there.

import { memo, useEffect, useState } from "react";
import type { ThemedToken } from "shiki/core";
import { shownTheme } from "../state/preferences.ts";
import { useStore } from "../state/store.ts";
import { CopyButton } from "./controls.tsx";
import { highlight, isHighlightable } from "./highlight.ts";
import { scrollable } from "./scrollable.ts";

const LONGEST_COLOURED = 30_000;

export const CodeBlock = memo(function CodeBlock({ code, language = "" }: { code: string; language?: string }) {
  const theme = useStore(shownTheme);
  const [lines, setLines] = useState<{ code: string; tokens: ThemedToken[][] } | null>(null);
  useEffect(() => {
    if (!isHighlightable(language) || code.length > LONGEST_COLOURED) return;
    let gone = false;
    // Streaming code changes many times a second: colour it when it rests.
    const timer = setTimeout(() => {
      void highlight(code, language, theme).then((tokens) => {
        if (!gone && tokens) setLines({ code, tokens });
      });
    }, 60);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [code, language, theme]);
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{language}</span>
        <CopyButton text={() => code} label="Copy code" />
      </div>
      <pre {...scrollable}>
        <code>
          {lines?.code === code
            ? lines.tokens.map((line, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity.
                <span key={index}>
                  {line.map((token) => (
                    <span key={token.offset} style={{ color: token.color }}>
                      {token.content}
                    </span>
                  ))}
                  {"\n"}
                </span>
              ))
            : code}
        </code>
      </pre>
    </div>
  );
});
