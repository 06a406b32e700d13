/**
 * One path of a manifest. Its **state** is what a checkpoint remembers, one string; the rest (inode, times) only shows whether the file has to be read again.
 *
 *     f <mode> <size> <id>        a file; the id names its content
 *     l <target>                  a symbolic link
 *     d <mode>                    a directory
 *     x <reason>                  a directory that is left out with all it holds
 *     s <mode> <size> <mtime> <reason>   a file that is there, but whose content is not stored
 */
import type { Stats } from "node:fs";

export type Kind = "f" | "l" | "d" | "x" | "s";
export type State = string;
/** Why something is not stored. */
export type SkipReason = "ignored" | "mount" | "unreadable" | "too_large" | "ignored_large" | "special";

/** The clock behind file times is coarse: a file can change twice within one of its steps. */
const CLOCK_STEP_MS = 50;

export class Entry {
  kind: Kind;
  mode: number;
  size: number;
  ino: number;
  mtime: number;
  ctime: number;
  /** `f`: content id; `l`: target; `x`, `s`: the reason. */
  id: string;
  /** Changed so shortly before it was read that another change could look the same: to be read again. */
  racy = false;
  readonly children: Map<string, Entry> | null;
  /** Digest of a directory and all below it; null: to be computed. */
  digest: string | null = null;

  constructor(
    kind: Kind,
    stat: Pick<Stats, "mode" | "size" | "ino" | "mtimeMs" | "ctimeMs">,
    id = "",
    children?: Map<string, Entry>,
  ) {
    this.kind = kind;
    this.mode = stat.mode & 0o7777;
    this.size = stat.size;
    this.ino = stat.ino;
    this.mtime = stat.mtimeMs;
    this.ctime = stat.ctimeMs;
    this.id = id;
    this.children = kind === "d" ? (children ?? new Map()) : null;
  }

  /** Whether the file system says that nothing happened to it. */
  isUnchanged(stat: Stats): boolean {
    return (
      stat.ctimeMs === this.ctime &&
      stat.mtimeMs === this.mtime &&
      stat.size === this.size &&
      stat.ino === this.ino &&
      (stat.mode & 0o7777) === this.mode
    );
  }

  refresh(stat: Stats): void {
    this.mode = stat.mode & 0o7777;
    this.size = stat.size;
    this.ino = stat.ino;
    this.mtime = stat.mtimeMs;
    this.ctime = stat.ctimeMs;
  }

  readAt(now: number): this {
    this.racy = this.ctime > now - CLOCK_STEP_MS;
    return this;
  }
}

/** Few modes are in use, and this is asked for every path. */
const octals: string[] = [];
const octal = (mode: number): string => {
  octals[mode] ??= mode.toString(8);
  return octals[mode];
};

export function stateOf(entry: Entry): State {
  switch (entry.kind) {
    case "f":
      return `f ${octal(entry.mode)} ${entry.size} ${entry.id}`;
    case "l":
      return `l ${entry.id}`;
    case "d":
      return `d ${octal(entry.mode)}`;
    case "x":
      return `x ${entry.id}`;
    case "s":
      return `s ${octal(entry.mode)} ${entry.size} ${entry.mtime} ${entry.id}`;
  }
}

export type ParsedState =
  | { kind: "f"; mode: number; size: number; id: string }
  | { kind: "l"; target: string }
  | { kind: "d"; mode: number }
  | { kind: "x"; reason: string }
  | { kind: "s"; mode: number; size: number; reason: string };

export function parseState(state: State): ParsedState {
  const kind = state[0];
  if (kind === "l") return { kind, target: state.slice(2) };
  if (kind === "x") return { kind, reason: state.slice(2) };
  const fields = state.split(" ");
  const mode = Number.parseInt(fields[1] ?? "", 8);
  if (kind === "d") return { kind, mode };
  if (kind === "s") return { kind, mode, size: Number(fields[2]), reason: fields[4] ?? "" };
  return { kind: "f", mode, size: Number(fields[2]), id: fields[3] ?? "" };
}

/** The content a state needs, or null. */
export const contentOf = (state: State | null): string | null =>
  state?.startsWith("f") ? state.slice(state.lastIndexOf(" ") + 1) : null;
