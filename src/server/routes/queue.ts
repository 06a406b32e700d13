/** Messages that wait for their turn: seen by every client, and changed while they wait. */
import Type from "typebox";
import { MessageAccepted, UpdateQueuedMessage } from "../../schema/session.ts";
import { MessageQueueList, QueuedMessage } from "../../schema/snapshot.ts";
import { removeQueued, sendQueued, updateQueued } from "../commands.ts";
import type { App, ServerContext } from "../server-context.ts";
import { callerOf } from "./auth.ts";
import { SessionPath } from "./parameters.ts";

const tag = "queue";
const MessagePath = Type.Object({
  ...SessionPath.properties,
  message: Type.String({ description: "Id of the queued message.", minLength: 1, maxLength: 200 }),
});
const problems = ["session_not_found", "session_ended", "message_not_found", "message_sending", "disk_full"] as const;

export function queueRoutes(app: App, context: ServerContext): void {
  app.get(
    "/v1/sessions/:id/queue",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        operation: "listQueue",
        summary: "The queued messages, in the order of delivery.",
        replies: { 200: MessageQueueList },
        problems: ["session_not_found"],
      },
    },
    async ({ params }) => (await context.manager.get(params.id)).queue(),
  );

  app.patch(
    "/v1/sessions/:id/queue/:message",
    {
      schema: { params: MessagePath, body: UpdateQueuedMessage },
      config: {
        tag,
        agents: true,
        operation: "updateQueued",
        summary: "Edit or move a queued message.",
        replies: { 200: QueuedMessage },
        problems: [...problems, "unsupported"],
      },
    },
    async (request) => {
      const { params, body } = request;
      return updateQueued(context, callerOf(request), params.id, params.message, body);
    },
  );

  app.delete(
    "/v1/sessions/:id/queue/:message",
    {
      schema: { params: MessagePath },
      config: {
        tag,
        agents: true,
        operation: "removeQueued",
        summary: "Remove a message from the queue. It is never delivered.",
        replies: { 204: { description: "It is gone" } },
        problems,
      },
    },
    async (request, reply) => {
      await removeQueued(context, callerOf(request), request.params.id, request.params.message);
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/sessions/:id/queue/:message/send",
    {
      schema: { params: MessagePath },
      config: {
        tag,
        agents: true,
        operation: "sendQueued",
        summary: "Send a queued message now, into the running turn, if the agent supports it.",
        replies: { 202: MessageAccepted },
        problems: [...problems, "steer_unsupported", "agent_gone"],
      },
    },
    async (request, reply) =>
      reply.code(202).send(await sendQueued(context, callerOf(request), request.params.id, request.params.message)),
  );
}
