/** Changes added up over many checkpoints, and what they are called. */
import { textOf } from "../raw-path.ts";
import { parseState, type State } from "./entry.ts";
import type { ChangedPath } from "./record.ts";
import type { Author, Change } from "./tree.ts";

/** The first `before` and the last `after` of each path; `u` if a person was among its authors. */
export function addUp(changes: Iterable<Change>): Map<string, Change> {
  const sum = new Map<string, Change>();
  for (const change of changes) {
    const known = sum.get(change.path);
    sum.set(change.path, known ? { ...change, before: known.before, by: elder(known.by, change.by) } : change);
  }
  for (const [path, { before, after }] of sum) if (before === after) sum.delete(path);
  return sum;
}

const elder = (one: Author, other: Author): Author =>
  one === "u" || other === "u" ? "u" : one === "a" || other === "a" ? "a" : "r";

export const inverted = (change: Change): Change => ({ ...change, before: change.after, after: change.before });

/** null: nothing to say, the path is left out on one side. */
export function named({ path, before, after }: Pick<Change, "path" | "before" | "after">): ChangedPath | null {
  const was = before === null ? null : parseState(before);
  const is = after === null ? null : parseState(after);
  if (was?.kind === "x" || is?.kind === "x") return null;
  const change = (): ChangedPath["change"] => {
    if (!was) return "added";
    if (!is) return "deleted";
    if (TYPES[was.kind] !== TYPES[is.kind]) return "type";
    return was.kind === "d" || (was.kind === "f" && is.kind === "f" && was.id === is.id) ? "mode" : "modified";
  };
  return { path: path === "" ? "." : textOf(path), change: change(), before: shown(before), after: shown(after) };
}

const TYPES = { f: "file", s: "file", l: "link", d: "directory", x: "left out" };

function shown(state: State | null): ChangedPath["before"] {
  if (state === null) return null;
  const parsed = parseState(state);
  return {
    type: TYPES[parsed.kind],
    ...("mode" in parsed ? { mode: parsed.mode.toString(8).padStart(4, "0") } : {}),
    ...("size" in parsed ? { size: parsed.size } : {}),
  };
}
