/**
 * A link that shows this one session to somebody and lets them change nothing. It ends with this page's own token, so somebody who takes the page over gains nothing
 * that lasts. A link that outlives the page needs a token of the command line.
 */
import { useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { Command } from "../transcript/tools/command.tsx";
import { Button, CopyButton, Notice } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";

export function ShareDialog({ row, onClose }: { row: Session; onClose(): void }) {
  const [link, setLink] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const command = `dragoman token mint --role observe --session ${row.session_id}`;
  const make = (): void => {
    daemon
      .session(row.session_id)
      .share()
      .then(
        ({ url }) => setLink(url),
        (error: unknown) => setFault(problemText(error)),
      );
  };
  return (
    <Dialog open onClose={onClose} title="Share read-only">
      <div className="dialog-body">
        <p>Anyone with the link can read this session as it grows. They see no other session and cannot change anything.</p>
        <p className="dim">
          It works for at most a day, and only while you are signed in here. The person who opens it must be able to reach this
          daemon.
        </p>
        {fault && <Notice kind="error">{fault}</Notice>}
        {link === null ? (
          <Button look="primary" icon="link" onClick={make}>
            Make a link
          </Button>
        ) : (
          <div className="share-line">
            <input autoFocus readOnly aria-label="Link" value={link} onFocus={(event) => event.target.select()} />
            <CopyButton label="Copy the link" text={() => link} />
          </div>
        )}
        <details>
          <summary>A link that lasts longer</summary>
          <p className="dim">
            Run this where the daemon runs. It prints a token, which goes behind /ui#link= of the daemon's address.
          </p>
          <div className="share-line">
            <Command text={command} />
            <CopyButton label="Copy the command" text={() => command} />
          </div>
        </details>
      </div>
      <div className="dialog-foot">
        <span className="grow" />
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
