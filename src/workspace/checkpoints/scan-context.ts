/** What a scan is given: the directory, the manifest, where contents go, and its limits. */
import type { DirectoryWatches } from "../directory-watches.ts";
import type { Repositories } from "../git/repository.ts";
import type { ContentId } from "./content.ts";
import type { Packs } from "./packs.ts";
import type { Tree } from "./tree.ts";

export type Limits = {
  /** Paths in the tree. */
  files: number;
  /** Bytes that one checkpoint may copy. */
  copied_bytes: number;
  /** Files that git does not track. */
  untracked_bytes: number;
  /** Single files that git ignores. */
  ignored_bytes: number;
  /** Any file: it is read into memory. */
  file_bytes: number;
};

export type ScanContext = {
  /** Raw, absolute, without links. */
  root: string;
  tree: Tree;
  /** There is no checkpoint yet. */
  first: boolean;
  packs: Packs;
  idOf: ContentId;
  repositories: Repositories;
  /** Called for a directory that holds a `.git` of its own. */
  nested(path: string): Promise<void>;
  watches: DirectoryWatches | null;
  /** Raw relative paths that are never looked at: our own store. */
  hidden: ReadonlySet<string>;
  /** Paths that are in whatever git ignores. */
  pinned: ReadonlySet<string>;
  /** Those of them that nobody looked at before: whether they are new is not known. */
  newPins: ReadonlySet<string>;
  limits: Limits;
};
