/** What can be done with one message: copy it or a link to it, go on from it in a fork, or say it differently. Shown when the message is pointed at or has the focus. */
import { useState } from "react";
import type { Item } from "../../../src/schema/item.ts";
import { agentOf, agents, can } from "../state/agents.ts";
import { access, canOperate, problemText } from "../state/daemon.ts";
import { hrefOf } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useStore } from "../state/store.ts";
import { Button, CopyButton, IconButton, Notice } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { beforeTurn, forkAt, textOf } from "./branch.ts";
import { useView } from "./context.ts";

export function MessageActions({ item }: { item: Item }) {
  const view = useView();
  const operate = canOperate(useStore(access));
  const info = agentOf(useStore(agents), sessions.get(view.id)?.agent ?? "");
  const [editing, setEditing] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const text = textOf(item);
  const mine = item.role === "user";
  const forkable = operate && can(info, "fork");
  const at = view.fold.sequenceOf(item.item_id);
  const link = (): string =>
    `${location.origin}${location.pathname}${hrefOf({ page: "session", id: view.id, ...(at === undefined ? {} : { at }) })}`;
  const attempt = (act: Promise<void>): void => void act.catch((error: unknown) => setFault(problemText(error)));
  if (text === "") return null;
  return (
    <div className="message-actions">
      <CopyButton small label="Copy message" text={() => text} />
      <CopyButton small label="Copy link" icon="link" text={link} />
      {mine && forkable && <IconButton className="small" icon="edit" label="Edit and resend" onClick={() => setEditing(true)} />}
      {!mine && forkable && at !== undefined && (
        <IconButton
          className="small"
          icon="branch"
          label="Fork from here"
          onClick={() => attempt(forkAt(view.id, endOf(view, item) ?? at))}
        />
      )}
      {fault && (
        <Dialog open onClose={() => setFault(null)} title="That did not work">
          <div className="dialog-body">
            <Notice kind="error">{fault}</Notice>
          </div>
        </Dialog>
      )}
      {editing && (
        <EditDialog
          text={text}
          onClose={() => setEditing(false)}
          onSend={(changed) => {
            setEditing(false);
            const before = item.turn_id === null ? undefined : beforeTurn(view, item.turn_id);
            const resent = { turn_id: item.turn_id, text: changed };
            attempt(forkAt(view.id, before ?? Math.max(1, (at ?? 2) - 1), resent));
          }}
        />
      )}
    </div>
  );
}

/** The end of the turn the message belongs to: agents branch off between turns. */
const endOf = ({ fold }: ReturnType<typeof useView>, { turn_id }: Item): number | undefined =>
  fold.entries().find((entry) => entry.kind === "turn-end" && entry.turn_id === turn_id)?.sequence;

function EditDialog({ text, onClose, onSend }: { text: string; onClose(): void; onSend(text: string): void }) {
  const [value, setValue] = useState(text);
  return (
    <Dialog open onClose={onClose} title="Edit and resend" wide>
      <div className="dialog-body">
        <textarea
          aria-label="Edited message"
          rows={6}
          value={value}
          onChange={(event) => setValue(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && value.trim() !== "") onSend(value);
          }}
        />
        <p className="dim">It is sent in a new session, forked before this message. This session stays as it is.</p>
      </div>
      <div className="dialog-foot">
        <span className="grow" />
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" icon="send" title="Ctrl+Enter" disabled={value.trim() === ""} onClick={() => onSend(value)}>
          Send in a fork
        </Button>
      </div>
    </Dialog>
  );
}
