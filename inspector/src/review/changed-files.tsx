/** Changed files with their diffs; a line can be commented, and the comments go to the agent as one message. */
import { useState } from "react";
import type { ChangedPath, Changes } from "../../../src/schema/checkpoint.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { problemText } from "../state/daemon.ts";
import { useStore } from "../state/store.ts";
import { sendTo } from "../transcript/branch.ts";
import { Button, Notice } from "../ui/controls.tsx";
import { DiffCounts } from "../ui/diff-counts.tsx";
import { type DiffLine, DiffView } from "../ui/diff-view.tsx";
import { comment, commentAt, comments, forgetComments, messageOf, type ReviewComment } from "./comments.ts";

/** Patches of more files are shown one by one. */
const OPEN_PATCHES = 10;
const NONE: readonly ReviewComment[] = [];
export const SIGNS: Record<ChangedPath["change"], string> = { added: "A", modified: "M", deleted: "D", type: "T", mode: "P" };

type Props = { session: string; data: Changes; canSend: boolean };

export function ChangedFiles({ session, data, canSend }: Props) {
  const list = useStore(comments)[session] ?? NONE;
  const [writing, setWriting] = useState<{ path: string; line: DiffLine } | null>(null);
  const { changes } = data;
  if (changes.length === 0) return <p className="dim">No files changed.</p>;
  return (
    <>
      {list.length > 0 && canSend && <SendComments session={session} list={list} />}
      {changes.map((each) => (
        <details key={`${data.from} ${data.to} ${each.path}`} open={changes.length <= OPEN_PATCHES} className="changed-file">
          <summary>
            <span className={`sign ${each.change}`} title={each.change}>
              {SIGNS[each.change]}
            </span>{" "}
            <code>{visibleLine(each.path)}</code> {each.patch && <DiffCounts text={each.patch} />}
          </summary>
          {each.patch ? (
            <DiffView
              text={each.patch}
              path={each.path}
              onComment={canSend ? (line) => setWriting({ path: each.path, line }) : undefined}
              below={(line) => {
                const known = commentAt(list, each.path, line);
                const open = writing?.path === each.path && isLine(writing.line, line);
                if (!known && !open) return null;
                return (
                  <tr className="comment-line">
                    <td colSpan={3}>
                      {open ? (
                        <CommentForm
                          text={known?.text ?? ""}
                          onDone={(text) => {
                            if (text !== null) comment(session, each.path, line, text);
                            setWriting(null);
                          }}
                        />
                      ) : (
                        <button type="button" className="comment" onClick={() => setWriting({ path: each.path, line })}>
                          {known?.text}
                        </button>
                      )}
                    </td>
                  </tr>
                );
              }}
            />
          ) : (
            <p className="dim">{whyNoLines(each)}</p>
          )}
        </details>
      ))}
      {data.left_off > 0 && <p className="dim">{data.left_off} more are not listed.</p>}
    </>
  );
}

const isLine = (a: DiffLine, b: DiffLine): boolean => a.kind === b.kind && a.old === b.old && a.new === b.new;

/** `null`: nothing was changed. */
function CommentForm({ text, onDone }: { text: string; onDone(text: string | null): void }) {
  const [value, setValue] = useState(text);
  return (
    <form
      className="comment-form"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(value);
      }}
    >
      <textarea
        // biome-ignore lint/a11y/noAutofocus: the person asked to write here.
        autoFocus
        rows={2}
        aria-label="Comment"
        placeholder="What should be different here?"
        value={value}
        onChange={(event) => setValue(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onDone(null);
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onDone(value);
        }}
      />
      <div className="comment-does">
        <Button className="small" look="primary" type="submit">
          Comment
        </Button>
        <Button className="small" onClick={() => onDone(null)}>
          Cancel
        </Button>
        {text !== "" && (
          <Button className="small" look="danger" onClick={() => onDone("")}>
            Remove
          </Button>
        )}
      </div>
    </form>
  );
}

function SendComments({ session, list }: { session: string; list: readonly ReviewComment[] }) {
  const [fault, setFault] = useState<string | null>(null);
  const send = (): void =>
    void sendTo(session, messageOf(list)).then(
      () => forgetComments(session),
      (error: unknown) => setFault(problemText(error)),
    );
  return (
    <div className="send-comments">
      <span>
        {list.length} {list.length === 1 ? "comment" : "comments"}
      </span>
      <Button className="small" look="primary" icon="send" onClick={send}>
        Send to the agent
      </Button>
      <Button className="small" look="quiet" onClick={() => forgetComments(session)}>
        Forget
      </Button>
      {fault && <Notice kind="error">{fault}</Notice>}
    </div>
  );
}

function whyNoLines({ binary, note, before, after }: ChangedPath): string {
  if (binary) return "Not text.";
  return note ?? ((after ?? before)?.type === "directory" ? "A directory." : "No lines changed.");
}
