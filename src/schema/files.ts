/** Files of a session's directory, in words of the API. */
import Type, { type Static } from "typebox";

export const FileEntry = Type.Object({
  path: Type.String({ description: "Relative to the workspace, with `/`; empty for the workspace itself." }),
  name: Type.String({ description: "Its last path segment." }),
  type: Type.Enum(["file", "directory", "link", "other"], { description: "What it is." }),
  size: Type.Integer({ description: "Bytes; 0 for a directory." }),
  mode: Type.String({ description: "Permission bits in octal, such as 0644." }),
  modified_at: Type.String({ description: "RFC 3339." }),
  etag: Type.String({ description: "Changes with every change of the file." }),
  target: Type.Optional(Type.String({ description: "Where a link points, as it is written." })),
});
export type FileEntry = Static<typeof FileEntry>;

export const GitStatus = Type.Object({
  branch: Type.Union([Type.String(), Type.Null()], { description: "null: HEAD is detached." }),
  commit: Type.Union([Type.String(), Type.Null()], { description: "null: there is none yet." }),
  upstream: Type.Union([Type.String(), Type.Null()], { description: "The branch it follows; null: none." }),
  ahead: Type.Integer({ description: "Commits that the upstream does not have." }),
  behind: Type.Integer({ description: "Commits that only the upstream has." }),
  entries: Type.Array(
    Type.Object({
      path: Type.String({ description: "Relative to the workspace; `../` first when the repository is larger than it." }),
      kind: Type.Enum(["changed", "renamed", "unmerged", "untracked"], { description: "What happened to it." }),
      index: Type.String({ description: "Git's letter for what is staged: M, A, D, R, C, T, U; `.` for nothing." }),
      worktree: Type.String({ description: "Git's letter for what is not staged." }),
      from: Type.Optional(Type.String({ description: "The old path of a rename." })),
    }),
    { description: "What differs from the last commit." },
  ),
  truncated: Type.Boolean({ description: "There were more than 10,000 entries." }),
});
export type GitStatus = Static<typeof GitStatus>;

export const FileListing = Type.Object({
  entries: Type.Array(FileEntry, { description: "One page, by name." }),
  next: Type.Union([Type.String(), Type.Null()], { description: "the `after` of the following page; null: that was all" }),
});
export type FileListing = Static<typeof FileListing>;

const Path = Type.String({ maxLength: 4096, description: "Relative to the session's directory." });
const strict = { additionalProperties: false };

export const WriteFile = Type.Object(
  {
    path: Path,
    text: Type.Optional(Type.String({ description: "What the file will contain." })),
    base64: Type.Optional(
      Type.String({ pattern: "^[A-Za-z0-9+/]*={0,2}$", description: "The same as bytes. Either this or text." }),
    ),
    if_match: Type.Optional(Type.String({ description: "Only when the file has this etag; `*`: when there is one." })),
    create_only: Type.Optional(Type.Boolean({ description: "Only when there is no file yet." })),
    parents: Type.Optional(Type.Boolean({ description: "Make missing directories." })),
  },
  { title: "WriteFile", ...strict },
);
export type WriteFile = Static<typeof WriteFile>;

export const MakeDirectory = Type.Object(
  { path: Path, parents: Type.Optional(Type.Boolean({ description: "Make missing directories above it too." })) },
  strict,
);
export const MoveFile = Type.Object(
  {
    from: Type.String({ ...Path, description: "Relative to the session's directory." }),
    to: Type.String({ ...Path, description: "Relative to the session's directory." }),
    overwrite: Type.Optional(Type.Boolean({ description: "Replace a file that is there." })),
  },
  strict,
);
export const DeleteFile = Type.Object(
  { path: Path, recursive: Type.Optional(Type.Boolean({ description: "With everything below it." })) },
  strict,
);

export const FileSearch = Type.Object({
  matches: Type.Array(
    Type.Object({
      path: Type.String({ description: "Relative to the session's directory." }),
      line: Type.Integer({ description: "Number of the line, from 1." }),
      column: Type.Integer({ description: "Place in the line, from 1." }),
      text: Type.String({ description: "The line." }),
    }),
    { description: "Where it was found." },
  ),
  truncated: Type.Boolean({ description: "There was more, or it took too long." }),
});
export type FileSearch = Static<typeof FileSearch>;

export const PathCompletions = Type.Object({
  paths: Type.Array(
    Type.Object({
      path: Type.String({ description: "The whole path." }),
      type: Type.Enum(["file", "directory"], { description: "What it is." }),
    }),
    { description: "Paths that begin so, the best first." },
  ),
});
export type PathCompletions = Static<typeof PathCompletions>;

export const GitDiff = Type.Object({
  diff: Type.String({ description: "A unified diff." }),
  truncated: Type.Boolean({ description: "The diff is longer than this." }),
});
export type GitDiff = Static<typeof GitDiff>;

/** One message of the watch: what changed, at most every 100 ms. */
export type FileChanges = { paths: string[]; overflowed: boolean };
