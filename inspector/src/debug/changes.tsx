// What the session changed in its directory, by turn or as a whole, and the way back: a rewind is shown before it is done, and can be undone.
import { useEffect, useState } from "react";
import type { ChangedPath, Changes as ChangesData, Checkpoint, CheckpointList, Rewound } from "../../../src/schema/checkpoint.ts";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { access, canOperate, daemon, problemText } from "../state/daemon.ts";
import { useStore } from "../state/store.ts";
import { Button, Notice, Spinner } from "../ui/controls.tsx";
import { DiffView } from "../ui/diff-view.tsx";
import { clock } from "../ui/format.ts";
import { useCalm } from "./coverage.tsx";

const REFRESH_MS = 1_000;
/** Patches of more files are shown one by one. */
const OPEN_PATCHES = 10;
const SIGNS: Record<ChangedPath["change"], string> = { added: "A", modified: "M", deleted: "D", type: "T", mode: "P" };

type Asked = { checkpoint: Checkpoint; force: boolean; preview: Rewound };

export function Changes({ row }: { row: Session }) {
  const [list, setList] = useState<CheckpointList | null>(null);
  const [data, setData] = useState<ChangesData | null>(null);
  const [shown, setShown] = useState("session");
  const [asked, setAsked] = useState<Asked | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const operate = canOperate(useStore(access));
  const { session_id, last_sequence } = row;
  const session = daemon.session(session_id);

  const failed = (error: unknown): void => setFault(problemText(error));
  const [round, setRound] = useState(0);
  useCalm(last_sequence, REFRESH_MS, () => setRound((value) => value + 1));
  // biome-ignore lint/correctness/useExhaustiveDependencies: these alone say that something else is to be shown.
  useEffect(() => {
    const gone = new AbortController();
    const { signal } = gone;
    const [kind, id = ""] = shown.split(" ");
    const changes =
      kind === "turn"
        ? session.changes({ turn: id, signal })
        : kind === "since"
          ? session.diff(id, { signal })
          : session.changes({ signal });
    Promise.all([session.checkpoints(signal), changes]).then(
      ([checkpoints, found]) => {
        setList(checkpoints);
        setData(found);
        setFault(null);
      },
      (error: unknown) => !signal.aborted && failed(error),
    );
    return () => gone.abort();
  }, [round, shown, done]);

  const ask = (checkpoint: Checkpoint, force: boolean): void => {
    setDone(null);
    session
      .rewind(checkpoint.checkpoint_id, { dry_run: true, force })
      .then((preview) => setAsked({ checkpoint, force, preview }), failed);
  };
  const rewind = ({ checkpoint, force }: Asked): void => {
    setAsked(null);
    session.rewind(checkpoint.checkpoint_id, { force }).then(({ files }) => setDone(told(files?.files.length ?? 0)), failed);
  };
  const undo = (): void => {
    setAsked(null);
    session.undoRewind().then(({ files }) => setDone(told(files?.files.length ?? 0)), failed);
  };

  if (!list || !data) return fault ? <Notice kind="error">{fault}</Notice> : <Spinner label="loading" />;
  const rewound = list.checkpoints.some(({ kind }) => kind === "before_rewind");
  return (
    <div className="panel changes">
      {fault && <Notice kind="error">{fault}</Notice>}
      {list.reason !== null && <Notice kind="warning">{list.reason}</Notice>}
      {done && <Notice kind="info">{done}</Notice>}
      <div className="changes-head">
        <select aria-label="Changes of" value={shown} onChange={(event) => setShown(event.target.value)}>
          <option value="session">The whole session</option>
          {turnsOf(list.checkpoints).map((turn, index) => (
            <option key={turn} value={`turn ${turn}`}>
              Turn {index + 1}
            </option>
          ))}
          {shown.startsWith("since ") && <option value={shown}>Since a checkpoint</option>}
        </select>
        <span className="dim">
          {data.changes.length} files, <span className="added">+{data.added}</span>{" "}
          <span className="removed">−{data.removed}</span>
        </span>
        {operate && rewound && (
          <Button icon="refresh" onClick={undo}>
            Undo the last rewind
          </Button>
        )}
      </div>
      {asked && (
        <Preview asked={asked} onForce={(force) => ask(asked.checkpoint, force)} onGo={rewind} onLeave={() => setAsked(null)} />
      )}
      <ChangedFiles data={data} />
      <h3>Checkpoints</h3>
      <ol className="checkpoints" aria-label="Checkpoints">
        {list.checkpoints.toReversed().map((each) => (
          <li key={`${each.checkpoint_id} ${each.sequence}`}>
            <span className="dim">{clock(each.created_at)}</span>
            <span>
              {visibleLine(each.label)}
              {each.tool_name !== null && <code>{visibleLine(each.tool_name)}</code>}
            </span>
            <span className="dim">{each.files === 0 ? "" : `${each.files} files`}</span>
            <Button look="quiet" onClick={() => setShown(`since ${each.checkpoint_id}`)}>
              Changes since
            </Button>
            {operate && (
              <Button look="quiet" icon="refresh" onClick={() => ask(each, false)}>
                Rewind…
              </Button>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Preview({
  asked,
  onForce,
  onGo,
  onLeave,
}: {
  asked: Asked;
  onForce(force: boolean): void;
  onGo(asked: Asked): void;
  onLeave(): void;
}) {
  const { checkpoint, preview, force } = asked;
  const { changes = [], kept = [] } = preview.files ?? {};
  return (
    <section className="rewind-preview" aria-label="What the rewind would do">
      <h3>Back to “{visibleLine(checkpoint.label)}”</h3>
      {changes.length === 0 && <p>The files are as they were then: nothing to change.</p>}
      <FileLines changes={changes} />
      {kept.length > 0 && (
        <>
          <p className="dim">These stay as they are:</p>
          <ul className="file-lines">
            {kept.map(({ path, reason }) => (
              <li key={path}>
                <code>{visibleLine(path)}</code> <span className="dim">{reason.replaceAll("_", " ")}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {(force || kept.some(({ reason }) => reason === "user_edit")) && (
        <label>
          <input type="checkbox" checked={force} onChange={(event) => onForce(event.target.checked)} /> Also take back what a
          person changed between turns
        </label>
      )}
      <div className="changes-head">
        <Button look="primary" disabled={changes.length === 0} onClick={() => onGo(asked)}>
          Rewind {changes.length} files
        </Button>
        <Button onClick={onLeave}>Cancel</Button>
      </div>
    </section>
  );
}

const FileLines = ({ changes }: { changes: readonly ChangedPath[] }) => (
  <ul className="file-lines">
    {changes.map(({ path, change }) => (
      <li key={path}>
        <span className={change} title={change}>
          {SIGNS[change]}
        </span>{" "}
        <code>{visibleLine(path)}</code>
      </li>
    ))}
  </ul>
);

function ChangedFiles({ data }: { data: ChangesData }) {
  const { changes } = data;
  if (changes.length === 0) return <p className="dim">No files changed.</p>;
  return (
    <>
      {changes.map((each) => (
        <details key={`${data.from} ${data.to} ${each.path}`} open={changes.length <= OPEN_PATCHES} className="changed-file">
          <summary>
            <span className={each.change} title={each.change}>
              {SIGNS[each.change]}
            </span>{" "}
            <code>{visibleLine(each.path)}</code>
          </summary>
          {each.patch ? (
            <DiffView text={each.patch} />
          ) : (
            <p className="dim">{each.binary ? "Not text." : (each.note ?? "No lines changed.")}</p>
          )}
        </details>
      ))}
      {data.left_off > 0 && <p className="dim">{data.left_off} more are not listed.</p>}
    </>
  );
}

const turnsOf = (checkpoints: readonly Checkpoint[]): string[] => [
  ...new Set(checkpoints.flatMap(({ turn_id }) => turn_id ?? [])),
];

const told = (files: number): string =>
  files === 0 ? "The files were as they are: nothing was changed." : `${files} files were changed.`;
