/**
 * Commands to sessions, the same over HTTP and WebSocket: whether the caller may give it where the caller is an agent, then the command with its actor. Not
 * here: token, role and scope, which are checked before (access).
 */
import { ProblemError } from "../schema/problem-codes.ts";
import type {
  CreateSession,
  ForkSession,
  MessageAccepted,
  PermissionReplyBody,
  SendMessage,
  Session as SessionView,
  UpdateQueuedMessage,
  UpdateSession,
} from "../schema/session.ts";
import type { QueuedMessage } from "../schema/snapshot.ts";
import { type ImportOptions, importSession as importFile } from "../session/import-session.ts";
import type { ImportSource } from "../session/import-source.ts";
import type { MessageKey } from "../session/keyed-message.ts";
import { readCommand } from "../session/prompt.ts";
import { storeAttachments } from "./attachments.ts";
import type { ServerContext } from "./server-context.ts";
import type { Caller } from "./token.ts";

type Context = Pick<ServerContext, "log" | "limits" | "manager" | "rights">;

export async function createSession({ manager, rights }: Context, caller: Caller, request: CreateSession): Promise<SessionView> {
  return manager.create(await rights.mustMayCreate(caller, request), caller.actor);
}

export async function importSession(
  context: Context,
  caller: Caller,
  source: string | ImportSource,
  options: Pick<ImportOptions, "session_id" | "resume">,
): Promise<SessionView> {
  context.rights.mustBePerson(caller);
  const { id } = await importFile(context.log, source, { ...options, actor: caller.actor });
  return (await context.manager.get(id)).view();
}

export async function sendMessage(
  { limits, log, manager, rights }: Context,
  caller: Caller,
  sessionId: string,
  { message, command = false, attachments = [], when_busy = "queue" }: SendMessage,
  key?: MessageKey,
): Promise<MessageAccepted> {
  await rights.mustMayDrive(caller, sessionId);
  // What steers a turn is not in the story before the agent has it.
  if (key?.again && when_busy === "steer") throw new ProblemError("idempotency_unknown");
  if (command && readCommand(message) === null)
    throw new ProblemError("unsupported", "A command is written as /name, with its arguments behind it.");
  const session = await manager.get(sessionId);
  if (attachments.length > 0) await mustHaveRoom(log, limits.artifact_bytes);
  const stored =
    attachments.length === 0
      ? []
      : await storeAttachments(attachments, {
          artifacts: session.stream.artifacts,
          directory: session.directory,
          maxBytes: limits.body_bytes,
        });
  return session.send(message, stored, when_busy, caller.actor, { command, key });
}

export async function updateQueued(
  { manager, rights }: Context,
  caller: Caller,
  sessionId: string,
  messageId: string,
  change: UpdateQueuedMessage,
): Promise<QueuedMessage> {
  await rights.mustMayDrive(caller, sessionId);
  return (await manager.get(sessionId)).updateQueued(messageId, change, caller.actor);
}

export async function removeQueued(
  { manager, rights }: Context,
  caller: Caller,
  sessionId: string,
  messageId: string,
): Promise<void> {
  await rights.mustMayDrive(caller, sessionId);
  await (await manager.get(sessionId)).removeQueued(messageId, caller.actor);
}

export async function sendQueued(
  { manager, rights }: Context,
  caller: Caller,
  sessionId: string,
  messageId: string,
): Promise<MessageAccepted> {
  await rights.mustMayDrive(caller, sessionId);
  return (await manager.get(sessionId)).sendQueued(messageId, caller.actor);
}

export async function interrupt({ manager, rights }: Context, caller: Caller, sessionId: string): Promise<void> {
  await rights.mustMayDrive(caller, sessionId);
  const session = await manager.get(sessionId);
  await session.interrupt(caller.actor);
}

export async function terminate({ manager, rights }: Context, caller: Caller, sessionId: string): Promise<void> {
  await rights.mustMayDrive(caller, sessionId);
  const session = await manager.get(sessionId);
  await session.terminate(caller.actor);
}

export async function resume({ manager, rights }: Context, caller: Caller, sessionId: string): Promise<SessionView> {
  await rights.mustMayDrive(caller, sessionId);
  const session = await manager.get(sessionId);
  await session.resume();
  return session.view();
}

export async function removeSession({ manager, rights }: Context, caller: Caller, sessionId: string): Promise<void> {
  await rights.mustMayDrive(caller, sessionId);
  await manager.remove(sessionId, caller.actor);
}

export async function configure(
  { manager, rights }: Context,
  caller: Caller,
  sessionId: string,
  patch: UpdateSession,
): Promise<SessionView> {
  await rights.mustMayDrive(caller, sessionId, patch);
  const session = await manager.get(sessionId);
  await session.configure(patch, caller.actor);
  return session.view();
}

export async function forkSession(
  { manager, rights }: Context,
  caller: Caller,
  sessionId: string,
  request: ForkSession,
): Promise<SessionView> {
  await rights.mustMayDrive(caller, sessionId);
  return manager.fork(sessionId, request, caller.actor);
}

export async function replyPermission(
  { manager, rights }: Context,
  caller: Caller,
  sessionId: string,
  requestId: string,
  reply: PermissionReplyBody,
): Promise<void> {
  await rights.mustMayAnswer(caller, sessionId);
  const session = await manager.get(sessionId);
  if (reply.reply !== "reject" && session.asksForTrust(requestId)) rights.mustMayTrust(caller, reply.reply === "always");
  await session.replyPermission(requestId, reply, caller.actor);
}

/** `answers` null: rejected. */
export async function replyQuestion(
  { manager, rights }: Context,
  caller: Caller,
  sessionId: string,
  requestId: string,
  answers: string[][] | null,
): Promise<void> {
  await rights.mustMayAnswer(caller, sessionId);
  const session = await manager.get(sessionId);
  await session.replyQuestion(requestId, answers, caller.actor);
}

/** What an agent makes is kept in any case: it is part of the story. What is sent can wait. */
async function mustHaveRoom(log: Context["log"], limit: number | undefined): Promise<void> {
  if (limit === undefined) return;
  const { bytes } = await log.artifacts.usage();
  if (bytes < limit) return;
  throw new ProblemError(
    "artifacts_full",
    `Artifacts have ${bytes} bytes, and limits.artifact_bytes allows ${limit}. Remove sessions that are not needed any more: their artifacts go with them.`,
  );
}
