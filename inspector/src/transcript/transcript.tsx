// The open session's transcript: only what is in sight is rendered. It follows the end while the reader is there, and stays put while they read above.
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useSignal, useStore } from "../state/store.ts";
import { Boundary } from "../ui/boundary.tsx";
import { Icon } from "../ui/icons.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { type TranscriptView, ViewContext } from "./context.ts";
import { EntryRow } from "./entry-row.tsx";
import { MessageRow } from "./message-row.tsx";
import { usePreparedRows } from "./prepare-rows.ts";
import { buildRows, type Row } from "./rows.ts";
import { OutgoingRow, useTail, WorkingRow } from "./tail-rows.tsx";
import { OutcomeRow, ToolRow } from "./tool-row.tsx";

const NEAR_END = 48;
const NEAR_START = 600;
const estimateSize = (): number => 56;

export function TranscriptPane({ view }: { view: TranscriptView }) {
  const rows = useRows(view);
  const scroller = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const [atEnd, setAtEnd] = useState(true);
  // The virtual list places all rows anew whenever this is another function.
  const getItemKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    getItemKey,
    estimateSize,
    overscan: 8,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
    paddingStart: 16,
    paddingEnd: 16,
  });
  const items = virtual.getVirtualItems();
  usePreparedRows(view, rows, items[0]?.index ?? 0, items.at(-1)?.index ?? 0);
  const onScroll = (): void => {
    const element = scroller.current;
    if (!element) return;
    const near = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
    // Rows that came or were measured move the end away from a reader who is there: only a way back leaves it.
    if (near || element.scrollTop < top.current) view.following = near;
    top.current = element.scrollTop;
    setAtEnd(view.following);
    if (element.scrollTop < NEAR_START) void view.loadOlder();
  };
  const toEnd = (): void => {
    view.following = true;
    virtual.scrollToEnd();
  };
  const opened = useRef(false);
  useLayoutEffect(() => {
    if (opened.current || rows.length === 0) return;
    opened.current = true;
    virtual.scrollToEnd();
  }, [rows.length, virtual]);
  // What grows below the transcript (the queue, a request) makes it lower: a reader at the end stays there.
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const watch = new ResizeObserver(() => {
      if (view.following) virtual.scrollToEnd();
    });
    watch.observe(element);
    return () => watch.disconnect();
  }, [view, virtual]);
  const total = virtual.getTotalSize();
  useLayoutEffect(() => {
    if (view.following && total > 0) virtual.scrollToEnd();
  }, [total, view, virtual]);
  // A first page shorter than the window leaves no scroll to ask for more. Asked when the rows in sight are measured, because a long message is estimated as
  // short as any other; and of the list, not of the page: that would lay it out once more a frame.
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again whenever rows came or were measured and it is still short.
  useEffect(() => {
    if (items.length === 0 || !view.hasOlder) return;
    if (virtual.getTotalSize() <= (virtual.scrollRect?.height ?? 0) + NEAR_START) void view.loadOlder();
  }, [items.length, total, rows, view]);
  return (
    <ViewContext value={view}>
      <div className="transcript">
        <div
          ref={scroller}
          className="scroller"
          onScroll={onScroll}
          {...scrollable}
          role="log"
          aria-label="Transcript"
          aria-live="off"
        >
          <div className="column" style={{ height: total }}>
            {items.map(({ key, index, start }) => (
              <div
                key={key}
                data-index={index}
                ref={virtual.measureElement}
                className="row"
                style={{ transform: `translateY(${start}px)` }}
              >
                <RowView row={rows[index] as Row} />
              </div>
            ))}
          </div>
        </div>
        {!atEnd && (
          <button type="button" className="to-end" onClick={toEnd}>
            <Icon name="down" size={14} /> Latest
          </button>
        )}
      </div>
    </ViewContext>
  );
}

/** Rows are built again when entries come or go, and when a call ends; deltas do not touch them. */
function useRows(view: TranscriptView): Row[] {
  const structure = useSignal(view.changed, () => view.fold.structure);
  const fold = useSignal(view.changed, () => view.fold);
  const toggles = useStore(view.toggles);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the fold changes in place and counts its changes in `structure`.
  const stored = useMemo(() => buildRows(fold, toggles), [fold, structure, toggles]);
  const tail = useTail(view);
  return useMemo(() => (tail.length === 0 ? stored : [...stored, ...tail]), [stored, tail]);
}

const RowView = memo(
  function RowView({ row }: { row: Row }) {
    return (
      <div className={`indent-${Math.min(row.depth, 4)}`}>
        <Boundary what="This part of the transcript">
          {row.kind === "message" ? (
            <MessageRow id={row.item_id} />
          ) : row.kind === "tool" ? (
            <ToolRow row={row} />
          ) : row.kind === "outcome" ? (
            <OutcomeRow results={row.results} />
          ) : row.kind === "outgoing" ? (
            <OutgoingRow message={row.message} />
          ) : row.kind === "working" ? (
            <WorkingRow />
          ) : (
            <EntryRow entry={row.entry} />
          )}
        </Boundary>
      </div>
    );
  },
  ({ row: a }, { row: b }) =>
    a.key === b.key &&
    a.depth === b.depth &&
    a.kind === b.kind &&
    (a.kind !== "outcome" || (b.kind === "outcome" && a.results.join() === b.results.join())) &&
    (a.kind !== "entry" || (b.kind === "entry" && a.entry === b.entry)) &&
    (a.kind !== "tool" ||
      (b.kind === "tool" && a.open === b.open && a.children === b.children && a.results.join() === b.results.join())),
);
