// A session's status as a dot and as a word.
import type { Session } from "../../../src/schema/session.ts";
import { failureOf } from "../../../src/schema/session-failure.ts";

const WORDS = {
  starting: "starting",
  idle: "idle",
  running: "running",
  waiting: "waiting for you",
  dormant: "dormant",
  ended: "ended",
} as const;

export const statusWord = (row: Session): string => {
  if (row.ended?.reason === "error") return "ended with an error";
  return failureOf(row) ? "failed" : WORDS[row.status];
};

const toneOf = (row: Session): string => (row.ended?.reason === "error" || failureOf(row) ? "failed" : row.status);

export const StatusDot = ({ row }: { row: Session }) => (
  <span className={`dot ${toneOf(row)}`} title={statusWord(row)} aria-hidden="true" />
);

export const StatusTag = ({ row }: { row: Session }) => (
  <span className={`status-tag ${toneOf(row)}`} data-status={row.status}>
    <StatusDot row={row} />
    {statusWord(row)}
    {row.status_detail && <span className="dim">{row.status_detail}</span>}
  </span>
);
