// What a session and its tasks stored beside their events: a list, and a look at one of them.
import { useEffect, useState } from "react";
import type { Artifact, ArtifactPreview } from "../../../src/schema/artifact.ts";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { sessions } from "../state/sessions.ts";
import { ArtifactImage, download } from "../ui/artifact.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { IconButton, Notice, Spinner } from "../ui/controls.tsx";
import { bytes, clock } from "../ui/format.ts";
import { scrollable } from "../ui/scrollable.ts";
import "../files/files.css";

export function SessionArtifacts({ row }: { row: Session }) {
  const [list, setList] = useState<Artifact[] | null>(null);
  const [chosen, setChosen] = useState<Artifact | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const id = row.session_id;
  useEffect(() => {
    const gone = new AbortController();
    const read = (): void =>
      void daemon
        .session(id)
        .artifacts({ limit: 500 }, gone.signal)
        .then(
          ({ artifacts }) => setList(artifacts),
          (error: unknown) => !gone.signal.aborted && setFault(problemText(error)),
        );
    read();
    const unwatch = sessions.watch(id, ({ type }) => (type === "artifact.written" || type === "turn.ended") && read());
    return () => {
      gone.abort();
      unwatch();
    };
  }, [id]);
  return (
    <div className="session-files">
      {fault !== null && <Notice kind="error">{fault}</Notice>}
      {/* A list box without options is none. */}
      <div className="file-tree" {...(list?.length ? { role: "listbox", "aria-label": "Artifacts", tabIndex: 0 } : {})}>
        {list?.length === 0 && <p className="dim file-hint">Images, long outputs and attachments appear here.</p>}
        {list?.map((each) => (
          <button
            type="button"
            key={each.artifact_id}
            role="option"
            className="file-row artifact-row"
            aria-selected={chosen?.artifact_id === each.artifact_id}
            onClick={() => setChosen(each)}
          >
            <span>{visibleLine(nameOf(each))}</span>
            <span className="dim">{bytes(each.bytes)}</span>
            <span className="dim">{clock(each.created_at)}</span>
          </button>
        ))}
      </div>
      {chosen && <Look key={chosen.artifact_id} artifact={chosen} />}
    </div>
  );
}

const nameOf = ({ name, kind, artifact_id }: Artifact): string => name ?? `${kind.replace("_", " ")} ${artifact_id.slice(4, 12)}`;

function Look({ artifact }: { artifact: Artifact }) {
  const [preview, setPreview] = useState<ArtifactPreview | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const id = artifact.artifact_id;
  useEffect(() => {
    const gone = new AbortController();
    daemon
      .artifactPreview(id, gone.signal)
      .then(setPreview, (error: unknown) => !gone.signal.aborted && setFault(problemText(error)));
    return () => gone.abort();
  }, [id]);
  return (
    <section className="file-preview" aria-label={`Artifact ${visibleLine(nameOf(artifact))}`} {...scrollable}>
      <div className="file-head">
        <strong>{visibleLine(nameOf(artifact))}</strong>
        <span className="dim">{facts(artifact, preview)}</span>
        <IconButton
          icon="download"
          label="Download"
          onClick={() =>
            void download(artifact.path, artifact.name ?? id).catch((error: unknown) => setFault(problemText(error)))
          }
        />
      </div>
      {fault !== null && <Notice kind="error">{fault}</Notice>}
      {preview === null && fault === null && <Spinner label="Reading the artifact" />}
      {preview?.format === "image" && <ArtifactImage path={artifact.path} alt={nameOf(artifact)} />}
      {preview?.format === "binary" && <p className="dim file-hint">This is not text. Download it to look at it.</p>}
      {preview?.files?.map(({ path, added, removed }) => (
        <div key={path}>
          {visibleLine(path)} <span className="dim">{`+${added} -${removed}`}</span>
        </div>
      ))}
      {preview?.head !== undefined && <CodeBlock code={preview.head} language={preview.format} />}
      {preview?.left_out !== undefined && <p className="dim file-hint">{bytes(preview.left_out)} left out</p>}
      {preview?.tail !== undefined && <CodeBlock code={preview.tail} language={preview.format} />}
    </section>
  );
}

function facts({ bytes: size, references }: Artifact, preview: ArtifactPreview | null): string {
  const shape = preview?.width === undefined ? "" : `, ${preview.width} x ${preview.height}`;
  const others = references.length > 1 ? `, in ${references.length} sessions and tasks` : "";
  return `${bytes(size)}${shape}${others}`;
}
