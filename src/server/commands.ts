// Commands to a session, the same over HTTP and WebSocket.
import type { MessageAccepted, SendMessage } from "../schema/session.ts";
import type { Session } from "../session/session.ts";
import { storeAttachments } from "./attachments.ts";
import type { ServerContext } from "./server-context.ts";

export async function sendMessage(
  { log, limits }: Pick<ServerContext, "log" | "limits">,
  session: Session,
  { message, attachments = [], when_busy = "queue" }: SendMessage,
): Promise<MessageAccepted> {
  const stored =
    attachments.length === 0
      ? []
      : await storeAttachments(attachments, {
          artifacts: log.artifacts.of(session.stream),
          directory: session.directory,
          maxBytes: limits.body_bytes,
        });
  return session.send(message, stored, when_busy);
}
