// Commands to a session, the same over HTTP and WebSocket.

import { ProblemError } from "../schema/problem-codes.ts";
import type { MessageAccepted, SendMessage } from "../schema/session.ts";
import { readCommand } from "../session/message-queue.ts";
import type { Session } from "../session/session.ts";
import { storeAttachments } from "./attachments.ts";
import type { ServerContext } from "./server-context.ts";

export async function sendMessage(
  { log, limits }: Pick<ServerContext, "log" | "limits">,
  session: Session,
  { message, command = false, attachments = [], when_busy = "queue" }: SendMessage,
): Promise<MessageAccepted> {
  if (command && readCommand(message) === null)
    throw new ProblemError("unsupported", "A command is written as /name, with its arguments behind it.");
  const stored =
    attachments.length === 0
      ? []
      : await storeAttachments(attachments, {
          artifacts: log.artifacts,
          directory: session.directory,
          maxBytes: limits.body_bytes,
        });
  return session.send(message, stored, when_busy, command);
}
