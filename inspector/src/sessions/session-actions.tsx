/** What can be done with a session: rename, file, fork, compare, share, save, end, delete. */
import { Menu } from "@base-ui/react/menu";
import { useState } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { agentOf, agents, can } from "../state/agents.ts";
import { access, asCurl, canOperate, daemon, problemText, sessionPath } from "../state/daemon.ts";
import { go, hrefOf } from "../state/route.ts";
import { sessions } from "../state/sessions.ts";
import { useStore } from "../state/store.ts";
import { download, saveBlob } from "../ui/artifact.tsx";
import { Button, Notice } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { copyAndSay, note } from "../ui/note.tsx";
import { titleOf } from "./session-row.tsx";
import { ShareDialog } from "./share-dialog.tsx";
import { TextForm } from "./text-form.tsx";

type Asking = "rename" | "tags" | "delete" | "share" | null;

export function SessionActions({ row }: { row: Session }) {
  const operate = canOperate(useStore(access));
  const info = agentOf(useStore(agents), row.agent);
  const [asking, setAsking] = useState<Asking>(null);
  const [fault, setFault] = useState<string | null>(null);
  const attempt = (act: () => Promise<void>) => (): void => {
    setFault(null);
    act().catch((error: unknown) => setFault(problemText(error)));
  };
  const handle = daemon.session(row.session_id);
  const file = (change: { pinned?: boolean; archived?: boolean }, what: string) =>
    attempt(async () => {
      sessions.accept(await handle.update(change));
      note(what);
    });
  return (
    <>
      <Menu.Root>
        <Menu.Trigger className="icon-button" aria-label="Session actions" title="Session actions">
          <Icon name="dots" />
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="positioner" sideOffset={4} align="end">
            <Menu.Popup className="popup menu">
              <Menu.Item className="menu-item" disabled={!operate} onClick={() => setAsking("rename")}>
                <Icon name="edit" /> Rename
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                disabled={!operate}
                onClick={file({ pinned: !row.pinned }, row.pinned ? "Unpinned" : "Pinned")}
              >
                <Icon name="pin" /> {row.pinned ? "Unpin" : "Pin"}
              </Menu.Item>
              <Menu.Item className="menu-item" disabled={!operate} onClick={() => setAsking("tags")}>
                <Icon name="tag" /> Tags
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                disabled={!operate}
                onClick={file({ archived: !row.archived }, row.archived ? "Taken out of the archive" : "Archived")}
              >
                <Icon name="archive" /> {row.archived ? "Take out of the archive" : "Archive"}
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                disabled={!operate || !can(info, "fork")}
                onClick={attempt(() => forkAndOpen(row.session_id))}
              >
                <Icon name="branch" /> Fork
              </Menu.Item>
              <Menu.Item className="menu-item" onClick={() => go({ page: "compare", ids: [row.session_id, otherThan(row)] })}>
                <Icon name="columns" /> Compare side by side
              </Menu.Item>
              <Menu.Separator className="menu-line" />
              <Menu.Item className="menu-item" onClick={() => copyAndSay(linkTo(row.session_id), "Link")}>
                <Icon name="link" /> Copy link
              </Menu.Item>
              <Menu.Item className="menu-item" disabled={!operate} onClick={() => setAsking("share")}>
                <Icon name="share" /> Share read-only
              </Menu.Item>
              <Menu.Item className="menu-item" onClick={attempt(() => saveText(row, "md"))}>
                <Icon name="download" /> Save as Markdown
              </Menu.Item>
              <Menu.Item className="menu-item" onClick={attempt(() => saveText(row, "html"))}>
                <Icon name="download" /> Save as HTML
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                disabled={!operate}
                onClick={attempt(() => download(`${sessionPath(row.session_id)}/export`, `${row.session_id}.ndjson`))}
              >
                <Icon name="download" /> Export all events
              </Menu.Item>
              <Menu.Item
                className="menu-item"
                onClick={() =>
                  copyAndSay(asCurl({ method: "GET", path: `${sessionPath(row.session_id)}/events/sse`, body: null }), "Command")
                }
              >
                <Icon name="copy" /> Copy stream as curl
              </Menu.Item>
              <Menu.Separator className="menu-line" />
              <Menu.Item
                className="menu-item"
                disabled={!operate || row.status === "ended"}
                onClick={attempt(() => handle.terminate())}
              >
                <Icon name="stop" /> End session
              </Menu.Item>
              <Menu.Item className="menu-item danger" disabled={!operate} onClick={() => setAsking("delete")}>
                <Icon name="trash" /> Delete
              </Menu.Item>
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {fault && (
        <Dialog open onClose={() => setFault(null)} title="That did not work">
          <div className="dialog-body">
            <Notice kind="error">{fault}</Notice>
          </div>
        </Dialog>
      )}
      <Dialog open={asking === "rename"} onClose={() => setAsking(null)} title="Rename session">
        <TextForm
          row={row}
          label="Title"
          value={row.title ?? ""}
          maxLength={500}
          submit="Rename"
          changeOf={(title) => ({ title })}
          onDone={() => setAsking(null)}
        />
      </Dialog>
      <Dialog open={asking === "tags"} onClose={() => setAsking(null)} title="Tags">
        <TextForm
          row={row}
          label="Tags, separated by commas"
          value={row.tags.join(", ")}
          placeholder="review, customer-a"
          submit="Save"
          changeOf={(text) => ({ tags: tagsOf(text) })}
          onDone={() => setAsking(null)}
        />
      </Dialog>
      {asking === "share" && <ShareDialog row={row} onClose={() => setAsking(null)} />}
      <Dialog open={asking === "delete"} onClose={() => setAsking(null)} title="Delete session">
        <div className="dialog-body">
          <p>
            “{titleOf(row)}” and all its {row.last_sequence.toLocaleString()} events are removed from the log. This cannot be
            undone.
          </p>
        </div>
        <div className="dialog-foot">
          <span className="grow" />
          <Button onClick={() => setAsking(null)}>Keep</Button>
          <Button
            look="danger"
            onClick={attempt(async () => {
              setAsking(null);
              await handle.remove();
              sessions.removed(row.session_id);
              go({ page: "home" });
            })}
          >
            Delete
          </Button>
        </div>
      </Dialog>
    </>
  );
}

export const linkTo = (id: string): string => `${location.origin}${location.pathname}${hrefOf({ page: "session", id })}`;

export async function forkAndOpen(id: string): Promise<void> {
  const forked = await daemon.session(id).fork();
  sessions.accept(await forked.get());
  go({ page: "session", id: forked.id });
}

async function saveText(row: Session, kind: "md" | "html"): Promise<void> {
  const { htmlOf, markdownOf } = await import("../export/transcript-text.ts");
  const [text, type] = kind === "md" ? [await markdownOf(row), "text/markdown"] : [await htmlOf(row), "text/html"];
  saveBlob(new Blob([text], { type }), `${row.session_id}.${kind}`);
}

/** The one to compare with first: where it was forked from, or the newest other. */
const otherThan = ({ session_id, forked_from }: Session): string =>
  forked_from ?? sessions.list().find((row) => row.session_id !== session_id)?.session_id ?? session_id;

/** Each once, without empty ones. */
const tagsOf = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean),
  ),
];
