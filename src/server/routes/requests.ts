// What a session waits for: open permissions and questions, and their answers. The first answer wins.
import Type from "typebox";
import { Pending, PermissionReplyBody, QuestionReplyBody } from "../../schema/session.ts";
import type { App, ServerContext } from "../server-context.ts";
import { SessionPath } from "./parameters.ts";

const tag = "requests";
const answered = { description: "Answered; the same answer again is fine" };
const RequestPath = Type.Object({ ...SessionPath.properties, request: Type.String({ minLength: 1, maxLength: 200 }) });

export function requestRoutes(app: App, { manager }: ServerContext): void {
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
    async ({ params }) => manager.get(params.id).pending(),
  );

  app.post(
    "/v1/sessions/:id/permissions/:request/reply",
    {
      schema: { params: RequestPath, body: PermissionReplyBody },
      config: {
        tag,
        role: "approve",
        operation: "replyPermission",
        summary: "Allow or reject what the agent wants to do.",
        replies: { 204: answered },
        problems: ["session_not_found", "permission_not_found", "already_answered", "invalid_option"],
      },
    },
    async ({ params, body }, reply) => {
      await manager.get(params.id).replyPermission(params.request, body);
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
        operation: "replyQuestion",
        summary: "Answer the agent's questions.",
        replies: { 204: answered },
        problems: ["session_not_found", "question_not_found", "already_answered", "invalid_answers"],
      },
    },
    async ({ params, body }, reply) => {
      await manager.get(params.id).replyQuestion(params.request, body.answers);
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
        operation: "rejectQuestion",
        summary: "Refuse to answer.",
        replies: { 204: answered },
        problems: ["session_not_found", "question_not_found", "already_answered"],
      },
    },
    async ({ params }, reply) => {
      await manager.get(params.id).replyQuestion(params.request, null);
      return reply.code(204).send();
    },
  );
}
