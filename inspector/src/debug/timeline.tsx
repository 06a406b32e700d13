// Every event of the session in order; the chosen one with the native message it was made from beside it.
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { EventSource, UniversalEvent } from "../../../src/schema/event.ts";
import type { EventType } from "../../../src/schema/event-data.ts";
import type { Session } from "../../../src/schema/session.ts";
import { asCurl, eventPage, problemText, sessionPath } from "../state/daemon.ts";
import { useSignal } from "../state/store.ts";
import type { TranscriptView } from "../transcript/context.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Button, CopyButton, IconButton, Notice, Spinner } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";
import { scrollable } from "../ui/scrollable.ts";
import { eventFamilies } from "./event-families.ts";
import { type EventFilter, EventLog } from "./event-log.ts";
import { summaryOf } from "./event-summary.ts";

const ROW = 26;
const estimateSize = (): number => ROW;

export function Timeline({ row, view }: { row: Session; view: TranscriptView }) {
  const [family, setFamily] = useState("");
  const [source, setSource] = useState<EventSource | "any">("any");
  const [chosen, setChosen] = useState<number | null>(null);
  const replay = useSignal(view.changed, () => view.replay);
  const types = useMemo(
    () => eventFamilies.find((each) => each.name === family)?.types ?? (family ? [family as EventType] : []),
    [family],
  );
  return (
    <div className="timeline">
      <div className="timeline-filters">
        <select aria-label="Event type" value={family} onChange={(event) => setFamily(event.target.value)}>
          <option value="">all types</option>
          {eventFamilies.map((each) => (
            <optgroup key={each.name} label={each.name}>
              <option value={each.name}>{each.name}: all</option>
              {each.types.map((type) => (
                <option key={type} value={type}>
                  {type}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
        <select
          aria-label="Event source"
          value={source}
          onChange={(event) => setSource(event.target.value as EventSource | "any")}
        >
          <option value="any">any source</option>
          <option value="agent">agent</option>
          <option value="daemon">daemon (synthetic)</option>
        </select>
      </div>
      <EventList
        key={`${family} ${source}`}
        id={row.session_id}
        last={row.last_sequence}
        types={types}
        source={source}
        chosen={chosen}
        shown={replay}
        onChoose={setChosen}
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
  onChoose(sequence: number): void;
};

function EventList({ id, last, types, source, chosen, shown, onChoose }: ListProps) {
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
            onChoose={onChoose}
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

type LineProps = {
  event: UniversalEvent | undefined;
  top: number;
  index: number;
  chosen: boolean;
  onChoose(sequence: number): void;
};

const EventLine = memo(function EventLine({ event, top, index, chosen, onChoose }: LineProps) {
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
      <span className="event-time">{event.time.slice(11, 23)}</span>
      <span className={`event-source ${event.source}`} title={event.synthetic ? "made by the daemon" : "from the agent"}>
        {event.synthetic ? "syn" : "agt"}
      </span>
      <span className={`event-type family-${event.type.split(".")[0]}`}>{event.type}</span>
      <span className="event-summary">{summaryOf(event)}</span>
    </div>
  );
});

type DetailProps = { id: string; sequence: number; onClose(): void; onReplay(): void };
type Found = { event: UniversalEvent } | { fault: string } | null;

function EventDetail({ id, sequence, onClose, onReplay }: DetailProps) {
  const [found, setFound] = useState<Found>(null);
  useEffect(() => {
    const gone = new AbortController();
    eventPage(id, { after: sequence - 1, limit: 1, include_raw: true }, gone.signal).then(
      ({ events }) => events[0] && setFound({ event: events[0] }),
      (error: unknown) => !gone.signal.aborted && setFound({ fault: problemText(error) }),
    );
    return () => gone.abort();
  }, [id, sequence]);
  const path = `${sessionPath(id)}/events?after=${sequence - 1}&limit=1&include_raw=true`;
  return (
    <section className="event-detail" aria-label={`Event ${sequence}`}>
      <header>
        <strong>#{sequence}</strong>
        {found && "event" in found && (
          <>
            <code>{found.event.type}</code>
            {found.event.synthetic && <span className="tag">synthetic</span>}
          </>
        )}
        <span className="grow" />
        <Button look="quiet" icon="play" onClick={onReplay}>
          Replay to here
        </Button>
        <CopyButton label="Copy as curl" text={() => asCurl({ method: "GET", path, body: null })} />
        <IconButton icon="cross" label="Close the event" onClick={onClose} />
      </header>
      {found === null ? (
        <Spinner label="loading" />
      ) : "fault" in found ? (
        <Notice kind="error">{found.fault}</Notice>
      ) : (
        <Sides event={found.event} />
      )}
    </section>
  );
}

function Sides({ event }: { event: UniversalEvent }) {
  const { raw, ...universal } = event;
  return (
    <div className="sides">
      <div>
        <h3>Universal event</h3>
        <CodeBlock code={JSON.stringify(universal, null, 2)} language="json" />
      </div>
      <div>
        <h3>Native message</h3>
        {raw === null || raw === undefined ? (
          <p className="dim">
            <Icon name="bulb" size={14} /> None:{" "}
            {event.synthetic ? "the daemon made this event itself." : "no message of its own."}
          </p>
        ) : (
          <CodeBlock code={typeof raw === "string" ? raw : JSON.stringify(raw, null, 2)} language="json" />
        )}
      </div>
    </div>
  );
}
