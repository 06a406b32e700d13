// What a session waits for: open permissions and questions, and their answers. The first answer wins.
import Type from "typebox";
import { Pending, PermissionReplyBody, QuestionReplyBody } from "../../schema/session.ts";
import { replyPermission, replyQuestion } from "../commands.ts";
import type { App, ServerContext } from "../server-context.ts";
import { callerOf } from "./auth.ts";
import { SessionPath } from "./parameters.ts";

const tag = "requests";
const answered = { description: "Answered; the same answer again is fine" };
const RequestPath = Type.Object({
  ...SessionPath.properties,
  request: Type.String({ description: "Id of the permission or question.", minLength: 1, maxLength: 200 }),
});

export function requestRoutes(app: App, context: ServerContext): void {
  const { manager } = context;
  app.get(
    "/v1/sessions/:id/pending",
    {
      schema: { params: SessionPath },
      config: {
        tag,
        operation: "listPending",
        summary: "Open permissions and questions.",
        replies: { 200: Pending },
        problems: ["session_not_found"],
      },
    },
    async ({ params }) => (await manager.get(params.id)).pending(),
  );

  app.post(
    "/v1/sessions/:id/permissions/:request/reply",
    {
      schema: { params: RequestPath, body: PermissionReplyBody },
      config: {
        tag,
        role: "approve",
        agents: true,
        operation: "replyPermission",
        summary: "Allow or reject what the agent wants to do.",
        replies: { 204: answered },
        problems: [
          "session_not_found",
          "permission_not_found",
          "already_answered",
          "disk_full",
          "invalid_option",
          "own_request",
          "precondition_failed",
          "unsupported",
        ],
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      await replyPermission(context, callerOf(request), params.id, params.request, body);
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/sessions/:id/questions/:request/reply",
    {
      schema: { params: RequestPath, body: QuestionReplyBody },
      config: {
        tag,
        role: "approve",
        agents: true,
        operation: "replyQuestion",
        summary: "Answer the agent's questions.",
        replies: { 204: answered },
        problems: ["session_not_found", "question_not_found", "already_answered", "disk_full", "invalid_answers", "own_request"],
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      await replyQuestion(context, callerOf(request), params.id, params.request, body.answers);
      return reply.code(204).send();
    },
  );

  app.post(
    "/v1/sessions/:id/questions/:request/reject",
    {
      schema: { params: RequestPath },
      config: {
        tag,
        role: "approve",
        agents: true,
        operation: "rejectQuestion",
        summary: "Reject the agent's questions.",
        replies: { 204: answered },
        problems: ["session_not_found", "question_not_found", "already_answered", "disk_full", "own_request"],
      },
    },
    async (request, reply) => {
      const { params } = request;
      await replyQuestion(context, callerOf(request), params.id, params.request, null);
      return reply.code(204).send();
    },
  );
}
