/** A command, exactly. */
import { scrollable } from "../../ui/scrollable.ts";
import { Visible } from "../../ui/visible.tsx";

export const Command = ({ text }: { text: string }) => (
  <pre className="command" {...scrollable}>
    <span aria-hidden="true">$ </span>
    <Visible text={text} />
  </pre>
);
