/** Comments on changed lines, until they are sent: kept by session, so that closing the drawer loses none. */
import { Store } from "../state/store.ts";
import type { DiffLine } from "../ui/diff-view.tsx";

export type ReviewComment = { path: string; line: DiffLine; text: string };

export const comments = new Store<Readonly<Record<string, readonly ReviewComment[]>>>({});

const isAt = (comment: ReviewComment, path: string, line: DiffLine): boolean =>
  comment.path === path && comment.line.kind === line.kind && comment.line.old === line.old && comment.line.new === line.new;

export const commentAt = (list: readonly ReviewComment[], path: string, line: DiffLine): ReviewComment | undefined =>
  list.find((each) => isAt(each, path, line));

/** An empty text takes it back. */
export function comment(session: string, path: string, line: DiffLine, text: string): void {
  comments.update((all) => {
    const others = (all[session] ?? []).filter((each) => !isAt(each, path, line));
    return { ...all, [session]: text.trim() === "" ? others : [...others, { path, line, text: text.trim() }] };
  });
}

export const forgetComments = (session: string): void => comments.update((all) => ({ ...all, [session]: [] }));

const SIGNS = { insert: "+", delete: "-", normal: " " } as const;

/** The message they become: each with its file, its line and what stands there. */
export const messageOf = (list: readonly ReviewComment[]): string =>
  [
    `I reviewed your changes and have ${list.length === 1 ? "a comment" : `${list.length} comments`}:`,
    ...list.map(
      ({ path, line, text }) =>
        `${path}:${line.new ?? line.old}${line.kind === "delete" ? " (removed)" : ""}\n\`\`\`diff\n${SIGNS[line.kind]}${line.text}\n\`\`\`\n${text}`,
    ),
  ].join("\n\n");
