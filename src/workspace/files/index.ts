/** Files of a workspace. */

export { directoriesLike } from "./directories.ts";
export { FilesError, type FilesErrorCode } from "./errors.ts";
export { type FileList, Files, type ListOptions, type ReadResult, type WriteOptions } from "./files.ts";
export { type GitDiffOptions, gitDiff, gitStatus } from "./git-status.ts";
export { Inside } from "./inside.ts";
export { type Completion, Paths } from "./paths.ts";
export type { ReadOptions } from "./ranges.ts";
export { type SearchMatch, type SearchOptions, type SearchResult, searchText } from "./search.ts";
export { type FileChanges, FilesWatch } from "./watch.ts";
