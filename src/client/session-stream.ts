/**
 * The events of one session as they come, from any point, in any dialect: the text of each, to the session's end. Not here: the connection and what happens when it
 * is lost (event-stream.ts).
 */
import type { UniversalEvent } from "../schema/event.ts";
import type { EventType } from "../schema/event-data.ts";
import { eventStream, type StreamState } from "./event-stream.ts";
import type { Http } from "./http.ts";

export type EventsOptions = {
  /** Only events after this sequence; 0, the default, is from the beginning. */
  after?: number;
  /** The epoch (`health().epoch`) in which `after` was read. When the log has another history, the stream throws `log_changed`: read again from 0. */
  epoch?: string;
  types?: EventType[];
  includeRaw?: boolean;
  signal?: AbortSignal | undefined;
  onState?: ((state: StreamState) => void) | undefined;
};

/** For a dialect: `types` may name its own types too. */
export type DialectOptions = Omit<EventsOptions, "types"> & { types?: string[]; version?: number };

/** `path`: of the session. Without a dialect: universal events. */
export async function* sessionStream(
  http: Http,
  path: string,
  options: DialectOptions,
  dialect?: string,
): AsyncGenerator<string, void, undefined> {
  const { types, includeRaw, version, signal, onState, epoch, after = 0 } = options;
  const stream = eventStream(http, {
    path: `${path}/events/sse`,
    // The end is always asked for: without it a filtered stream could not distinguish the session's end from a lost connection.
    query: {
      types: types && (dialect === undefined ? [...new Set([...types, "session.ended"])] : types),
      include_raw: includeRaw,
      dialect,
      version,
    },
    after: String(after),
    epoch,
    signal,
    onState,
    ...(dialect === undefined ? { isLast: isEnd } : {}),
  });
  const hideEnd = dialect === undefined && types !== undefined && !types.includes("session.ended");
  for await (const message of stream) if (!(hideEnd && isEnd(message))) yield message.data;
}

/** Looked for in the text first: parsing every event twice would cost more than the rest. */
const isEnd = ({ data }: { data: string }): boolean =>
  data.includes('"type":"session.ended"') && (JSON.parse(data) as UniversalEvent).type === "session.ended";
