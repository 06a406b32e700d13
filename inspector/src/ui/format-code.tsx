// Sentences of the daemon name commands between backticks; people read them as code.
import type { ReactNode } from "react";

export const withCode = (sentence: string): ReactNode[] =>
  sentence.split("`").map((part, index) =>
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a sentence does not change its order.
      <code key={index}>{part}</code>
    ) : (
      part
    ),
  );
