// One file of a session's directory: its beginning in colour, or what it is; and a button that saves all of it.
import { useEffect, useState } from "react";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { download } from "../ui/artifact.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { IconButton, Notice, Spinner } from "../ui/controls.tsx";
import { baseName, bytes } from "../ui/format.ts";
import { scrollable } from "../ui/scrollable.ts";

const SHOWN_BYTES = 256 * 1024;

type Read = { text: string | null; size: number };

export function FilePreview({ session, path, round }: { session: string; path: string; round: number }) {
  const [read, setRead] = useState<Read | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another round is another look.
  useEffect(() => {
    const gone = new AbortController();
    readHead(session, path, gone.signal).then(
      (head) => {
        setRead(head);
        setFault(null);
      },
      (error: unknown) => !gone.signal.aborted && setFault(problemText(error)),
    );
    return () => gone.abort();
  }, [session, path, round]);
  const save = (): void =>
    void download(`/v1/sessions/${session}/fs/read?path=${encodeURIComponent(path)}`, baseName(path)).catch((error: unknown) =>
      setFault(problemText(error)),
    );
  return (
    <section className="file-preview" aria-label={`File ${visibleLine(path)}`} {...scrollable}>
      <div className="file-head">
        <strong>{visibleLine(path)}</strong>
        {read && <span className="dim">{bytes(read.size)}</span>}
        <IconButton icon="download" label="Download" onClick={save} />
      </div>
      {fault !== null && <Notice kind="error">{fault}</Notice>}
      {read === null && fault === null && <Spinner label="Reading the file" />}
      {read?.text === null && <p className="dim file-hint">This is not text. Download it to look at it.</p>}
      {read !== null && read.text !== null && <CodeBlock code={read.text} language={languageOf(path)} />}
      {read !== null && read.text !== null && read.size > SHOWN_BYTES && (
        <p className="dim file-hint">Only the first {bytes(SHOWN_BYTES)} are shown.</p>
      )}
    </section>
  );
}

/** A range of an empty file cannot be asked for. */
async function readHead(session: string, path: string, signal: AbortSignal): Promise<Read> {
  const { files } = daemon.session(session);
  const { size } = await files.stat(path, { follow: true }, signal);
  if (size === 0) return { text: "", size };
  const head = new Uint8Array(
    await (await files.read(path, { start: 0, end: Math.min(size, SHOWN_BYTES) - 1, signal })).arrayBuffer(),
  );
  return { text: head.includes(0) ? null : new TextDecoder().decode(head), size };
}

/** The names of endings are names of languages, or their aliases. */
const languageOf = (path: string): string => /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
