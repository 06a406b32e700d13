// The files of a session's directory: a tree that follows what changes, and a look at one file.
import { useEffect, useRef, useState } from "react";
import type { FileEntry } from "../../../src/schema/files.ts";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { Notice } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { FilePreview } from "./file-preview.tsx";
import { treeKeys } from "./tree-keys.ts";
import "./files.css";

const PAGE = 500;

export function SessionFiles({ row }: { row: Session }) {
  const [chosen, setChosen] = useState<FileEntry | null>(null);
  const [round, setRound] = useState(0);
  /** The one that Tab goes to; the arrow keys go to the others. */
  const [current, setCurrent] = useState<string | null>(null);
  const tree = useRef<HTMLDivElement>(null);
  const id = row.session_id;
  useEffect(() => {
    const gone = new AbortController();
    void follow(id, gone.signal, () => setRound((now) => now + 1)).catch(() => {});
    return () => gone.abort();
  }, [id]);
  // What had the focus last may be gone, or in a folder that was closed: then Tab goes to the first.
  useEffect(() => {
    if (current !== null && !tree.current?.querySelector('[tabindex="0"][role="treeitem"]')) setCurrent(null);
  });
  return (
    <div className="session-files">
      <div className="file-tree" role="tree" aria-label="Files" tabIndex={-1} ref={tree} onKeyDown={treeKeys}>
        <Folder
          {...{ session: id, path: "", round, depth: 0, current }}
          chosen={chosen?.path ?? null}
          onChoose={setChosen}
          onCurrent={setCurrent}
        />
      </div>
      {chosen ? (
        <FilePreview key={chosen.path} session={id} path={chosen.path} round={round} />
      ) : (
        <p className="dim file-hint">Choose a file to look at it.</p>
      )}
    </div>
  );
}

/** The first message only says that it watches: from then on nothing is missed, so the tree is read again once. */
async function follow(session: string, signal: AbortSignal, changed: () => void): Promise<void> {
  for await (const _ of daemon.session(session).files.watch(signal)) changed();
}

type FolderProps = {
  session: string;
  path: string;
  round: number;
  depth: number;
  chosen: string | null;
  current: string | null;
  onChoose: (entry: FileEntry) => void;
  onCurrent: (path: string) => void;
};

function Folder(props: FolderProps) {
  const { session, path, round, depth } = props;
  const [entries, setEntries] = useState<FileEntry[] | null>(null);
  const [more, setMore] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round is another look.
  useEffect(() => {
    const gone = new AbortController();
    daemon
      .session(session)
      .files.list(path, { limit: PAGE }, gone.signal)
      .then(
        (page) => {
          setEntries(sorted(page.entries));
          setMore(page.next !== null);
          setFault(null);
        },
        (error: unknown) => !gone.signal.aborted && setFault(problemText(error)),
      );
    return () => gone.abort();
  }, [session, path, round]);
  if (fault !== null) return <Notice kind="error">{fault}</Notice>;
  if (entries?.length === 0) return <p className="dim file-hint">Empty</p>;
  return (
    <>
      {entries?.map((entry, index) => (
        <Entry key={entry.path} {...props} entry={entry} first={depth === 0 && index === 0} />
      ))}
      {more && <p className="dim file-hint">There are more than {PAGE} files here.</p>}
    </>
  );
}

function Entry({ entry, first, depth, ...rest }: FolderProps & { entry: FileEntry; first: boolean }) {
  const [open, setOpen] = useState(false);
  const isFolder = entry.type === "directory";
  return (
    <>
      <button
        type="button"
        role="treeitem"
        className="file-row"
        aria-selected={rest.chosen === entry.path}
        aria-level={depth + 1}
        tabIndex={rest.current === entry.path || (rest.current === null && first) ? 0 : -1}
        onFocus={() => rest.onCurrent(entry.path)}
        {...(isFolder ? { "aria-expanded": open } : {})}
        style={{ paddingInlineStart: `${depth * 14 + 8}px` }}
        title={visibleLine(entry.path)}
        onClick={() => (isFolder ? setOpen(!open) : rest.onChoose(entry))}
      >
        <span className={`file-twist ${open ? "open" : ""}`}>{isFolder && <Icon name="chevron" />}</span>
        <span>{visibleLine(entry.name)}</span>
        {entry.type === "link" && <span className="dim">→ {visibleLine(entry.target ?? "")}</span>}
      </button>
      {open && <Folder {...rest} path={entry.path} depth={depth + 1} />}
    </>
  );
}

/** Folders first, then by name. */
const sorted = (entries: FileEntry[]): FileEntry[] =>
  [...entries].sort((a, b) => Number(b.type === "directory") - Number(a.type === "directory") || a.name.localeCompare(b.name));
