/** Where a person writes: message, attachments, slash commands; send, queue, steer, interrupt. */
import { type DragEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { choosesCommand } from "../../../src/client/chosen-command.ts";
import type { ConfigChanged } from "../../../src/schema/event-data.ts";
import type { Session } from "../../../src/schema/session.ts";
import type { QueuedMessage } from "../../../src/schema/snapshot.ts";
import { usePathMenu } from "../files/path-menu.tsx";
import { forkAndOpen } from "../sessions/session-actions.tsx";
import { agentOf, agents, can } from "../state/agents.ts";
import { daemon, problemText } from "../state/daemon.ts";
import { returnedTo, sendMessage, takeReturned } from "../state/send-message.ts";
import { link, sessions } from "../state/sessions.ts";
import { useSignal, useStore } from "../state/store.ts";
import { Button, Notice } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { AttachmentList } from "./attachment-list.tsx";
import { draftOf, keepDraft } from "./drafts.ts";
import { focusUnlessTyping } from "./focus.ts";
import { Queue, waitingOf } from "./queue.tsx";
import { Settings } from "./settings.tsx";
import { useSlashMenu } from "./slash-menu.tsx";
import { AttachButton, useAttached } from "./use-attached.tsx";
import { useGrowing } from "./use-growing.ts";

const HIGHEST = 260;

export function Composer({ row, config, queue }: { row: Session; config: ConfigChanged; queue: readonly QueuedMessage[] }) {
  const [text, setText] = useState(() => draftOf(row.session_id));
  const [fault, setFault] = useState<string | null>(null);
  const { files, setFiles, add, onPaste } = useAttached(setFault);
  const [over, setOver] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const info = agentOf(useStore(agents), row.agent);
  const busy = row.status === "running" || row.status === "waiting" || row.status === "starting";
  const waiting = waitingOf(queue).length;
  const canSteer = busy && can(info, "steer");
  const menu = useSlashMenu(text, config.commands ?? [], (name) => {
    setText(name.startsWith("$") ? `${name} ` : `/${name} `);
    area.current?.focus();
  });
  const paths = usePathMenu(row.session_id, text, area, (made, caret) => {
    setText(made);
    requestAnimationFrame(() => area.current?.setSelectionRange(caret, caret));
  });
  useGrowing(area, text, HIGHEST);
  useEffect(() => keepDraft(row.session_id, text), [text, row.session_id]);

  useEffect(() => focusUnlessTyping(area.current), []);
  const reached = useStore(link).state === "live";
  // What could not be reached a moment ago is no news any more.
  useEffect(() => {
    if (reached) setFault(null);
  }, [reached]);
  const failed = useSignal(sessions.changed, () => returnedTo(row.session_id));
  // A message was not taken: its words come back, before what was written since.
  useEffect(() => {
    if (!failed) return;
    takeReturned(row.session_id);
    setFault(failed.detail);
    setText((now) => (now === "" ? failed.text : `${failed.text}\n\n${now}`));
    setFiles((now) => [...failed.files, ...now]);
  }, [failed, row.session_id, setFiles]);

  const handle = daemon.session(row.session_id);
  const send = async (when: "queue" | "steer"): Promise<void> => {
    if (text.trim() === "" && files.length === 0) return;
    setFault(null);
    setText("");
    setFiles([]);
    const command = choosesCommand(text, config.commands ?? []);
    // What waits behind a running turn is shown in the queue; what can begin is shown at once.
    await sendMessage(row.session_id, { text, files, when, command }, !busy);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.nativeEvent.isComposing || menu.onKeyDown(event) || paths.onKeyDown(event)) return;
    if (event.key === "Escape") event.currentTarget.blur();
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    void send(canSteer && (event.metaKey || event.ctrlKey) ? "steer" : "queue");
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void add(event.dataTransfer.files);
  };
  if (row.status === "ended") return <Closed row={row} canFork={can(info, "fork")} />;
  return (
    <section
      className={`composer ${over ? "over" : ""}`}
      aria-label="Composer"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      {fault && <Notice kind="error">{fault}</Notice>}
      {menu.element}
      {paths.element}
      <Queue session={row.session_id} messages={queue} canSend={canSteer || !busy} onFault={setFault} />
      <AttachmentList files={files} onChange={setFiles} />
      <textarea
        id="composer"
        ref={area}
        rows={1}
        value={text}
        placeholder={
          busy
            ? "Queue a message for the next turn"
            : row.status === "dormant"
              ? "Message the agent to resume the session"
              : "Message the agent"
        }
        aria-label="Message"
        {...menu.aria}
        {...paths.aria}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className="composer-bar">
        <AttachButton onAdd={add} />
        <Settings row={row} config={config} onFault={setFault} />
        <span className="grow" />
        {row.status === "dormant" && (
          <Button
            icon="play"
            className="resume"
            title="Start the agent now. The next message starts it, too."
            onClick={() =>
              void handle.resume().then(
                (row) => sessions.accept(row),
                (error: unknown) => setFault(problemText(error)),
              )
            }
          >
            Resume
          </Button>
        )}
        {waiting > 0 && <span className="dim">{waiting} queued</span>}
        {busy && (
          <Button
            icon="stop"
            className="interrupt"
            aria-keyshortcuts="Control+."
            onClick={() => void handle.interrupt().catch((error: unknown) => setFault(problemText(error)))}
          >
            Interrupt
          </Button>
        )}
        {canSteer && (
          <Button
            disabled={text.trim() === ""}
            title="Send it into the running turn (Ctrl+Enter)"
            onClick={() => void send("steer")}
          >
            Steer
          </Button>
        )}
        <Button
          look="primary"
          className="send"
          aria-label={busy ? "Queue" : "Send"}
          title={busy ? "Queue (Enter)" : "Send (Enter)"}
          disabled={text.trim() === "" && files.length === 0}
          onClick={() => void send("queue")}
        >
          <Icon name="send" />
          {busy && "Queue"}
        </Button>
      </div>
    </section>
  );
}

/** In place of the composer once the session has ended. */
function Closed({ row, canFork }: { row: Session; canFork: boolean }) {
  const [fault, setFault] = useState<string | null>(null);
  const forkable = canFork && row.native_session_id !== null;
  return (
    <div className="composer-closed">
      <span>This session has ended.</span>
      {forkable && (
        <Button
          icon="branch"
          onClick={() => void forkAndOpen(row.session_id).catch((error: unknown) => setFault(problemText(error)))}
        >
          Fork it to continue
        </Button>
      )}
      {fault && <Notice kind="error">{fault}</Notice>}
    </div>
  );
}
