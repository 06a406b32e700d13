/** A link that shows this one session to somebody and lets them change nothing. It ends after the time that is chosen, or with the token that made it. */
import { useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { hrefOf } from "../state/route.ts";
import { Choice } from "../ui/choice.tsx";
import { Button, CopyButton, Notice } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";

const HOUR_MS = 3_600_000;
const TIMES = [
  { value: String(HOUR_MS), label: "1 hour" },
  { value: String(24 * HOUR_MS), label: "1 day" },
  { value: String(7 * 24 * HOUR_MS), label: "7 days" },
  { value: String(30 * 24 * HOUR_MS), label: "30 days" },
];

export function ShareDialog({ row, onClose }: { row: Session; onClose(): void }) {
  const [time, setTime] = useState(String(24 * HOUR_MS));
  const [link, setLink] = useState<string | null>(null);
  const [fault, setFault] = useState<string | null>(null);
  const make = async (): Promise<void> => {
    setFault(null);
    try {
      const { token } = await daemon.mintToken("observe", {
        lifetime_ms: Number(time),
        scope: { sessions: [row.session_id] },
        label: `shared: ${row.session_id}`,
      });
      setLink(`${location.origin}/ui#link=${token}&at=${hrefOf({ page: "session", id: row.session_id }).slice(1)}`);
    } catch (error) {
      setFault(problemText(error));
    }
  };
  return (
    <Dialog open onClose={onClose} title="Share read-only">
      <div className="dialog-body">
        <p>Who has the link sees this session and what is added to it, nothing else, and can change nothing.</p>
        {fault && <Notice kind="error">{fault}</Notice>}
        {link === null ? (
          <div className="share-line">
            <span>It ends after</span>
            <Choice label="Lifetime" value={time} options={TIMES} onChange={setTime} />
          </div>
        ) : (
          <div className="share-line">
            <input readOnly aria-label="Link" value={link} onFocus={(event) => event.target.select()} />
            <CopyButton label="Copy the link" text={() => link} />
          </div>
        )}
      </div>
      <div className="dialog-foot">
        <span className="grow" />
        <Button onClick={onClose}>{link === null ? "Cancel" : "Done"}</Button>
        {link === null && (
          <Button look="primary" icon="link" onClick={() => void make()}>
            Make the link
          </Button>
        )}
      </div>
    </Dialog>
  );
}
