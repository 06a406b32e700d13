/** What the session changed in its directory, by turn or as a whole, and the way back: a rewind is shown before it is done, and can be undone. */
import { useEffect, useState } from "react";
import type { ChangedPath, Changes as ChangesData, Checkpoint, CheckpointList, Rewound } from "../../../src/schema/checkpoint.ts";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { useCalm } from "../debug/coverage.tsx";
import { access, canOperate, daemon, problemText } from "../state/daemon.ts";
import { go } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useStore } from "../state/store.ts";
import type { TranscriptView } from "../transcript/context.ts";
import { Choice } from "../ui/choice.tsx";
import { Button, Notice, Spinner } from "../ui/controls.tsx";
import { clock } from "../ui/format.ts";
import { ChangedFiles, SIGNS } from "./changed-files.tsx";

const REFRESH_MS = 1_000;
type Asked = { checkpoint: Checkpoint; force: boolean; preview: Rewound };

export function Changes({ row, view }: { row: Session; view: TranscriptView }) {
  const [list, setList] = useState<CheckpointList | null>(null);
  /** `of`: what was to be shown when it was asked for. */
  const [found, setFound] = useState<{ of: string; data: ChangesData } | null>(null);
  const reviewed = useStore(view.reviewed);
  const [shown, setShown] = useState(reviewed === null ? "session" : `turn ${reviewed.turn}`);
  useEffect(() => {
    if (reviewed !== null) setShown(`turn ${reviewed.turn}`);
  }, [reviewed]);
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
      ([checkpoints, data]) => {
        setList(checkpoints);
        setFound({ of: shown, data });
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
    session
      .rewind(checkpoint.checkpoint_id, { force })
      .then(({ files }) => setDone(changedText(files?.files.length ?? 0)), failed);
  };
  const branch = ({ checkpoint, force, preview }: Asked): void => {
    setAsked(null);
    const mode = (preview.files?.changes.length ?? 0) > 0 ? "both" : "conversation";
    session
      .rewind(checkpoint.checkpoint_id, { mode, force })
      .then(({ session_id }) => (session_id === null ? undefined : openSession(session_id)))
      .catch(failed);
  };
  const undo = (): void => {
    setAsked(null);
    session.undoRewind().then(({ files }) => setDone(changedText(files?.files.length ?? 0)), failed);
  };

  if (!list || !found) return fault ? <Notice kind="error">{fault}</Notice> : <Spinner label="loading" />;
  // Changes of another turn must never stand under this one's name.
  const data = found.of === shown ? found.data : null;
  const rewound = list.checkpoints.some(({ kind }) => kind === "before_rewind");
  return (
    <div className="panel changes">
      {fault && <Notice kind="error">{fault}</Notice>}
      {list.reason !== null && <Notice kind="warning">{list.reason}</Notice>}
      {done && <Notice kind="info">{done}</Notice>}
      <div className="changes-head">
        <Choice
          label="Changes of"
          value={shown}
          options={[
            { value: "session", label: "The whole session" },
            ...turnsOf(list.checkpoints).map((turn, index) => ({ value: `turn ${turn}`, label: `Turn ${index + 1}` })),
            ...(shown.startsWith("since ") ? [{ value: shown, label: "Since a checkpoint" }] : []),
          ]}
          onChange={setShown}
        />
        {data && data.changes.length > 0 && (
          <span className="dim">
            {filesText(data.changes.length)}, <span className="added">+{data.added}</span>{" "}
            <span className="removed">−{data.removed}</span>
          </span>
        )}
        {operate && rewound && (
          <Button className="small" icon="retry" onClick={undo}>
            Undo the last rewind
          </Button>
        )}
      </div>
      {asked && (
        <Preview
          asked={asked}
          onForce={(force) => ask(asked.checkpoint, force)}
          onGo={rewind}
          onBranch={branch}
          onLeave={() => setAsked(null)}
        />
      )}
      {data ? (
        <ChangedFiles session={session_id} data={data} canSend={operate && row.status !== "ended"} />
      ) : (
        !fault && <Spinner label="loading" />
      )}
      <h3>Checkpoints</h3>
      <ol className="checkpoints" aria-label="Checkpoints">
        {list.checkpoints.toReversed().map((each) => (
          <li key={`${each.checkpoint_id} ${each.sequence}`}>
            <span className="dim">{clock(each.reached_at ?? each.created_at)}</span>
            <span>
              {visibleLine(each.label)} {each.tool_name !== null && <code>{visibleLine(each.tool_name)}</code>}
            </span>
            <span className="dim">{each.files === 0 ? "" : filesText(each.files)}</span>
            <span className="checkpoint-actions">
              <Button look="quiet" className="small" onClick={() => setShown(`since ${each.checkpoint_id}`)}>
                Changes since
              </Button>
              {operate && (
                <Button look="quiet" className="small" icon="retry" onClick={() => ask(each, false)}>
                  Rewind…
                </Button>
              )}
            </span>
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
  onBranch,
  onLeave,
}: {
  asked: Asked;
  onForce(force: boolean): void;
  onGo(asked: Asked): void;
  onBranch(asked: Asked): void;
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
          Rewind {filesText(changes.length)}
        </Button>
        <Button
          icon="branch"
          title="A new session that knows what was said up to here. This one stays as it is."
          onClick={() => onBranch(asked)}
        >
          {changes.length > 0 ? "Rewind, and go on in a new session" : "Go on from here in a new session"}
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

const turnsOf = (checkpoints: readonly Checkpoint[]): string[] => [
  ...new Set(checkpoints.flatMap(({ turn_id }) => turn_id ?? [])),
];

const changedText = (files: number): string =>
  files === 0
    ? "The files were as they are: nothing was changed."
    : `${filesText(files)} ${files === 1 ? "was" : "were"} changed.`;

const filesText = (count: number): string => (count === 1 ? "1 file" : `${count} files`);

async function openSession(id: string): Promise<void> {
  sessions.accept(await daemon.session(id).get());
  go({ page: "session", id });
}
