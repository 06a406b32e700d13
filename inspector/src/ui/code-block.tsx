/** A block of code: readable at once, coloured when the colours are there. */
import { memo } from "react";
import { visibleText } from "../../../src/schema/visible-text.ts";
import { shownTheme } from "../state/preferences.ts";
import { useStore } from "../state/store.ts";
import { CopyButton } from "./controls.tsx";
import { scrollable } from "./scrollable.ts";
import { useColours } from "./use-colours.ts";

export const CodeBlock = memo(function CodeBlock({ code, language = "" }: { code: string; language?: string }) {
  const shown = visibleText(code);
  const lines = useColours(shown, language, useStore(shownTheme));
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{language}</span>
        <CopyButton text={() => code} label="Copy code" small />
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
