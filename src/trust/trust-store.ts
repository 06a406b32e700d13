/**
 * The directories a person trusts: kept in a private file of the data directory, together with those the configuration file names. A trusted directory covers
 * what lies below it and the git worktrees of its repository. Not here: asking a person (session) and what an agent loads (agents).
 */
import { closeSync, fsyncSync, openSync, readFileSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { Value } from "typebox/value";
import { type TrustedDirectory, TrustList } from "../schema/session.ts";
import { mainCheckout, repositoryRoot } from "./project-root.ts";

export type TrustStoreOptions = {
  dataDir: string;
  /** `trusted_directories` of the configuration file; `~` is the home directory. */
  configured?: readonly string[];
  home?: string;
  /** Called when the file cannot be read: then nobody is trusted. */
  onDamage?(message: string): void;
};

export class TrustStore {
  readonly #file: string;
  readonly #configured: readonly string[];
  readonly #home: string;
  #directories: TrustedDirectory[];

  constructor({ dataDir, configured = [], home = homedir(), onDamage = () => {} }: TrustStoreOptions) {
    this.#file = join(dataDir, "trust.json");
    this.#home = real(home);
    this.#configured = configured.map((path) => (path === "~" || path.startsWith(`~${sep}`) ? join(home, path.slice(1)) : path));
    this.#directories = read(this.#file, onDamage);
  }

  list(): TrustedDirectory[] {
    return [...this.#fromConfig(), ...this.#directories];
  }

  /** `directory` is a real path. */
  isTrusted(directory: string): boolean {
    const trusted = this.list();
    const covers = (path: string) =>
      trusted.some((entry) => path === entry.directory || (entry.scope === "tree" && isBelow(path, entry.directory)));
    if (covers(directory)) return true;
    const main = mainCheckout(directory);
    return main !== null && covers(main);
  }

  /** The directory that a person is asked about for a session in `directory`: its repository, or itself. */
  rootOf(directory: string): string {
    const root = repositoryRoot(directory);
    return root === null || this.#standsAlone(root) ? directory : root;
  }

  /** Resolves links. Adding one again changes nothing. */
  add(path: string): TrustedDirectory {
    const directory = realpathSync(path);
    const known = this.list().find((entry) => entry.directory === directory);
    if (known) return known;
    const added: TrustedDirectory = { ...this.#entry(directory), source: "person", added_at: new Date().toISOString() };
    this.#save([...this.#directories, added]);
    return added;
  }

  /** `configured`: the configuration file trusts it, so only that file can end it. */
  remove(path: string): "removed" | "unknown" | "configured" {
    const directory = real(path);
    const left = this.#directories.filter((entry) => entry.directory !== directory);
    if (left.length < this.#directories.length) {
      this.#save(left);
      return "removed";
    }
    return this.#fromConfig().some((entry) => entry.directory === directory) ? "configured" : "unknown";
  }

  #fromConfig(): TrustedDirectory[] {
    return this.#configured.map((path) => ({ ...this.#entry(real(path)), source: "config", added_at: null }));
  }

  #entry(directory: string): Pick<TrustedDirectory, "directory" | "scope"> {
    return { directory, scope: this.#standsAlone(directory) ? "directory" : "tree" };
  }

  /** The home directory, the places for temporary files and all above them: whoever trusts one of these does not mean everything below it. */
  #standsAlone(directory: string): boolean {
    const places = [this.#home, real(tmpdir()), "/tmp", "/var/tmp", "/private/tmp"];
    return places.some((place) => place === directory || isBelow(place, directory));
  }

  #save(directories: TrustedDirectory[]): void {
    const draft = `${this.#file}.${process.pid}`;
    const file = openSync(draft, "w", 0o600);
    try {
      // All of it: on a disk that is nearly full one write may take a part only.
      writeFileSync(file, `${JSON.stringify({ directories }, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, this.#file);
    this.#directories = directories;
  }
}

const isBelow = (path: string, directory: string): boolean =>
  path.startsWith(directory.endsWith(sep) ? directory : `${directory}${sep}`);

/** The real path; the path itself when it does not exist. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function read(file: string, onDamage: (message: string) => void): TrustedDirectory[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  try {
    const value: unknown = JSON.parse(text);
    if (Value.Check(TrustList, value)) return value.directories;
  } catch {
    // reported below
  }
  onDamage(`${file} cannot be read. No directory is trusted until it is trusted again.`);
  return [];
}
