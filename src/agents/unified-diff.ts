// One way to make a unified diff from two texts, so that file changes look the same whoever made them.
import { createTwoFilesPatch } from "diff";

/** `before` null: the file is new; `after` null: it is deleted. Paths stand in the header as they are given. */
export function unifiedDiff(path: string, before: string | null, after: string | null): string {
  const patch = createTwoFilesPatch(
    before === null ? "/dev/null" : path,
    after === null ? "/dev/null" : path,
    before ?? "",
    after ?? "",
    undefined,
    undefined,
    { context: 3 },
  );
  // The library puts an `Index:`-like ruler first; a plain unified diff starts at `---`.
  const start = patch.indexOf("--- ");
  return start > 0 ? patch.slice(start) : patch;
}
