/** One session in the list: who, what, since when, its last line, and whether it waits. Its parts are few: a list may hold ten thousand of them. */
import { memo } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { hrefOf } from "../state/route.ts";
import { AgentIcon } from "../ui/agent-icon.tsx";
import { ago, baseName } from "../ui/format.ts";
import { Icon } from "../ui/icons.tsx";
import { leaveSidebar } from "./sidebar-toggle.tsx";
import { StatusDot, statusWord } from "./status.tsx";
import { useShownLine } from "./use-last-line.ts";

type Props = {
  row: Session;
  group: string;
  current: boolean;
  unread: boolean;
  now: number;
  /** Null: nothing is being chosen. */
  chosen: boolean | null;
  onChoose(id: string, on: boolean, range: boolean): void;
  onAnswer(id: string, anchor: Element): void;
};

export const titleOf = (row: Session): string => visibleLine(row.title ?? "New session");

export const SessionRow = memo(function SessionRow(props: Props) {
  const { row, group, current, unread, now, chosen, onChoose, onAnswer } = props;
  const waiting = row.pending.permissions + row.pending.questions;
  const id = row.session_id;
  return (
    <div className={`session-item ${current ? "current" : ""} ${unread ? "unread" : ""}`} data-group={group}>
      {chosen !== null && (
        <input
          type="checkbox"
          className="session-choose"
          aria-label={`Select ${titleOf(row)}`}
          checked={chosen}
          onChange={() => {}}
          onClick={(event) => onChoose(id, event.currentTarget.checked, event.shiftKey)}
        />
      )}
      <a
        className={`session-row ${unread ? "unread" : ""}`}
        href={hrefOf({ page: "session", id })}
        aria-current={current ? "page" : undefined}
        onClick={leaveSidebar}
      >
        <span className="session-sign">
          <AgentIcon agent={row.agent} />
          <StatusDot row={row} />
        </span>
        <span className="session-title">
          {row.pinned && <Icon name="pin" size={11} />}
          <bdi>{titleOf(row)}</bdi>
        </span>
        <span className="session-time">{ago(row.updated_at, now)}</span>
        <Second row={row} />
        {unread && waiting === 0 && <span className="unread-dot" role="img" aria-label="unread" />}
        <span className="sr">
          {row.agent} {statusWord(row)} {row.pinned ? "pinned" : ""}
        </span>
      </a>
      {waiting > 0 && (
        <button
          type="button"
          className="badge"
          title={`${waiting} waiting for you: answer here`}
          aria-label={`Answer ${titleOf(row)}: ${waiting} waiting for you`}
          onClick={(event) => onAnswer(id, event.currentTarget)}
        >
          {waiting}
        </button>
      )}
    </div>
  );
});

function Second({ row }: { row: Session }) {
  const line = useShownLine(row);
  return (
    <span className="session-meta">
      {row.tags.map((tag) => (
        <span key={tag} className="tag">
          <bdi>{visibleLine(tag)}</bdi>
        </span>
      ))}
      {row.node !== undefined && (
        <span
          className={`tag ${row.reachable === false ? "bad" : ""}`}
          title={row.node === null ? "No node owns it now" : "Its node"}
        >
          <bdi>{visibleLine(row.node ?? `waits for ${row.home ?? "a node"}`)}</bdi>
        </span>
      )}
      <span className="session-line" title={visibleLine(row.directory)}>
        {row.queued > 0 && `${row.queued} queued · `}
        {line?.byUser && "You: "}
        <bdi>{visibleLine(line?.text ?? baseName(row.directory))}</bdi>
      </span>
    </span>
  );
}
