import { scrollable } from "./scrollable.ts";

/** The names of the files stand between the marks of changed lines and are none. */
const kindOf = (line: string): string =>
  /^(---|\+\+\+) /.test(line) ? "names" : line.startsWith("+") ? "added" : line.startsWith("-") ? "deleted" : "";

/** The text itself, coloured line by line: shown while the viewer loads, and for what it cannot parse. */
export const PlainDiff = ({ text }: { text: string }) => (
  <pre className="plain-diff" {...scrollable}>
    {text.split("\n").map((line, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity.
      <span key={index} className={kindOf(line)}>
        {line}
        {"\n"}
      </span>
    ))}
  </pre>
);
