// Messages to a session: accepted at once, or answered with the stream of their turn.
import Type from "typebox";
import type { Stream } from "../../log/contract.ts";
import { namesTurn } from "../../schema/envelope.ts";
import { MessageAccepted, SendMessage } from "../../schema/session.ts";
import { sendMessage } from "../commands.ts";
import { encodingHeaders, encodingOf } from "../event-encoding.ts";
import { Idempotency, idempotencyId, keyOf, requestHash } from "../idempotency.ts";
import type { App, ServerContext } from "../server-context.ts";
import { followTurn } from "../sse/follow.ts";
import { SseStream } from "../sse/stream.ts";
import { callerOf } from "./auth.ts";
import { logHeaders } from "./events.ts";
import { EncodingQuery, SessionPath } from "./parameters.ts";

const tag = "messages";
const problems = [
  "session_not_found",
  "session_ended",
  "session_busy",
  "steer_unsupported",
  "queue_full",
  "attachment_not_found",
  "disk_full",
  "unsupported",
] as const;

/** What a streamed message was answered with, kept so that the same key opens the same stream again. */
type Kept = { turn_id: string; after: number; begun: boolean };

export function messageRoutes(app: App, context: ServerContext): void {
  const { manager, streams, log, dialects, redactions } = context;
  const idempotency = new Idempotency(log);

  app.post(
    "/v1/sessions/:id/messages",
    {
      schema: { params: SessionPath, body: SendMessage },
      config: {
        tag,
        largeBody: true,
        agents: true,
        resumable: true,
        operation: "sendMessage",
        summary: "Send a message. It starts a turn, waits for the running one, or joins it.",
        replies: { 202: MessageAccepted },
        problems,
      },
    },
    async (request, reply) =>
      reply.code(202).send(await sendMessage(context, callerOf(request), request.params.id, request.body, keyOf(request))),
  );

  app.post(
    "/v1/sessions/:id/messages/stream",
    {
      schema: { params: SessionPath, querystring: Type.Object(EncodingQuery), body: SendMessage },
      config: {
        tag,
        ownIdempotency: true,
        largeBody: true,
        agents: true,
        operation: "sendMessageStream",
        summary: "Send a message and get the events of its turn, until its turn.ended.",
        description: "The header x-turn-id names the turn. Closing the stream does not stop the turn.",
        replies: { 200: { description: "Events of the turn", media: "text/event-stream" } },
        problems: [...problems, "too_many_subscribers"],
      },
    },
    async (request, reply) => {
      // A dialect that does not exist is refused before the message is sent.
      const encoding = encodingOf(request.query, dialects, redactions.reader(callerOf(request)));
      const session = await manager.get(request.params.id);
      streams.mustHaveRoom(request.caller);
      const send = async (): Promise<Kept> => {
        const after = session.stream.lastCommitted;
        const { turn_id } = await sendMessage(context, callerOf(request), session.session_id, request.body);
        return { turn_id, after, begun: request.body.when_busy === "steer" && (await hasBegun(session.stream, turn_id, after)) };
      };
      const { turn_id, after, begun } = await once(idempotency, request, send);
      reply.headers({ ...logHeaders(log), ...encodingHeaders(encoding) });
      const sse = new SseStream(request, reply, streams, { id: String(after), headers: { "x-turn-id": turn_id } });
      followTurn(sse, session.stream, { id: turn_id, after, begun }, encoding);
    },
  );
}

/** True for a message that was steered into a turn that ran already: its start lies behind us. */
async function hasBegun(stream: Stream, turnId: string, after: number): Promise<boolean> {
  const { events, sequences } = await stream.read({ types: ["turn.started"], reverse: true, limit: 1 });
  return (sequences[0] ?? Number.POSITIVE_INFINITY) <= after && namesTurn(events[0] ?? "", turnId);
}

async function once(
  idempotency: Idempotency,
  request: Parameters<typeof idempotencyId>[0],
  send: () => Promise<Kept>,
): Promise<Kept> {
  const id = idempotencyId(request);
  if (id === null) return send();
  const hash = requestHash(request);
  const kept = await idempotency.begin(id, hash);
  if (kept !== null && kept !== "again") return JSON.parse(kept.body) as Kept;
  try {
    const sent = await send();
    await idempotency.keep(id, { request: hash, status: 200, type: "", body: JSON.stringify(sent) });
    return sent;
  } finally {
    idempotency.release(id);
  }
}
