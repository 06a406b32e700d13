/** One event as it is, with the native message it was made from beside it. */
import { useEffect, useState } from "react";
import type { UniversalEvent } from "../../../src/schema/event.ts";
import { asCurl, eventPage, problemText, sessionPath } from "../state/daemon.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { Button, CopyButton, IconButton, Notice, Spinner } from "../ui/controls.tsx";
import { Icon } from "../ui/icons.tsx";

type DetailProps = { id: string; sequence: number; onClose(): void; onReplay(): void };
type Found = { event: UniversalEvent } | { fault: string } | null;

export function EventDetail({ id, sequence, onClose, onReplay }: DetailProps) {
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
