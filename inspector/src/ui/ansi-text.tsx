/** Output of a program with its colours. Everything else a terminal would obey (cursor moves, titles, links) is left out; a line that was drawn over shows its last state. */
import Anser from "anser";
import { memo } from "react";
import { visibleText } from "../../../src/schema/visible-text.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are made of them.
const NOT_COLOUR = /\u001b\[[0-9;?]*[ -/]*[@-ln-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[()][A-Z0-9]|\u001b[=>78]/g;

/** A carriage return begins the line anew. */
const redrawn = (text: string): string => text.replace(/\r\n/g, "\n").replace(/^[^\n]*\r(?!\n)/gm, "");

export const AnsiText = memo(function AnsiText({ text }: { text: string }) {
  const plain = redrawn(text.replace(NOT_COLOUR, ""));
  if (!plain.includes("\u001b")) return visibleText(plain);
  return Anser.ansiToJson(plain, { use_classes: true, remove_empty: true }).map((stretch, index) => {
    const classes = [stretch.fg, stretch.bg && `on-${stretch.bg}`, ...(stretch.decorations ?? [])].filter(Boolean);
    const content = visibleText(stretch.content);
    return classes.length === 0 ? (
      content
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: stretches of a text have no other identity.
      <span key={index} className={classes.join(" ")}>
        {content}
      </span>
    );
  });
});
