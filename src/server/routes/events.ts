// A session's events: pages, the live stream, and the live stream of all sessions.
import type { FastifyReply, FastifyRequest } from "fastify";
import Type from "typebox";
import type { GlobalBatch, Log, ReadPage, Stream } from "../../log/contract.ts";
import { ProblemError } from "../../schema/problem-codes.ts";
import { EventList } from "../../schema/session.ts";
import { STREAM_KINDS, type StreamKind } from "../../schema/stream-kind.ts";
import type { Access } from "../access.ts";
import { type Encoding, encodeRun, encodingHeaders, encodingOf, isPlain, listOf } from "../event-encoding.ts";
import type { FleetPort, NodeWish } from "../fleet-port.ts";
import type { App, ServerContext } from "../server-context.ts";
import { taskPlace } from "../session-place.ts";
import { followAll, followStream, hasEnded, type Selection } from "../sse/follow.ts";
import { SseStream } from "../sse/stream.ts";
import type { Caller } from "../token.ts";
import { callerOf } from "./auth.ts";
import { EncodingQuery, NodeQuery, nodeWish, Sequence, SessionPath, sessionStream } from "./parameters.ts";

const tag = "events";
export const eventStream = { description: "Server-sent events", media: "text/event-stream" };

/** A client that does not read holds one page in memory. */
const PAGE_BYTES = 1024 * 1024;
export const EPOCH = "^[0-9a-f]{1,32}$";
const Epoch = Type.String({
  pattern: EPOCH,
  description: "the epoch in which `after` was read; another history is refused with log_changed",
});

export const PageQuery = Type.Object({
  after: Type.Optional(Type.Integer({ ...Sequence, description: "Only events after this sequence." })),
  epoch: Type.Optional(Epoch),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: "the same as `after`" })),
  before: Type.Optional(Type.Integer({ ...Sequence, description: "Only events before this sequence." })),
  limit: Type.Optional(
    Type.Integer({ description: "How many entries a page has at most.", minimum: 1, maximum: 10_000, default: 1_000 }),
  ),
  order: Type.Optional(Type.Enum(["asc", "desc"], { description: "desc: the newest first, `next` is the next `before`" })),
  ...EncodingQuery,
});

export const StreamQuery = Type.Object({
  after: Type.Optional(Type.Integer({ ...Sequence, description: "Begin after this sequence; `Last-Event-ID` does the same." })),
  epoch: Type.Optional(Epoch),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: "the same as `after`" })),
  ...EncodingQuery,
});

/** Only the log knows what is in it. */
const FROM_THE_BEGINNING = "0.0";
export const CURSOR = "^[\\w.@:-]{1,128}$";
const LAST_SEQUENCE = "^[0-9]{1,16}(@[0-9a-f]{1,32})?$";
const AllQuery = Type.Object({
  after: Type.Optional(
    Type.String({ pattern: CURSOR, description: "an `id:` of this stream; 0.0 is the beginning, absent is now" }),
  ),
  kind: Type.Optional(
    Type.String({
      pattern: `^(${STREAM_KINDS.join("|")})(,(${STREAM_KINDS.join("|")}))*$`,
      description: "only streams of these kinds, separated by commas; default all",
    }),
  ),
  ...NodeQuery,
  ...EncodingQuery,
});

export function eventRoutes(app: App, context: ServerContext): void {
  const { log, streams, dialects, access, redactions } = context;
  app.get(
    "/v1/sessions/:id/events",
    {
      schema: { params: SessionPath, querystring: PageQuery },
      config: {
        tag,
        heavy: "page",
        anywhere: true,
        operation: "listEvents",
        summary: "A page of a session's events.",
        description: "A page can hold fewer than `limit` events, even none, and still have more: go on with `next`.",
        replies: { 200: EventList },
        problems: ["session_not_found", "cursor_too_large", "log_changed", "data_damaged"],
      },
    },
    async ({ params, query, caller }, reply) => {
      const { json, headers } = await eventPage(context, await sessionStream(log, params.id), query, caller);
      return reply.type("application/json; charset=utf-8").headers(headers).send(json);
    },
  );

  app.get(
    "/v1/sessions/:id/events/sse",
    {
      schema: { params: SessionPath, querystring: StreamQuery },
      config: {
        tag,
        anywhere: true,
        operation: "streamEvents",
        summary: "A session's events, stored and live, until session.ended.",
        description:
          "`id:` is the sequence. Last-Event-ID or `after` resumes behind it; with the epoch of the headers (`29@<epoch>`, or `epoch`) a restored log is recognized.",
        replies: { 200: eventStream, 204: { description: "Nothing will come any more" } },
        problems: ["session_not_found", "cursor_too_large", "log_changed", "too_many_subscribers"],
      },
    },
    async (request, reply) => {
      return openEvents(context, await sessionStream(log, request.params.id), request, reply);
    },
  );

  app.get(
    "/v1/events/sse",
    {
      schema: { querystring: AllQuery },
      config: {
        tag,
        reach: "filtered",
        operation: "streamAllEvents",
        summary: "The events of all sessions and other streams in one; with a scope, of those the token reaches.",
        description: "`id:` is a cursor. Without one, the stream begins now.",
        replies: { 200: eventStream },
        problems: ["cursor_too_large", "log_changed", "too_many_subscribers", "no_fleet"],
      },
    },
    async (request, reply) => {
      const wish = nodeWish(request.query, context.fleet);
      const encoding = encodingOf(request.query, dialects, redactions.reader(request.caller));
      const after = await cursorOf(request, log);
      streams.mustHaveRoom(request.caller);
      reply.headers({ ...logHeaders(log), ...encodingHeaders(encoding) });
      const sse = new SseStream(request, reply, streams, { id: after });
      const kinds = listOf(request.query.kind) as StreamKind[] | null;
      const sees = both(seenBy(callerOf(request), access), wish && onNodes(wish, log));
      followAll(sse, log, after, encoding, { kinds: kinds && new Set(kinds), sees });
    },
  );
}

type Reading = Pick<ServerContext, "log" | "streams" | "dialects" | "redactions">;

/** A page of one stream's events as JSON. */
export async function eventPage(
  { log, dialects, redactions }: Reading,
  stream: Stream,
  query: Type.Static<typeof PageQuery>,
  caller: Caller | null,
): Promise<{ json: string; headers: Record<string, string> }> {
  const encoding = encodingOf(query, dialects, redactions.reader(caller));
  const after = query.after ?? query.offset;
  await mustReach(stream, after ?? 0, query.epoch);
  const page = await stream.read({
    limit: query.limit ?? 1_000,
    maxBytes: PAGE_BYTES,
    reverse: query.order === "desc",
    ...(after === undefined ? {} : { after }),
    ...(query.before === undefined ? {} : { before: query.before }),
    // A dialect sees what is left out: later lines depend on it.
    ...(encoding.types === null || encoding.dialect ? {} : { types: [...encoding.types] }),
  });
  const lines = isPlain(encoding) ? page.events : await encodedPage(page, encoding, stream, query.order === "desc");
  return { json: pageJson(page, lines, log.epoch), headers: { ...logHeaders(log), ...encodingHeaders(encoding) } };
}

/** Answers with the live events of one stream. */
export async function openEvents(
  { log, streams, dialects, redactions }: Reading,
  stream: Stream,
  request: FastifyRequest<{ Querystring: Type.Static<typeof StreamQuery> }>,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const { query } = request;
  const encoding = encodingOf(query, dialects, redactions.reader(request.caller));
  const resumed = lastEventId(request.headers["last-event-id"], LAST_SEQUENCE);
  const [sequence, epoch] = resumed?.split("@") ?? [String(query.after ?? query.offset ?? 0), query.epoch];
  const after = Number(sequence);
  await mustReach(stream, after, epoch);
  // A browser's EventSource connects again after every end; only 204 makes it stop.
  if (resumed !== undefined && (await hasEnded(stream)) && !(await hasMore(stream, after, encoding)))
    return reply.code(204).send();
  streams.mustHaveRoom(request.caller);
  reply.headers({ ...logHeaders(log), ...encodingHeaders(encoding) });
  followStream(new SseStream(request, reply, streams, { id: String(after) }), stream, after, encoding);
  return undefined;
}

/** Whether anything behind `after` is for this client: one that asked for some types only never has the last event. */
async function hasMore(stream: Stream, after: number, encoding: Encoding): Promise<boolean> {
  if (encoding.types === null) return after < stream.lastCommitted;
  const types = encoding.dialect ? {} : { types: [...encoding.types] };
  for (let from = after; ; ) {
    const page = await stream.read({ after: from, limit: 1_000, maxBytes: PAGE_BYTES, ...types });
    if (page.events.length > 0 && (await encodedPage(page, encoding, stream, false)).length > 0) return true;
    if (!page.has_more) return false;
    from = page.next;
  }
}

/** Null: nothing is left out. */
function both(one: Selection["sees"], other: Selection["sees"]): Selection["sees"] {
  if (!one || !other) return one ?? other;
  return async (batch) => (await one(batch)) && other(batch);
}

/** An owner is asked for again after this time, and whenever the session says that it has another. */
const OWNER_MS = 5_000;

/** Sessions on some nodes of a fleet, and tasks that run for them. */
function onNodes(wish: NodeWish & { fleet: FleetPort }, log: Log): Selection["sees"] {
  const known = new Map<string, { at: number; on: Promise<boolean> }>();
  const sessionOf = async ({ kind, stream_id }: Pick<GlobalBatch, "kind" | "stream_id">): Promise<string | null> => {
    if (kind === "session") return stream_id;
    return kind === "task" ? ((await taskPlace(log, stream_id))?.session_id ?? null) : null;
  };
  return async (batch) => {
    const id = await sessionOf(batch);
    if (id === null) return false;
    const before = known.get(id);
    const now = Date.now();
    if (before && now - before.at < OWNER_MS && !batch.types.includes("session.moved")) return before.on;
    const on = wish.fleet.isOn(id, wish);
    known.set(id, { at: now, on });
    return on;
  };
}

/** Asked for every batch; a session's directory does not change, so an answer stays. Null: it sees all. */
function seenBy(caller: Caller, access: Access): Selection["sees"] {
  if (caller.scope === null) return null;
  const known = new Map<string, Promise<boolean>>();
  return ({ kind, stream_id }) => {
    const name = `${kind} ${stream_id}`;
    const seen = known.get(name) ?? (kind === "task" ? access.seesTask(caller, stream_id) : access.sees(caller, stream_id));
    known.set(name, seen);
    return seen;
  };
}

/** Events are encoded in the order they came, in whatever order they are asked for. */
async function encodedPage(page: ReadPage, encoding: Encoding, stream: Stream, newestFirst: boolean): Promise<string[]> {
  const { kind, id: stream_id } = stream;
  const { events, types, natives, sequences } = page;
  const first = (newestFirst ? sequences.at(-1) : sequences[0]) ?? 1;
  if (!newestFirst) {
    const run = { kind, stream_id, first, events, types, natives };
    return (await encodeRun(run, encoding, () => stream)).flatMap((event) => event.lines);
  }
  const oldest = { events: events.toReversed(), types: types.toReversed(), natives: natives.toReversed() };
  const encoded = await encodeRun({ kind, stream_id, first, ...oldest }, encoding, () => stream);
  return [...encoded].reverse().flatMap((event) => event.lines.toReversed());
}

/** Which log answers, and in which epoch: a client that keeps a cursor keeps the epoch with it. */
export const logHeaders = (log: Log): Record<string, string> => ({ "dragoman-log-id": log.id, "dragoman-epoch": log.epoch });

/** `name`: what the caller calls it. */
export async function mustReach(stream: Stream, after: number, epoch?: string, name = "after"): Promise<void> {
  if (epoch !== undefined) return stream.assertCursor({ sequence: after, epoch });
  if (after > stream.lastCommitted)
    throw new ProblemError(
      "cursor_too_large",
      `${name}=${after} lies beyond the stream, which ends at ${stream.lastCommitted}. The log was reset or this is another daemon: read again from ${name === "after" ? "after=0" : "the beginning"}.`,
    );
}

/** Where a stream of all streams begins: a cursor that the log takes, the beginning (`0.0`, whatever the engine), or now. */
export async function cursorOf(
  { headers, query }: { headers: FastifyRequest["headers"]; query: { after?: string } },
  log: Log,
): Promise<string> {
  const given = lastEventId(headers["last-event-id"], CURSOR) ?? query.after ?? (await log.end());
  const after = given === FROM_THE_BEGINNING ? log.beginning : given;
  await log.assertCursor(after);
  return after;
}

function lastEventId(header: string | string[] | undefined, pattern: string): string | undefined {
  if (header === undefined || header === "") return undefined;
  if (typeof header === "string" && new RegExp(pattern).test(header)) return header;
  throw new ProblemError("invalid_request", "Last-Event-ID must be an `id:` of this stream.", {
    errors: [{ path: "headers/last-event-id", message: `must match ${pattern}` }],
  });
}

const pageJson = ({ has_more, next, last }: ReadPage, lines: readonly string[], epoch: string): string =>
  `{"events":[${lines.join(",")}],"has_more":${has_more},"next":${next},"last_sequence":${last},"epoch":"${epoch}"}`;
