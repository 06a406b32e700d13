// The files of a session's directory: a tree that follows what changes, and a look at one file.
import { useEffect, useState } from "react";
import type { FileEntry } from "../../../src/schema/files.ts";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { Notice } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { FilePreview } from "./file-preview.tsx";
import "./files.css";

const PAGE = 500;

export function SessionFiles({ row }: { row: Session }) {
  const [chosen, setChosen] = useState<FileEntry | null>(null);
  const [round, setRound] = useState(0);
  const id = row.session_id;
  useEffect(() => {
    const gone = new AbortController();
    void follow(id, gone.signal, () => setRound((now) => now + 1)).catch(() => {});
    return () => gone.abort();
  }, [id]);
  return (
    <div className="session-files">
      <div className="file-tree" role="tree" aria-label="Files" {...scrollable}>
        <Folder session={id} path="" round={round} depth={0} chosen={chosen?.path ?? null} onChoose={setChosen} />
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
  onChoose: (entry: FileEntry) => void;
};

function Folder({ session, path, round, depth, chosen, onChoose }: FolderProps) {
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
      {entries?.map((entry) => (
        <Entry key={entry.path} {...{ session, entry, round, depth, chosen, onChoose }} />
      ))}
      {more && <p className="dim file-hint">There are more than {PAGE} files here.</p>}
    </>
  );
}

function Entry({ entry, depth, ...rest }: Omit<FolderProps, "path"> & { entry: FileEntry }) {
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
