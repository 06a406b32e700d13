/** Text of an agent in which nothing is hidden: characters that cannot be seen or reorder a line are spelled out, and the text cannot reorder what is around it. */
import { visibleParts } from "../../../src/schema/visible-text.ts";

export function Visible({ text }: { text: string }) {
  return (
    <bdi>
      {visibleParts(text).map((part, index) =>
        part.hidden ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other identity.
          <span key={index} className="hidden-character" title="A character that cannot be seen or changes the order of the text">
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </bdi>
  );
}
