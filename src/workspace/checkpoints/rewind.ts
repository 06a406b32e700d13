/**
 * Brings the directory back to a checkpoint. What is overwritten or deleted is always stored first; what a person changed between turns stays, unless forced; git's
 * refs are never touched. The plan is durable before the first file is, so a crash in the middle is finished at the next start.
 */
import { isBelow, parentOf, textOf } from "../raw-path.ts";
import { addUp, named } from "./changes.ts";
import { contentOf, type State } from "./entry.ts";
import { CheckpointError } from "./errors.ts";
import type { ChangedPath, KeptPath } from "./record.ts";
import type { Change } from "./tree.ts";
import type { Step } from "./write-back.ts";

export type RewindOptions = {
  /** Only say what would happen. */
  dry_run?: boolean;
  /** Also take back what a person changed between turns. */
  force?: boolean;
  /** Only these paths and what is below them, relative to the workspace. */
  paths?: readonly string[];
};

export type Plan = { steps: Step[]; changes: ChangedPath[]; kept: KeptPath[] };

/** `changes`: from the target to now. `has`: whether a content can be had. */
export function planRewind(changes: Iterable<Change>, options: RewindOptions, has: (id: string) => boolean): Plan {
  const all = addUp(changes);
  const chosen = chooser(options.paths);
  const kept: KeptPath[] = [];
  const steps: Step[] = [];
  const staying = new Set<string>();
  const keep = (path: string, reason: KeptPath["reason"]) => {
    staying.add(path);
    kept.push({ path: textOf(path), reason });
  };
  for (const { path, before: to, after: from, by } of all.values()) {
    if (!chosen(path, to)) staying.add(path);
    // Left out then or now: nobody knows what it was, or what it is.
    else if (to?.startsWith("x") || from?.startsWith("x") || wasLeftOut(path, all)) staying.add(path);
    else if (by === "u" && !options.force) keep(path, "user_edit");
    else if (from?.startsWith("s")) keep(path, "not_stored");
    else if (to?.startsWith("s")) keep(path, "content_unavailable");
    else if (contentOf(to) === contentOf(from)) steps.push({ path, from, to });
    else if (contentOf(to) !== null && !has(contentOf(to)!)) keep(path, "content_unavailable");
    else if (contentOf(from) !== null && !has(contentOf(from)!)) keep(path, "not_stored");
    else steps.push({ path, from, to });
  }
  const possible = withoutBlocked(steps, staying, all, kept);
  const shown = possible
    .map(({ path, from, to }) => named({ path, before: from, after: to }))
    .filter((change) => change !== null);
  return { steps: possible, changes: shown, kept };
}

/** A directory that has to come back for a chosen path is chosen with it. */
function chooser(paths: readonly string[] | undefined): (path: string, to: State | null) => boolean {
  if (!paths) return () => true;
  const wanted = paths.map((path) => {
    const clean = path.replace(/^\.\//, "").replace(/\/+$/, "");
    if (clean.startsWith("/") || clean.split("/").includes(".."))
      throw new CheckpointError("path_outside", `${path} is not a path inside the workspace.`);
    return clean === "." ? "" : clean;
  });
  return (path, to) => wanted.some((each) => isBelow(textOf(path), each) || (to?.startsWith("d") && isBelow(each, textOf(path))));
}

/** A directory above was left out at the target: what is in it now may well have been there then. */
function wasLeftOut(path: string, all: ReadonlyMap<string, Change>): boolean {
  for (let at = parentOf(path); at !== ""; at = parentOf(at)) if (all.get(at)?.before?.startsWith("x")) return true;
  return false;
}

/** A path that stays keeps its directories, and a path whose directory cannot come back cannot either. */
function withoutBlocked(steps: Step[], staying: ReadonlySet<string>, all: ReadonlyMap<string, Change>, kept: KeptPath[]): Step[] {
  const held = new Set<string>();
  for (const path of staying)
    if (all.get(path)?.after !== null) for (let at = parentOf(path); at !== ""; at = parentOf(at)) held.add(at);
  return steps.filter(({ path, from, to }) => {
    const isHeld = held.has(path) && from?.startsWith("d") && !to?.startsWith("d");
    const hasNoPlace = to !== null && aboveStays(path, staying, all);
    if (isHeld || hasNoPlace) kept.push({ path: textOf(path), reason: "blocked" });
    return !isHeld && !hasNoPlace;
  });
}

/** Something above the path stays as it is, and is no directory. */
function aboveStays(path: string, staying: ReadonlySet<string>, all: ReadonlyMap<string, Change>): boolean {
  for (let at = parentOf(path); at !== ""; at = parentOf(at)) {
    const now = all.get(at)?.after;
    if (staying.has(at) && !now?.startsWith("d") && !now?.startsWith("x")) return true;
  }
  return false;
}
