/**
 * Brings single paths from one state to another: the hands of a rewind. Before each step it looks whether the path is still as expected; if not, it stays as it
 * is. Every step goes through a handle of the path's directory, so a directory that was replaced by a link leads nowhere. A file appears whole, by rename.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { nameOf, parentOf, toFs } from "../raw-path.ts";
import { HANDLES, plain, readFile } from "./content.ts";
import { parseState, type State } from "./entry.ts";
import { CheckpointError, codeOf } from "./errors.ts";
import type { KeptPath } from "./record.ts";

export type Step = { path: string; from: State | null; to: State | null };
type Kept = { path: string; reason: KeptPath["reason"]; detail?: string };

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const isRoot = process.getuid?.() === 0;

export class WriteBack {
  readonly #root: string;
  readonly #prefix: string;
  readonly #content: (id: string, path: string) => Buffer;
  readonly #idOf: (content: Buffer) => string;
  /** Directories that had to be made writable, with the mode they get back. */
  readonly #opened = new Map<string, number>();
  readonly kept: Kept[] = [];
  #count = 0;

  /** `prefix` begins the names of temporary files. */
  constructor(options: {
    root: string;
    prefix: string;
    content: (id: string, path: string) => Buffer;
    idOf: (content: Buffer) => string;
  }) {
    this.#root = options.root;
    this.#prefix = options.prefix;
    this.#content = options.content;
    this.#idOf = options.idOf;
  }

  /** All steps, in the order that works: remove, make directories, write, set modes. Steps that are already done are done. */
  run(steps: readonly Step[]): void {
    const left = new Map(steps.map((step) => [step.path, step]));
    const parents = [...steps].sort((a, b) => (a.path < b.path ? -1 : 1));
    const children = [...parents].reverse();
    const each = (list: readonly Step[], when: (step: Step) => boolean, act: (step: Step) => void) => {
      for (const step of list) if (left.has(step.path) && when(step) && !this.#try(step, act)) left.delete(step.path);
    };
    const isDirectory = (state: State | null) => state?.startsWith("d") ?? false;
    each(
      children,
      ({ from, to }) => from !== null && !isDirectory(from) && (to === null || isDirectory(to)),
      (step) => this.#remove(step),
    );
    each(
      children,
      ({ from, to }) => isDirectory(from) && !isDirectory(to),
      (step) => this.#removeDirectory(step),
    );
    each(
      parents,
      ({ from, to }) => isDirectory(to) && !isDirectory(from),
      (step) => this.#makeDirectory(step),
    );
    each(
      parents,
      ({ to }) => to !== null && !isDirectory(to),
      (step) => this.#write(step),
    );
    each(
      children,
      ({ to }) => isDirectory(to),
      (step) => this.#setMode(step),
    );
    for (const [path, mode] of this.#opened) if (!left.get(path)?.to?.startsWith("d")) this.#restoreMode(path, mode);
  }

  /** Temporary files of a run that did not end. */
  clean(steps: readonly Step[]): void {
    for (const directory of new Set(steps.map(({ path }) => parentOf(path)))) {
      const full = directory === "" ? this.#root : `${this.#root}/${directory}`;
      try {
        for (const name of readdirSync(toFs(full), "latin1"))
          if (name.startsWith(this.#prefix)) unlinkSync(toFs(`${full}/${name}`));
      } catch {
        // The directory is gone, and they with it.
      }
    }
  }

  /** What is at the path of the step now, content included, as far as it can be what the step knows: a larger file is another one, and is not read. */
  now({ path, from, to }: Step): State | null {
    const full = path === "" ? this.#root : `${this.#root}/${path}`;
    let stat: Stats | undefined;
    try {
      stat = lstatSync(toFs(full), { throwIfNoEntry: false });
    } catch (error) {
      if (codeOf(error) !== "ENOTDIR") throw error;
    }
    if (!stat) return null;
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isDirectory()) return `d ${mode}`;
    if (stat.isSymbolicLink()) return `l ${readlinkSync(toFs(full), "latin1")}`;
    const read = stat.isFile() ? readFile(this.#root, path, Math.max(bytesOf(from), bytesOf(to))) : null;
    return read
      ? `f ${mode} ${read.content.length} ${this.#idOf(read.content)}`
      : `s ${mode} ${stat.size} ${stat.mtimeMs} special`;
  }

  #try(step: Step, act: (step: Step) => void): boolean {
    try {
      const before = this.kept.length;
      act(step);
      return this.kept.length === before;
    } catch (error) {
      if (error instanceof CheckpointError) {
        this.kept.push({ path: step.path, reason: "content_unavailable", detail: error.message });
        return false;
      }
      const code = codeOf(error);
      // A full disk stops the whole: the rest would fail in the same way.
      if (code === "ENOSPC" || code === "EDQUOT" || code === "EROFS") throw error;
      const blocked =
        code === "ENOTEMPTY" ||
        code === "EEXIST" ||
        code === "ENOTDIR" ||
        code === "EISDIR" ||
        code === "ENOENT" ||
        code === "ELOOP";
      this.kept.push({
        path: step.path,
        reason: blocked ? "blocked" : "failed",
        detail: error instanceof Error ? error.message : String(error),
      });
      return false;
    }
  }

  /** False: done already, or not as expected (then it is kept). */
  #expects(step: Step): boolean {
    const now = this.now(step);
    if (now === step.to) return false;
    // The mode of a directory may have been opened by us.
    const same = now === step.from || (now?.startsWith("d") && step.from?.startsWith("d"));
    // A path that was a directory or file of the wrong kind has been removed a moment ago.
    const removed = now === null && step.from !== null && step.to !== null && step.from[0] !== step.to[0];
    if (same || removed) return true;
    this.kept.push({ path: step.path, reason: "changed_meanwhile" });
    return false;
  }

  #remove(step: Step): void {
    if (this.now(step) === null || !this.#expects(step)) return;
    this.#in(parentOf(step.path), (at) => unlinkSync(at(nameOf(step.path))));
  }

  #removeDirectory(step: Step): void {
    const now = this.now(step);
    if (now === null || now === step.to) return;
    if (!now.startsWith("d")) {
      this.kept.push({ path: step.path, reason: "changed_meanwhile" });
      return;
    }
    this.#in(parentOf(step.path), (at) => rmdirSync(at(nameOf(step.path))));
  }

  #makeDirectory(step: Step): void {
    const now = this.now(step);
    if (now?.startsWith("d")) return;
    if (now !== null) {
      this.kept.push({ path: step.path, reason: "changed_meanwhile" });
      return;
    }
    this.#in(parentOf(step.path), (at, parent) => {
      const path = at(nameOf(step.path));
      mkdirSync(path, 0o700);
      if (isRoot) chownSync(path, parent.uid, parent.gid);
    });
  }

  #write(step: Step): void {
    if (!this.#expects(step)) return;
    const to = parseState(step.to!);
    const from = step.from === null ? null : parseState(step.from);
    if (to.kind === "f" && from?.kind === "f" && to.id === from.id)
      return this.#in(parentOf(step.path), (at) => this.#chmod(at(nameOf(step.path)), to.mode));
    const content = to.kind === "f" ? this.#content(to.id, step.path) : null;
    this.#in(parentOf(step.path), (at, parent) => {
      const target = at(nameOf(step.path));
      const temporary = at(`${this.#prefix}${this.#count++}`);
      const owner = lstatSync(target, { throwIfNoEntry: false }) ?? parent;
      try {
        if (to.kind === "l") symlinkSync(toFs(to.target), temporary);
        else if (to.kind === "f") writeWhole(temporary, content!, to.mode, owner);
        // A path that was free must still be: link() refuses where rename() would overwrite.
        if (owner === parent && to.kind === "f" && link(temporary, target)) unlinkSync(temporary);
        else renameSync(temporary, target);
      } catch (error) {
        try {
          unlinkSync(temporary);
        } catch {
          // It was not made.
        }
        throw error;
      }
    });
  }

  #setMode(step: Step): void {
    const to = parseState(step.to!);
    if (to.kind !== "d" || this.now(step) === step.to) return;
    if (step.path === "") return chmodSync(toFs(this.#root), to.mode);
    this.#in(parentOf(step.path), (at) => this.#chmod(at(nameOf(step.path)), to.mode));
  }

  #restoreMode(path: string, mode: number): void {
    try {
      chmodSync(toFs(path === "" ? this.#root : `${this.#root}/${path}`), mode);
    } catch {
      // It was removed.
    }
  }

  /** chmod follows links: a handle does not. */
  #chmod(path: string | Buffer, mode: number): void {
    let fd: number;
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch (error) {
      // Our own file, but without the right to read it.
      if (codeOf(error) !== "EACCES" || lstatSync(path).isSymbolicLink()) throw error;
      return chmodSync(path, mode);
    }
    try {
      fchmodSync(fd, mode);
    } finally {
      closeSync(fd);
    }
  }

  /** Works in one directory of the workspace and nowhere else, whatever its name means meanwhile. */
  #in(directory: string, act: (at: (name: string) => string | Buffer, parent: Stats) => void): void {
    const full = directory === "" ? this.#root : `${this.#root}/${directory}`;
    const fd = openSync(toFs(full), DIRECTORY);
    try {
      const real = HANDLES ? readlinkSync(`${HANDLES}/${fd}`, "latin1") : realpathSync(toFs(full), "latin1");
      if (real !== plain(full)) throw Object.assign(new Error("a directory on the way is a link now"), { code: "ELOOP" });
      const stat = fstatSync(fd);
      if (!isRoot && (stat.mode & 0o300) !== 0o300 && stat.uid === process.getuid?.()) {
        if (!this.#opened.has(directory)) this.#opened.set(directory, stat.mode & 0o7777);
        fchmodSync(fd, stat.mode | 0o300);
      }
      act((name) => toFs(HANDLES ? `${HANDLES}/${fd}/${name}` : `${full}/${name}`), stat);
    } finally {
      closeSync(fd);
    }
  }
}

function bytesOf(state: State | null): number {
  const parsed = state === null ? null : parseState(state);
  return parsed?.kind === "f" ? parsed.size : 0;
}

function writeWhole(path: string | Buffer, content: Buffer, mode: number, owner: Stats): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    for (let at = 0; at < content.length; ) at += writeSync(fd, content, at);
    if (isRoot) fchownSync(fd, owner.uid, owner.gid);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

/** False: the file system has no hard links. */
function link(from: string | Buffer, to: string | Buffer): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw error;
    return false;
  }
}
