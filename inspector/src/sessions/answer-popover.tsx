/** What one session of the list waits for, answered beside its row. */
import { Popover } from "@base-ui/react/popover";
import { RequestCards } from "../requests/request-cards.tsx";
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { titleOf } from "./session-row.tsx";

export type Answering = { id: string; anchor: Element } | null;

export function AnswerPopover({ answering, onClose }: { answering: Answering; onClose(): void }) {
  const row = useSignal(sessions.changed, () => (answering ? sessions.get(answering.id) : undefined));
  const waits = row !== undefined && row.pending.permissions + row.pending.questions > 0;
  return (
    <Popover.Root open={answering !== null && waits} onOpenChange={(open) => !open && onClose()}>
      <Popover.Portal>
        <Popover.Positioner
          className="positioner"
          anchor={answering?.anchor ?? null}
          side="right"
          sideOffset={8}
          align="start"
          collisionPadding={12}
        >
          <Popover.Popup className="popup answer-popover" aria-label={row ? `${titleOf(row)} waits for you` : "Waiting"}>
            {row && (
              <>
                <p className="menu-head">{titleOf(row)}</p>
                <RequestCards session={row.session_id} agent={row.agent} chords={false} />
              </>
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
