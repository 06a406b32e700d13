/**
 * Why a native message that was understood makes no event (U16). A translator has a table of reasons by native type; messages of ours and the output of
 * the process explain themselves.
 */
import type { NativeDirection, SilenceTable } from "./contract.ts";

const BY_DIRECTION: Partial<Record<NativeDirection, string>> = {
  in: "we sent it: what it does is reported when the agent does it",
  http: "a request of ours or its answer: what it does is reported when the agent does it",
  err: "output of the process, shown when it fails",
  exit: "the process ended between turns",
};

/** Undefined: nobody can say why. */
export const silenceOf = (table: SilenceTable, type: string, dir: NativeDirection): string | undefined =>
  table.find(([name]) => fits(name, type))?.[1] ?? BY_DIRECTION[dir];

function fits(name: string, type: string): boolean {
  if (name.startsWith("*")) return type.endsWith(name.slice(1));
  return name.endsWith("*") ? type.startsWith(name.slice(0, -1)) : type === name;
}
