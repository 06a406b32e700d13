/** What can be done with several sessions at once. Deleting is asked for once more; what failed is said, the rest is done. */
import { useState } from "react";
import { daemon, problemText } from "../state/daemon.ts";
import { sessions } from "../state/sessions.ts";
import { Button, IconButton, Notice } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";

type Props = { ids: readonly string[]; onAll(): void; onDone(): void };

export function BulkBar({ ids, onAll, onDone }: Props) {
  const [fault, setFault] = useState<string | null>(null);
  const [sure, setSure] = useState(false);
  const each = async (act: (id: string) => Promise<void>): Promise<void> => {
    setFault(null);
    const results = await Promise.allSettled(ids.map(act));
    const failed = results.filter((result) => result.status === "rejected");
    if (failed[0]) setFault(`${failed.length} of ${ids.length} failed: ${problemText(failed[0].reason)}`);
    else onDone();
  };
  const update = (change: { archived?: boolean; pinned?: boolean }): void =>
    void each(async (id) => sessions.accept(await daemon.session(id).update(change)));
  const none = ids.length === 0;
  return (
    <div className="bulk-bar" role="toolbar" aria-label="Selected sessions">
      <div className="bulk-line">
        <strong>{ids.length} chosen</strong>
        <Button look="quiet" className="small" onClick={onAll}>
          All
        </Button>
        <span className="grow" />
        <IconButton icon="cross" className="small" label="Clear the selection" onClick={onDone} />
      </div>
      <div className="bulk-line">
        <Button className="small" icon="archive" disabled={none} onClick={() => update({ archived: true })}>
          Archive
        </Button>
        <Button className="small" icon="pin" disabled={none} onClick={() => update({ pinned: true })}>
          Pin
        </Button>
        <Button
          className="small"
          icon="stop"
          disabled={none}
          onClick={() =>
            void each(async (id) => {
              if (sessions.get(id)?.status !== "ended") await daemon.session(id).terminate();
            })
          }
        >
          End
        </Button>
        <Button className="small" look="danger" icon="trash" disabled={none} onClick={() => setSure(true)}>
          Delete
        </Button>
      </div>
      {fault && <Notice kind="error">{fault}</Notice>}
      <Dialog open={sure} onClose={() => setSure(false)} title={`Delete ${ids.length} sessions`}>
        <div className="dialog-body">
          <p>They and all their events are removed from the log. This cannot be undone.</p>
        </div>
        <div className="dialog-foot">
          <span className="grow" />
          <Button onClick={() => setSure(false)}>Keep</Button>
          <Button
            look="danger"
            onClick={() => {
              setSure(false);
              void each(async (id) => {
                await daemon.session(id).remove();
                sessions.removed(id);
              });
            }}
          >
            Delete {ids.length}
          </Button>
        </div>
      </Dialog>
    </div>
  );
}
