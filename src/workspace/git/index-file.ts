/**
 * Reads the paths, ids and file times of git's index (versions 2, 3, 4). Read here and not by `git status`, because git would read files again and could run
 * filters for that. An index in parts (split index) or with collapsed directories is not read: null.
 */
import { readFileSync, statSync } from "node:fs";
import { joinRaw, nameOf, parentOf } from "../raw-path.ts";

/** By directory, those without files of their own too: the names of its files, and where their entries stand. A scan asks directory by directory. */
type TrackedNames = Map<string, Map<string, number>>;

/** Entries are read from the file's bytes when they are asked for: fifty thousand objects would cost more than reading the file. */
export class Index {
  readonly mtime: number;
  readonly #file: Buffer;
  readonly #oidBytes: number;
  readonly #directories: TrackedNames;

  constructor(file: Buffer, mtime: number, oidBytes: number, directories: TrackedNames) {
    this.#file = file;
    this.mtime = mtime;
    this.#oidBytes = oidBytes;
    this.#directories = directories;
  }

  *paths(): Generator<string> {
    for (const [directory, names] of this.#directories) for (const name of names.keys()) yield joinRaw(directory, name);
  }

  /** Whether git tracks a file of this name anywhere. */
  hasName(name: string): boolean {
    for (const names of this.#directories.values()) if (names.has(name)) return true;
    return false;
  }

  has(path: string): boolean {
    return this.#at(path) !== undefined;
  }

  /** Whether git tracks something below the directory. */
  hasBelow(directory: string): boolean {
    return this.#directories.has(directory);
  }

  /** The files that git tracks in this directory itself. */
  names(directory: string): ReadonlyMap<string, number> | undefined {
    return this.#directories.get(directory);
  }

  oid(path: string): string | null {
    const at = this.#at(path);
    return at === undefined ? null : this.oidAt(at);
  }

  oidAt(at: number): string {
    return this.#file.toString("hex", at + 40, at + 40 + this.#oidBytes);
  }

  #at(path: string): number | undefined {
    return this.#directories.get(parentOf(path))?.get(nameOf(path));
  }

  /** Whether these times prove that the file is what git has: written before the index was, and neither `assume-unchanged` nor `skip-worktree`. */
  proves(at: number, times: { mtimeMs: number; ctimeMs: number; ino: number; size: number; mode: number }): boolean {
    const file = this.#file;
    const flags = file.readUInt16BE(at + 40 + this.#oidBytes);
    if ((flags & ASSUME_VALID) !== 0) return false;
    if ((flags & EXTENDED) !== 0 && (file.readUInt16BE(at + 42 + this.#oidBytes) & SKIP_WORKTREE) !== 0) return false;
    const mtime = file.readUInt32BE(at + 8) * 1000 + file.readUInt32BE(at + 12) / 1_000_000;
    return (
      mtime === times.mtimeMs &&
      mtime < this.mtime &&
      file.readUInt32BE(at) * 1000 + file.readUInt32BE(at + 4) / 1_000_000 === times.ctimeMs &&
      file.readUInt32BE(at + 36) === times.size % 2 ** 32 &&
      file.readUInt32BE(at + 20) === times.ino % 2 ** 32 &&
      (file.readUInt32BE(at + 24) & TYPE) === (times.mode & TYPE)
    );
  }
}

const ASSUME_VALID = 0x8000;
const EXTENDED = 0x4000;
const STAGE = 0x3000;
const SKIP_WORKTREE = 0x4000;
const INTENT_TO_ADD = 0x2000;
const TYPE = 0o170000;
const GITLINK = 0o160000;

/** `prefix`: only paths below it, without it (`packages/a/` for a workspace inside a repository). */
export function readIndex(path: string, oidBytes: 20 | 32, prefix = ""): Index | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return null;
  const file = readFileSync(path);
  const version = file.length > 12 ? file.readUInt32BE(4) : 0;
  if (file.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return null;
  const directories: TrackedNames = new Map();
  let near = "";
  let names = namesOf(directories, near);
  const end = file.length - oidBytes;
  const count = file.readUInt32BE(8);
  const fixed = 40 + oidBytes + 2;
  let at = 12;
  let name = "";
  for (let n = 0; n < count; n++) {
    if (at + fixed > end) return null;
    const flags = file.readUInt16BE(at + fixed - 2);
    const extended = (flags & EXTENDED) !== 0 ? file.readUInt16BE(at + fixed) : 0;
    const start = at + fixed + ((flags & EXTENDED) !== 0 ? 2 : 0);
    let from = start;
    if (version === 4) {
      const { value, next } = offsetAt(file, start);
      const zero = file.indexOf(0, next);
      name = name.slice(0, name.length - value) + file.toString("latin1", next, zero);
      from = zero + 1;
    } else {
      const length = flags & 0xfff;
      const zero = length < 0xfff ? start + length : file.indexOf(0, start);
      name = file.toString("latin1", start, zero);
      // Padded with 1 to 8 zeros to a multiple of eight.
      from = at + ((zero - at + 8) & ~7);
    }
    if ((flags & STAGE) === 0 && name.startsWith(prefix)) {
      const mode = file.readUInt32BE(at + 24);
      // A collapsed directory of a sparse index.
      if ((mode & TYPE) === 0o040000) return null;
      if ((mode & TYPE) !== GITLINK && (extended & INTENT_TO_ADD) === 0) {
        const cut = name.lastIndexOf("/");
        const directory = cut < prefix.length ? "" : name.slice(prefix.length, cut);
        // Neighbours come one after another.
        if (near !== directory) names = namesOf(directories, directory);
        near = directory;
        names.set(name.slice(Math.max(cut + 1, prefix.length)), at);
      }
    }
    at = from;
  }
  return hasParts(file, at, end) ? null : new Index(file, stat.mtimeMs, oidBytes, directories);
}

function namesOf(directories: TrackedNames, directory: string): Map<string, number> {
  const known = directories.get(directory);
  if (known) return known;
  const names = new Map<string, number>();
  directories.set(directory, names);
  if (directory !== "") namesOf(directories, parentOf(directory));
  return names;
}

/** The variable-width offset of index version 4, the same as in packs. */
function offsetAt(file: Buffer, start: number): { value: number; next: number } {
  let at = start;
  let byte = file[at++]!;
  let value = byte & 127;
  while (byte & 128) {
    byte = file[at++]!;
    value = ((value + 1) << 7) | (byte & 127);
  }
  return { value, next: at };
}

function hasParts(file: Buffer, start: number, end: number): boolean {
  for (let at = start; at + 8 <= end; at += 8 + file.readUInt32BE(at + 4)) {
    const signature = file.toString("latin1", at, at + 4);
    if (signature === "link" || signature === "sdir") return true;
  }
  return false;
}
