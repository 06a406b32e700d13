/**
 * The paths of a workspace for `@path` completion: what git tracks or would track, and their directories; without git a walk that leaves out hidden and dependency
 * directories. The list is kept for a moment, so that typing stays quick. At most 200,000 paths.
 */
import { readdir } from "node:fs/promises";
import { git, zeroSeparated } from "../git/command.ts";
import { workTreeOf } from "../git/work-tree.ts";
import { rawOf, textOf, toFs } from "../raw-path.ts";

const PATHS = 200_000;
const FRESH_MS = 3_000;
const LEFT_OUT = new Set(["node_modules", "target", "__pycache__", "venv", "dist", "build"]);

export type Completion = { path: string; type: "file" | "directory" };
type Listed = { paths: string[]; lower: string[]; at: number };

export class Paths {
  readonly #root: string;
  #listed: Promise<Listed> | null = null;
  #refreshing = false;

  constructor(root: string) {
    this.#root = root;
  }

  /** The best `limit` paths (default 20, most 200) in which all letters of the query occur in order. Without a query: what lies at the top. */
  async complete(query: string, limit = 20): Promise<Completion[]> {
    const { paths, lower } = await this.#current();
    const most = Math.max(1, Math.min(limit, 200));
    const wanted = query.toLowerCase().replace(/^\.?\//, "");
    const best: { at: number; score: number }[] = [];
    for (let at = 0; at < paths.length; at++) {
      const score = wanted === "" ? (isTop(paths[at]!) ? 1 : 0) : scoreOf(wanted, lower[at]!);
      if (score <= 0 || (best.length === most && score <= best[most - 1]!.score)) continue;
      insert(best, { at, score }, most);
    }
    return best.map(({ at }) => typed(paths[at]!));
  }

  /** The list is wrong now: files came or went. */
  forget(): void {
    this.#listed = null;
  }

  /** An old list is still used while the new one is made. */
  async #current(): Promise<Listed> {
    this.#listed ??= this.#list();
    const listed = await this.#listed;
    if (Date.now() - listed.at > FRESH_MS && !this.#refreshing) {
      this.#refreshing = true;
      void this.#list()
        .then((fresh) => {
          this.#listed = Promise.resolve(fresh);
        })
        .finally(() => {
          this.#refreshing = false;
        });
    }
    return listed;
  }

  async #list(): Promise<Listed> {
    const files = (await known(this.#root)) ?? (await walk(this.#root));
    const directories = new Set<string>();
    for (const file of files)
      for (let slash = file.lastIndexOf("/"); slash > 0; slash = file.lastIndexOf("/", slash - 1)) {
        const directory = file.slice(0, slash + 1);
        if (directories.has(directory)) break;
        directories.add(directory);
      }
    const paths = [...directories, ...files];
    return { paths, lower: paths.map((path) => path.toLowerCase()), at: Date.now() };
  }
}

/** What git knows and does not ignore; null outside of a repository. */
async function known(root: string): Promise<string[] | null> {
  if ("reason" in (await workTreeOf(root))) return null;
  const list = (...which: string[]) => git(root, ["ls-files", "-z", ...which]);
  const [all, deleted] = await Promise.all([
    list("--cached", "--others", "--exclude-standard", "--deduplicate"),
    // Git still tracks what is not there any more.
    list("--deleted"),
  ]);
  if (all.status !== 0) return null;
  const gone = new Set(zeroSeparated(deleted.stdout));
  return zeroSeparated(all.stdout)
    .filter((path) => !gone.has(path))
    .slice(0, PATHS)
    .map(textOf);
}

/** Breadth first, links not followed. Raw paths until the end. */
async function walk(root: string): Promise<string[]> {
  const files: string[] = [];
  const queue = [""];
  for (let next = queue.shift(); next !== undefined && files.length < PATHS; next = queue.shift()) {
    const entries = await readdir(toFs(`${rawOf(root)}/${next}`), { withFileTypes: true, encoding: "latin1" }).catch(() => []);
    for (const entry of entries) {
      if (entry.isDirectory() && !entry.name.startsWith(".") && !LEFT_OUT.has(entry.name)) queue.push(`${next}${entry.name}/`);
      else if (!entry.isDirectory()) files.push(`${next}${entry.name}`);
    }
  }
  return files.slice(0, PATHS).map(textOf);
}

const typed = (path: string): Completion =>
  path.endsWith("/") ? { path: path.slice(0, -1), type: "directory" } : { path, type: "file" };
const isTop = (path: string): boolean => !path.slice(0, -1).includes("/");

function insert(best: { at: number; score: number }[], found: { at: number; score: number }, most: number): void {
  let place = best.length;
  while (place > 0 && best[place - 1]!.score < found.score) place -= 1;
  best.splice(place, 0, found);
  if (best.length > most) best.pop();
}

/** 0: no match. The name counts more than the directories, whole pieces more than single letters, short paths more than long ones. */
function scoreOf(query: string, path: string): number {
  const name = path.lastIndexOf("/", path.length - 2) + 1;
  const whole = path.indexOf(query, 0);
  if (whole !== -1) {
    const inName = path.indexOf(query, name);
    if (inName === name) return 4_000 - path.length + (path.length - name === query.length ? 1_000 : 0);
    if (inName !== -1) return 3_000 - path.length;
    return 2_000 - path.length + (whole === 0 || path[whole - 1] === "/" ? 200 : 0);
  }
  let runs = 0;
  let last = -2;
  let from = 0;
  for (let n = 0; n < query.length; n++) {
    const at = path.indexOf(query[n]!, from);
    if (at === -1) return 0;
    if (at !== last + 1) runs += 1;
    last = at;
    from = at + 1;
  }
  return Math.max(1, 1_000 - runs * 20 - path.length / 4 + (last >= name ? 100 : 0));
}
