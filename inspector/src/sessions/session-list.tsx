/** The list itself: groups and rows as one flat, virtual list, so that ten thousand sessions scroll like ten. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { Session } from "../../../src/schema/session.ts";
import { seen } from "../state/preferences.ts";
import { route } from "../state/route.ts";
import { useStore } from "../state/store.ts";
import { scrollable } from "../ui/scrollable.ts";
import { type Grouping, groupsOf } from "./groups.ts";
import { SessionRow } from "./session-row.tsx";

type Line =
  | { kind: "head"; key: string; label: string; title: string | undefined; count: number }
  | { kind: "row"; group: string; row: Session };

const HEAD = 32;
const ROW = 54;

type Props = {
  rows: readonly Session[];
  grouping: Grouping;
  now: number;
  chosen: ReadonlySet<string> | null;
  onChoose(id: string, on: boolean, range: boolean): void;
  onAnswer(id: string, anchor: Element): void;
};

export function SessionList({ rows, grouping, now, chosen, onChoose, onAnswer }: Props) {
  const read = useStore(seen);
  const here = useStore(route);
  const current = here.page === "session" ? here.id : null;
  const scroller = useRef<HTMLDivElement>(null);
  const day = new Date(now).setHours(0, 0, 0, 0);
  const lines = useMemo(
    (): Line[] =>
      groupsOf(rows, grouping, day).flatMap((group): Line[] => [
        { kind: "head", key: group.key, label: group.label, title: group.title, count: group.rows.length },
        ...group.rows.map((row): Line => ({ kind: "row", group: group.label, row })),
      ]),
    [rows, grouping, day],
  );
  const getItemKey = useCallback((index: number) => keyOf(lines[index], index), [lines]);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (lines[index]?.kind === "head" ? HEAD : ROW),
    getItemKey,
    overscan: 6,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: heads and rows have two heights, and changed places.
  useEffect(() => virtual.measure(), [lines]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another session brings its row into sight.
  useEffect(() => {
    const index = lines.findIndex((line) => line.kind === "row" && line.row.session_id === current);
    if (index >= 0) virtual.scrollToIndex(index, { align: "auto" });
  }, [current]);
  return (
    <div className="session-list" id="session-list" ref={scroller} {...scrollable}>
      <div className="session-space" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const line = lines[index] as Line;
          return (
            <div key={key} className="session-place" style={{ transform: `translateY(${start}px)` }}>
              {line.kind === "head" ? (
                <h2 className="group-head" title={line.title}>
                  <bdi>{line.label}</bdi>
                  <span className="group-count">{line.count}</span>
                </h2>
              ) : (
                <SessionRow
                  row={line.row}
                  group={line.group}
                  current={line.row.session_id === current}
                  unread={line.row.session_id !== current && line.row.last_sequence > (read[line.row.session_id] ?? 0)}
                  now={now}
                  chosen={chosen === null ? null : chosen.has(line.row.session_id)}
                  onChoose={onChoose}
                  onAnswer={onAnswer}
                />
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const keyOf = (line: Line | undefined, index: number): string | number =>
  line === undefined ? index : line.kind === "head" ? `head ${line.key}` : line.row.session_id;
