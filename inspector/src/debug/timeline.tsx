/** Every event of the session in order, with deltas folded unless they are asked for; found by type, source or words. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { EventSource, UniversalEvent } from "../../../src/schema/event.ts";
import type { EventType } from "../../../src/schema/event-data.ts";
import type { Session } from "../../../src/schema/session.ts";
import { useSignal } from "../state/store.ts";
import type { TranscriptView } from "../transcript/context.ts";
import { Choice } from "../ui/choice.tsx";
import { Button } from "../ui/controls.tsx";
import { exactTime } from "../ui/format.ts";
import { scrollable } from "../ui/scrollable.ts";
import { EventDetail } from "./event-detail.tsx";
import { allEventTypes, eventFamilies } from "./event-families.ts";
import { EventHits } from "./event-hits.tsx";
import { type EventFilter, EventLog } from "./event-log.ts";
import { summaryOf } from "./event-summary.ts";

const ROW = 26;
const estimateSize = (): number => ROW;

const WITHOUT_DELTAS = allEventTypes.filter((type) => type !== "item.delta");
const SOURCES = [
  { value: "any", label: "Any source" },
  { value: "agent", label: "From the agent" },
  { value: "daemon", label: "Made by the daemon" },
];
const TYPES = [
  { value: "", label: "All types" },
  ...eventFamilies.flatMap((each) => [
    { value: each.name, label: `${each.name}: all` },
    ...each.types.map((type) => ({ value: type as string, label: type as string })),
  ]),
];

export function Timeline({ row, view }: { row: Session; view: TranscriptView }) {
  const [family, setFamily] = useState("");
  const [source, setSource] = useState<EventSource | "any">("any");
  const [deltas, setDeltas] = useState(false);
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState<number | null>(null);
  const replay = useSignal(view.changed, () => view.replay);
  const types = useMemo(() => {
    if (family === "") return deltas ? [] : WITHOUT_DELTAS;
    return eventFamilies.find((each) => each.name === family)?.types ?? [family as EventType];
  }, [family, deltas]);
  return (
    <div className="timeline">
      <div className="timeline-filters">
        <input
          type="search"
          aria-label="Search events"
          placeholder="Search this session"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <Choice label="Event type" value={family} options={TYPES} onChange={setFamily} />
        <Choice
          label="Event source"
          value={source}
          options={SOURCES}
          onChange={(value) => setSource(value as EventSource | "any")}
        />
        <Button
          className="small"
          look="quiet"
          aria-pressed={deltas}
          title="Show each piece of a growing text as an event of its own"
          onClick={() => setDeltas(!deltas)}
        >
          Deltas
        </Button>
      </div>
      {words.trim() !== "" && (
        <EventHits
          session={row.session_id}
          words={words}
          chosen={chosen}
          onChoose={(sequence) => {
            setChosen(sequence);
            if (replay !== null) void view.load(sequence);
          }}
        />
      )}
      <EventList
        key={`${family} ${source} ${deltas}`}
        id={row.session_id}
        last={row.last_sequence}
        types={types}
        source={source}
        folded={family === "" && !deltas && source === "any"}
        chosen={chosen}
        shown={replay}
        onChoose={setChosen}
        onUnfold={(sequence) => {
          setDeltas(true);
          setChosen(sequence);
        }}
      />
      {chosen !== null && (
        <EventDetail
          key={chosen}
          id={row.session_id}
          sequence={chosen}
          onClose={() => setChosen(null)}
          onReplay={() => void view.load(chosen)}
        />
      )}
    </div>
  );
}

type ListProps = EventFilter & {
  id: string;
  last: number;
  chosen: number | null;
  /** The sequence the transcript is replayed to: kept in sight. */
  shown: number | null;
  /** Deltas are left out: a line says how many came before it. */
  folded: boolean;
  onChoose(sequence: number): void;
  onUnfold(sequence: number): void;
};

function EventList({ id, last, types, source, folded, chosen, shown, onChoose, onUnfold }: ListProps) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a log grows by itself; its first length must not make a new one.
  const log = useMemo(() => new EventLog(id, { types, source }, last), [id, types, source]);
  const scroller = useRef<HTMLDivElement>(null);
  useSignal(log.changed, log.version);
  useEffect(() => {
    log.open();
    return () => log.close();
  }, [log]);
  useEffect(() => log.reach(last), [log, last]);
  const count = log.count();
  // The virtual list places all rows anew whenever this is another function.
  const getItemKey = useCallback((index: number) => (log.filtered ? (log.at(index)?.sequence ?? index) : index), [log]);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize,
    overscan: 12,
    getItemKey,
    anchorTo: "end",
    followOnAppend: true,
  });
  const items = virtual.getVirtualItems();
  const [first, final] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new event makes the stretch in sight incomplete.
  useEffect(() => log.want(first, final), [log, first, final, count]);
  const opened = useRef(false);
  useLayoutEffect(() => {
    if (opened.current || count === 0) return;
    opened.current = true;
    virtual.scrollToEnd();
  }, [count, virtual]);
  const inSight = chosen ?? shown;
  // Again when the height changes: the detail of an event takes its place from the list.
  useEffect(() => {
    if (inSight === null) return;
    const index = log.filtered ? indexOf(log, inSight) : inSight - 1;
    const timer = requestAnimationFrame(() => virtual.scrollToIndex(Math.max(0, index), { align: "auto" }));
    return () => cancelAnimationFrame(timer);
  }, [inSight, log, virtual]);
  const move = (by: number): void => {
    const at = chosen === null ? count - 1 : log.filtered ? indexOf(log, chosen) + by : chosen - 1 + by;
    const next = log.at(Math.max(0, Math.min(count - 1, at)));
    if (!next) return;
    onChoose(next.sequence);
  };
  return (
    <div
      ref={scroller}
      className="event-list"
      role="listbox"
      aria-label="Events"
      {...scrollable}
      onKeyDown={(event) => {
        if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
        event.preventDefault();
        move(event.key === "ArrowDown" ? 1 : -1);
      }}
    >
      <div className="event-space" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ key, index, start }) => (
          <EventLine
            key={key}
            event={log.at(index)}
            top={start}
            index={index}
            chosen={log.at(index)?.sequence === chosen}
            left={folded ? leftOut(log, index) : 0}
            onChoose={onChoose}
            onUnfold={onUnfold}
          />
        ))}
      </div>
    </div>
  );
}

/** Where the event stands in a filtered list, or the last one before it. */
function indexOf(log: EventLog, sequence: number): number {
  for (let index = log.count() - 1; index >= 0; index--) {
    const found = log.at(index);
    if (found && found.sequence <= sequence) return index;
  }
  return 0;
}

/** Deltas between this event and the one before it in the list. */
function leftOut(log: EventLog, index: number): number {
  const [event, before] = [log.at(index), log.at(index - 1)];
  return event && before ? event.sequence - before.sequence - 1 : 0;
}

type LineProps = {
  event: UniversalEvent | undefined;
  top: number;
  index: number;
  chosen: boolean;
  left: number;
  onChoose(sequence: number): void;
  onUnfold(sequence: number): void;
};

const EventLine = memo(function EventLine({ event, top, index, chosen, left, onChoose, onUnfold }: LineProps) {
  const style = { transform: `translateY(${top}px)` };
  if (!event)
    return (
      <div className="event-line" style={style} role="option" aria-selected={false} tabIndex={-1}>
        <span className="dim">{index + 1}</span>
      </div>
    );
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list takes the arrow keys.
    <div
      className={`event-line ${chosen ? "chosen" : ""}`}
      style={style}
      role="option"
      aria-selected={chosen}
      tabIndex={-1}
      data-sequence={event.sequence}
      onClick={() => onChoose(event.sequence)}
    >
      <span className="event-sequence">{event.sequence}</span>
      <span className="event-time" title={new Date(event.time).toLocaleString()}>
        {exactTime(event.time)}
      </span>
      <span className={`event-source ${event.source}`} title={event.synthetic ? "made by the daemon" : "from the agent"}>
        {event.synthetic ? "daemon" : "agent"}
      </span>
      <span className={`event-type family-${event.type.split(".")[0]}`}>{event.type}</span>
      <span className="event-summary">{summaryOf(event)}</span>
      {left > 0 && (
        // biome-ignore lint/a11y/noStaticElementInteractions: the button above the list does the same by keyboard.
        // biome-ignore lint/a11y/useKeyWithClickEvents: the button above the list does the same by keyboard.
        <span
          className="event-left"
          title="Deltas before this event"
          onClick={(click) => {
            click.stopPropagation();
            onUnfold(event.sequence - 1);
          }}
        >
          {left.toLocaleString()} {left === 1 ? "delta" : "deltas"}
        </span>
      )}
    </div>
  );
});
