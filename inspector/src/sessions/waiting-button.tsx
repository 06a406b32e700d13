/** All that waits for an answer, from anywhere, answered in place. */
import { Popover } from "@base-ui/react/popover";
import { useState } from "react";
import { RequestCards } from "../requests/request-cards.tsx";
import { preferences } from "../state/preferences.ts";
import { hrefOf } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { Button } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { titleOf } from "./session-row.tsx";

export function WaitingButton() {
  const requests = useSignal(sessions.changed, sessions.requests);
  const { notifications } = useStore(preferences);
  const [open, setOpen] = useState(false);
  const [asked, setAsked] = useState(false);
  if (requests.length === 0) return null;
  const mayAsk = notifications && "Notification" in window && Notification.permission === "default" && !asked;
  const ids = [...new Set(requests.map((each) => each.session_id))];
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger className="waiting-button">
        <Icon name="bell" size={14} />
        {requests.length} waiting for you
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className="positioner" sideOffset={6} align="start" collisionPadding={12}>
          <Popover.Popup className="popup answer-popover" aria-label="Waiting for you">
            {ids.map((id) => (
              <WaitingSession key={id} id={id} onOpen={() => setOpen(false)} />
            ))}
            {mayAsk && (
              <Button look="quiet" icon="bell" onClick={() => void Notification.requestPermission().then(() => setAsked(true))}>
                Notify me in this browser
              </Button>
            )}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function WaitingSession({ id, onOpen }: { id: string; onOpen(): void }) {
  const row = useSignal(sessions.changed, () => sessions.get(id));
  if (!row) return null;
  return (
    <section className="waiting-session" aria-label={titleOf(row)}>
      <a className="menu-head" href={hrefOf({ page: "session", id })} onClick={onOpen}>
        {titleOf(row)} <Icon name="chevron" size={12} />
      </a>
      <RequestCards session={id} agent={row.agent} chords={false} />
    </section>
  );
}
