/** Messages that wait for their turn: the session's own queue, the same in every window. They can be edited, moved, removed, and sent before their time. */
import { type KeyboardEvent, useRef, useState } from "react";
import type { QueuedMessage } from "../../../src/schema/snapshot.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { IconButton } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { useKeptFocus } from "../ui/use-kept-focus.ts";
import { focusComposer } from "./focus.ts";
import { useGrowing } from "./use-growing.ts";

const HIGHEST = 120;

/** A message that is being delivered, or given to the running turn, is as good as sent: it does not wait. */
export const waitingOf = (queue: readonly QueuedMessage[]): readonly QueuedMessage[] =>
  queue.filter(({ attempts = 0, steering }, index) => steering === undefined && (index > 0 || attempts === 0));

type QueueProps = {
  session: string;
  messages: readonly QueuedMessage[];
  /** The agent takes messages into a running turn, or no turn runs. */
  canSend: boolean;
  onFault(text: string): void;
};

export function Queue({ session, messages, canSend, onFault }: QueueProps) {
  const [editing, setEditing] = useState<string | null>(null);
  const shown = waitingOf(messages);
  const keptFocus = useKeptFocus("li", (message) => {
    const edit = message?.querySelector<HTMLElement>(".icon-button");
    if (edit) edit.focus();
    else focusComposer();
  });
  if (shown.length === 0) return null;
  const handle = daemon.session(session);
  const run = (command: Promise<unknown>): void => void command.catch((error: unknown) => onFault(problemText(error)));
  return (
    <ul className="queue" aria-label="Queued messages" {...keptFocus}>
      {shown.map((message, index) => {
        const { message_id, text, attachments } = message;
        // A field that loses the focus to another message's button does not end that one's editing.
        const done = (changed: string | null): void => {
          setEditing((now) => (now === message_id ? null : now));
          if (changed !== null && changed !== text) run(handle.updateQueued(message_id, { text: changed }));
        };
        return (
          <li key={message_id}>
            <Icon name="send" size={12} />
            {editing === message_id ? (
              <Editor text={text} onDone={done} />
            ) : (
              <span className="grow" title={text}>
                {text}
              </span>
            )}
            {attachments && <span className="dim">{attachments.length} attached</span>}
            <IconButton icon="edit" label={`Edit: ${text}`} onClick={() => setEditing(message_id)} />
            <IconButton
              icon="up"
              label={`Move up: ${text}`}
              disabled={index === 0}
              onClick={() => run(handle.updateQueued(message_id, { before: shown[index - 1]?.message_id ?? "" }))}
            />
            {canSend && <IconButton icon="play" label={`Send now: ${text}`} onClick={() => run(handle.sendQueued(message_id))} />}
            <IconButton icon="cross" label={`Remove: ${text}`} onClick={() => run(handle.removeQueued(message_id))} />
          </li>
        );
      })}
    </ul>
  );
}

/** `null`: nothing was changed. */
function Editor({ text, onDone }: { text: string; onDone(changed: string | null): void }) {
  const [value, setValue] = useState(text);
  const area = useRef<HTMLTextAreaElement>(null);
  useGrowing(area, value, HIGHEST);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") onDone(null);
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    if (value.trim() !== "") onDone(value);
  };
  return (
    <textarea
      // biome-ignore lint/a11y/noAutofocus: the person asked to write here.
      autoFocus
      ref={area}
      rows={1}
      className="grow"
      aria-label="Queued message"
      value={value}
      onChange={(event) => setValue(event.target.value)}
      onBlur={() => onDone(value.trim() === "" ? null : value)}
      onKeyDown={onKeyDown}
    />
  );
}
