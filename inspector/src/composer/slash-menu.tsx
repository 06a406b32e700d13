/** The agent's commands, offered after a slash. */
import type { ConfigChanged } from "../../../src/schema/event-data.ts";
import { usePickMenu } from "./pick-menu.tsx";

type Command = NonNullable<ConfigChanged["commands"]>[number];

const nameOf = ({ name }: Command): string => name.replace(/^\//, "");

export function useSlashMenu(text: string, commands: Command[], onPick: (name: string) => void) {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  return usePickMenu({
    label: "Commands",
    text,
    found: typed === undefined ? [] : commands.filter((each) => nameOf(each).toLowerCase().includes(typed)),
    keyOf: ({ name }) => name,
    titleOf: ({ description }) => description,
    show: (each) => (
      <>
        <strong>/{nameOf(each)}</strong> <span className="dim">{each.description ?? each.input_hint}</span>
      </>
    ),
    onPick: (each) => onPick(nameOf(each)),
  });
}
