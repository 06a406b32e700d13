import { scrollable } from "./scrollable.ts";

/** The text itself, coloured line by line: shown while the viewer loads, and for what it cannot parse. */
export const PlainDiff = ({ text }: { text: string }) => (
  <pre className="plain-diff" {...scrollable}>
    {text.split("\n").map((line, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity.
      <span key={index} className={line.startsWith("+") ? "added" : line.startsWith("-") ? "deleted" : ""}>
        {line}
        {"\n"}
      </span>
    ))}
  </pre>
);
