/** Where a session comes from, and which sessions its agent started for parts of its work. The list has every session, archived ones too. */
import { Popover } from "@base-ui/react/popover";
import { useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { hrefOf } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useSignal } from "../state/store.ts";
import { Icon } from "../ui/icons.tsx";
import { titleOf } from "./session-row.tsx";
import { StatusTag } from "./status.tsx";

export function FamilyLinks({ row }: { row: Session }) {
  const rows = useSignal(sessions.changed, sessions.list);
  const children = rows.filter((each) => each.parent_session_id === row.session_id);
  return (
    <>
      {row.parent_session_id && <Ancestor id={row.parent_session_id} words="Part of" />}
      {row.forked_from && <Ancestor id={row.forked_from} words="Forked from" />}
      {children.length > 0 && <Children rows={children} />}
    </>
  );
}

/** A session that was removed has no page to open. */
function Ancestor({ id, words }: { id: string; words: string }) {
  const row = useSignal(sessions.changed, () => sessions.get(id));
  if (!row) return <span className="dim family">{words} a removed session</span>;
  return (
    <a className="family" href={hrefOf({ page: "session", id })} title={`${words} ${titleOf(row)}`}>
      <Icon name="branch" size={13} />
      <span className="dim">{words}</span> <bdi>{titleOf(row)}</bdi>
    </a>
  );
}

function Children({ rows }: { rows: readonly Session[] }) {
  const [open, setOpen] = useState(false);
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger className="family family-button">
        <Icon name="branch" size={13} />
        {rows.length === 1 ? "1 child session" : `${rows.length} child sessions`}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner className="positioner" sideOffset={6} align="start" collisionPadding={12}>
          <Popover.Popup className="popup" aria-label="Child sessions">
            {rows.map((each) => (
              <a
                key={each.session_id}
                className="menu-item family-item"
                href={hrefOf({ page: "session", id: each.session_id })}
                onClick={() => setOpen(false)}
              >
                <bdi className="grow">{titleOf(each)}</bdi>
                <StatusTag row={each} />
              </a>
            ))}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
