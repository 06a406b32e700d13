// Permissions and questions as objects that can answer themselves.
import type { PermissionData, QuestionData } from "../schema/event-data.ts";
import type { PermissionReplyBody } from "../schema/session.ts";

/** A permission that waits for an answer. */
export type PermissionRequest = PermissionData & {
  allow(options?: { always?: boolean; updated_input?: unknown; option_id?: string }): Promise<void>;
  deny(message?: string): Promise<void>;
};

export type QuestionRequest = QuestionData & { answer(answers: string[][]): Promise<void>; reject(): Promise<void> };

/** What can carry an answer to the daemon: a session, or its socket. */
export type Answering = {
  replyPermission(permissionId: string, reply: PermissionReplyBody): Promise<void>;
  replyQuestion(questionId: string, answers: string[][]): Promise<void>;
  rejectQuestion(questionId: string): Promise<void>;
};

/** The hash of the input that was read: an answer is refused when the agent asks for another by then. */
export const boundTo = ({ metadata: { input_hash } }: PermissionData): Pick<PermissionReplyBody, "input_hash"> =>
  input_hash === undefined ? {} : { input_hash };

export const permissionRequest = (to: Answering, data: PermissionData): PermissionRequest => ({
  ...data,
  allow: ({ always, updated_input, option_id } = {}) =>
    to.replyPermission(data.permission_id, {
      ...boundTo(data),
      reply: always ? "always" : "once",
      ...(updated_input === undefined ? {} : { updated_input }),
      ...(option_id === undefined ? {} : { option_id }),
    }),
  deny: (message) =>
    to.replyPermission(data.permission_id, {
      ...boundTo(data),
      reply: "reject",
      ...(message === undefined ? {} : { message }),
    }),
});

export const questionRequest = (to: Answering, data: QuestionData): QuestionRequest => ({
  ...data,
  answer: (answers) => to.replyQuestion(data.question_id, answers),
  reject: () => to.rejectQuestion(data.question_id),
});
