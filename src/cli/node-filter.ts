/** `--node` and `--label`: in a fleet, only what is on some nodes. The same for every command that lists or follows sessions. */
import type { NodeFilter } from "../client/dragoman.ts";
import { type OptionSpec, text, UsageError, type Values } from "./command.ts";

export const nodeOptions = {
  node: { type: "string", value: "<node>", about: "in a fleet: only sessions on this node" },
  label: {
    type: "string",
    value: "<name=value>",
    about: "in a fleet: only sessions on nodes with this label; several with commas",
  },
} as const satisfies Record<string, OptionSpec>;

export function nodeFilterOf(values: Values): NodeFilter {
  const [node, label] = [text(values, "node"), text(values, "label")];
  return { ...(node === undefined ? {} : { node }), ...(label === undefined ? {} : { labels: labelsOf(label, "--label") }) };
}

/** `zone=a,gpu=yes` */
export function labelsOf(given: string, option: string): Record<string, string> {
  const pairs = given === "" ? [] : given.split(",");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^([\w./-]{1,64})=(.{0,128})$/.exec(pair) ?? [];
      if (name === undefined || value === undefined) throw new UsageError(`${option} is written a=b,c=d, not ${given}`);
      return [name, value];
    }),
  );
}
