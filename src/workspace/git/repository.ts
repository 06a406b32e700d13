/**
 * One git repository as a workspace sees it: which paths it ignores, which files are proved to be what git has stored, where HEAD is. It only reads, and starts
 * nothing that the repository's configuration names.
 */
import { readFileSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { isBelow, joinRaw, nameOf, parentOf } from "../raw-path.ts";
import { git, zeroSeparated } from "./command.ts";
import { type Index, readIndex } from "./index-file.ts";
import { GitObjects } from "./objects.ts";
import { workTreeOf } from "./work-tree.ts";

/** A change of these in a file's attributes makes git store other bytes than the file has. */
const CONVERTING = ["text", "eol", "crlf", "ident", "filter", "working-tree-encoding"];

/** A scan asks once for each level of directories: without a pause it would wait as often. */
const PAUSE_MS = 5 * 60_000;

export class Repository {
  /** The directory in which git runs: the workspace, or a repository nested in it. */
  readonly directory: string;
  readonly gitDir: string;
  /** sha1 or sha256: how ids of blobs are computed. */
  readonly format: "sha1" | "sha256";
  readonly objects: GitObjects;
  readonly #prefix: string;
  readonly #ignoresAll: boolean;
  #index: Index | null = null;
  /** The index for which the attributes were asked. */
  #asked: Index | null = null;
  #converted: Set<string> | "all" = new Set();
  readonly #distrusted: string[] = [];
  /** Git could not say in time what it ignores: it is not asked again before this moment. */
  #askAgainAt = 0;

  private constructor(directory: string, facts: { gitDir: string; prefix: string; format: string; ignoresAll: boolean }) {
    this.directory = directory;
    this.gitDir = facts.gitDir;
    this.format = facts.format === "sha256" ? "sha256" : "sha1";
    this.#prefix = facts.prefix;
    this.#ignoresAll = facts.ignoresAll;
    this.objects = new GitObjects(directory);
  }

  /** null: the directory lies in no repository that git would work with. */
  static async at(directory: string): Promise<Repository | null> {
    const [tree, ignored] = await Promise.all([workTreeOf(directory), git(directory, ["check-ignore", "-q", "."])]);
    if ("reason" in tree) return null;
    return new Repository(directory, {
      gitDir: Buffer.from(tree.gitDir, "latin1").toString("utf8"),
      prefix: tree.prefix,
      format: tree.format,
      ignoresAll: ignored.status === 0,
    });
  }

  /** Reads the index, and asks which files git stores converted. Cheap when nothing changed. */
  async loadIndex(): Promise<void> {
    if (!this.#readIndex() && this.#asked === this.#index) return;
    this.#asked = this.#index;
    this.#converted = this.#index ? await this.#findConverted(this.#index) : new Set();
  }

  /** Whether there is another one than before. */
  #readIndex(): boolean {
    const path = join(this.gitDir, "index");
    const mtime = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (mtime === undefined || this.#index?.mtime === mtime) return false;
    this.#index = readIndex(path, this.format === "sha1" ? 20 : 32, this.#prefix);
    // Until its attributes are known, nothing is proved.
    this.#converted = "all";
    return true;
  }

  /** Tells the id of a file's content when its times prove that it is what git has stored. */
  proved(path: string, stat: Stats): string | null {
    return this.proofsIn(parentOf(path))?.(nameOf(path), stat) ?? null;
  }

  /** The same for the files of one directory, by their names; null: nothing in it is proved. */
  proofsIn(directory: string): ((name: string, stat: Stats) => string | null) | null {
    const index = this.#index;
    const names = index?.names(directory);
    const converted = this.#converted;
    if (!index || !names || converted === "all") return null;
    if (this.#distrusted.some((each) => isBelow(directory, each))) return null;
    return (name, stat) => {
      const at = names.get(name);
      if (at === undefined || !index.proves(at, stat)) return null;
      return converted.size > 0 && converted.has(joinRaw(directory, name)) ? null : index.oidAt(at);
    };
  }

  /** Whether git has content of this id for this path in its index. */
  holds(path: string, oid: string): boolean {
    return this.#index?.oid(path) === oid;
  }

  /** A scan saw a `.gitattributes` in this directory. One that git does not track can have come after the question about attributes: nothing below is proved. */
  attributesIn(directory: string): void {
    if (!this.isTracked(joinRaw(directory, ".gitattributes"))) this.#distrusted.push(directory);
  }

  isTracked(path: string): boolean {
    return this.#index?.has(path) ?? false;
  }

  /** Whether git tracks something below the directory: then it is not ignored, whatever the rules say. */
  holdsTracked(directory: string): boolean {
    return this.#index?.hasBelow(directory) ?? false;
  }

  /** Which of these existing paths are ignored. When the workspace itself lies in an ignored directory, nothing in it is. */
  async ignored(paths: readonly string[]): Promise<Set<string>> {
    if (paths.length === 0 || this.#ignoresAll || performance.now() < this.#askAgainAt) return new Set();
    const input = Buffer.from(paths.map((path) => `./${path}\0`).join(""), "latin1");
    this.#readIndex();
    // Git compares every path with the whole index, which takes seconds for thousands: we know the index and do it ourselves.
    const known = this.#index ? ["--no-index"] : [];
    const { stdout, late } = await git(this.directory, ["check-ignore", ...known, "-z", "--stdin"], { input });
    if (late) this.#askAgainAt = performance.now() + PAUSE_MS;
    const answer = zeroSeparated(stdout).map((path) => path.slice(2));
    return new Set(answer.filter((path) => !this.isTracked(path) && !this.holdsTracked(path)));
  }

  /** The commit and branch that are checked out; null when it cannot be read (an unborn branch, another kind of ref store). */
  head(): { ref: string | null; oid: string | null } | null {
    try {
      const text = readFileSync(join(this.gitDir, "HEAD"), "utf8").trim();
      if (!text.startsWith("ref: ")) return { ref: null, oid: text };
      const ref = text.slice(5);
      return { ref, oid: this.#refOid(ref) };
    } catch {
      return null;
    }
  }

  close(): void {
    this.objects.close();
  }

  #refOid(ref: string): string | null {
    let common = this.gitDir;
    try {
      common = resolve(this.gitDir, readFileSync(join(this.gitDir, "commondir"), "utf8").trim());
    } catch {
      // Not a linked worktree.
    }
    try {
      return readFileSync(join(common, ref), "utf8").trim();
    } catch {
      try {
        const packed = readFileSync(join(common, "packed-refs"), "utf8");
        return (
          packed
            .split("\n")
            .find((line) => line.endsWith(` ${ref}`))
            ?.split(" ")[0] ?? null
        );
      } catch {
        return null;
      }
    }
  }

  async #findConverted(index: Index): Promise<Set<string> | "all"> {
    const config = await git(this.directory, ["config", "--get-regexp", "^core\\.(autocrlf|attributesfile)$"]);
    const settings = config.stdout.toString("utf8").toLowerCase();
    if (/core\.autocrlf (?!false|no|off|0)/.test(settings)) return "all";
    if (!settings.includes("attributesfile") && !this.#hasAttributes(index)) return new Set();
    const input = Buffer.from([...index.paths()].map((path) => `${path}\0`).join(""), "latin1");
    const { status, stdout } = await git(this.directory, ["check-attr", "-z", "--stdin", ...CONVERTING], { input });
    if (status !== 0) return "all";
    const fields = zeroSeparated(stdout);
    const converted = new Set<string>();
    for (let at = 0; at + 2 < fields.length; at += 3)
      if (fields[at + 2] !== "unspecified" && fields[at + 2] !== "unset") converted.add(fields[at]!);
    return converted;
  }

  /** Whether any file could give attributes to one of the paths. Those that are not tracked are found by scans. */
  #hasAttributes(index: Index): boolean {
    const home = process.env.XDG_CONFIG_HOME ?? join(process.env.HOME ?? "/", ".config");
    const places = ["/etc/gitattributes", join(home, "git/attributes"), join(this.gitDir, "info/attributes")];
    // Directories above a workspace that is a part of a repository.
    for (let level = this.#prefix.split("/").length - 1, above = this.directory; level > 0; level--) {
      above = resolve(above, "..");
      places.push(join(above, ".gitattributes"));
    }
    if (places.some((place) => statSync(place, { throwIfNoEntry: false }))) return true;
    return index.hasName(".gitattributes");
  }
}

/** The repositories of a workspace: its own and those nested in it, by the path at which they lie. */
export class Repositories {
  readonly #at = new Map<string, Repository>();

  add(path: string, repository: Repository): void {
    this.#at.set(path, repository);
  }

  has(path: string): boolean {
    return this.#at.has(path);
  }

  /** The innermost repository a path belongs to, and the path within it. */
  of(path: string): { repository: Repository; path: string } | null {
    let best: string | null = null;
    for (const at of this.#at.keys()) if (isBelow(path, at) && path !== at && at.length >= (best?.length ?? 0)) best = at;
    if (best === null) return null;
    return { repository: this.#at.get(best)!, path: best === "" ? path : path.slice(best.length + 1) };
  }

  get main(): Repository | null {
    return this.#at.get("") ?? null;
  }

  all(): IterableIterator<Repository> {
    return this.#at.values();
  }

  close(): void {
    for (const repository of this.#at.values()) repository.close();
    this.#at.clear();
  }
}
