// One session in the list.
import { memo } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { visibleLine } from "../../../src/schema/visible-text.ts";
import { hrefOf } from "../state/route.ts";
import { ago, baseName, money } from "../ui/format.ts";
import { Icon } from "../ui/icons.tsx";
import { leaveSidebar } from "./sidebar-toggle.tsx";
import { StatusDot, statusWord } from "./status.tsx";

type Props = { row: Session; current: boolean; unread: boolean; now: number };

export const titleOf = (row: Session): string => visibleLine(row.title ?? row.session_id);

export const SessionRow = memo(function SessionRow({ row, current, unread, now }: Props) {
  const waiting = row.pending.permissions + row.pending.questions;
  return (
    <a
      className={`session-row ${current ? "current" : ""} ${unread ? "unread" : ""}`}
      href={hrefOf({ page: "session", id: row.session_id })}
      aria-current={current ? "page" : undefined}
      onClick={leaveSidebar}
    >
      <StatusDot row={row} />
      <span className="session-title">
        <bdi>{titleOf(row)}</bdi>
      </span>
      <span className="session-time">{ago(row.updated_at, now)}</span>
      <span className="session-meta">
        <span>{row.agent}</span>
        <span title={visibleLine(row.directory)}>
          <bdi>{visibleLine(baseName(row.directory))}</bdi>
        </span>
        {row.usage?.cost_usd !== undefined && <span>{money(row.usage.cost_usd)}</span>}
        {row.queued > 0 && <span>{row.queued} queued</span>}
        {row.pinned && (
          <span className="pin" title="Pinned">
            <Icon name="flag" size={11} />
            <span className="sr">pinned</span>
          </span>
        )}
        {row.tags.map((tag) => (
          <span key={tag} className="tag">
            <bdi>{visibleLine(tag)}</bdi>
          </span>
        ))}
      </span>
      {waiting > 0 ? (
        <span className="badge" title={`${waiting} waiting for you`}>
          {waiting}
          <span className="sr"> waiting for you</span>
        </span>
      ) : unread ? (
        <span className="unread-dot" role="img" aria-label="unread" />
      ) : null}
      <span className="sr">{statusWord(row)}</span>
    </a>
  );
});
