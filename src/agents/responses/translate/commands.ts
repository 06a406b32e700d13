/** What we send to the agent, as drafts: it opens the client's turn, makes the person's message and settles requests. */
import type { Draft, DraftPart } from "../../../schema/draft.ts";
import { arr, rec, records, str } from "../../json.ts";
import type { Command } from "./wire.ts";

export function commandDrafts(command: Command): Draft[] {
  switch (command.type) {
    case "prompt":
      return [{ do: "turn.start", initiator: "client" }, userMessage(command.message_id, command.text, command.items)];
    case "steer":
      return [userMessage(command.message_id, command.text, command.items)];
    case "command":
      return [{ do: "turn.start", initiator: "client" }, userMessage(command.message_id, command.text, [])];
    case "interrupt":
    case "task.stop":
    case "configure":
      return [];
    case "permission.reply": {
      const { id: key, reply, message } = command;
      const status = reply === "reject" ? "denied" : "approved";
      return [
        {
          do: "permission.resolve",
          key,
          status,
          resolved_by: "client",
          reply,
          ...(message === null ? {} : { message }),
        },
      ];
    }
    case "question.reply": {
      const { id: key, answers } = command;
      if (answers === null) return [{ do: "question.resolve", key, status: "rejected", resolved_by: "client" }];
      return [{ do: "question.resolve", key, status: "answered", resolved_by: "client", answers }];
    }
    default:
      return command satisfies never;
  }
}

/** The text is what the person wrote; pictures are taken from the items. */
function userMessage(message_id: string, text: string, items: readonly unknown[]): Draft {
  const parts = items.flatMap((item) => records(arr(rec(item).content)));
  const media = parts.flatMap((part): DraftPart[] => {
    const [, mime, base64] = /^data:([^;,]+);base64,(.+)$/s.exec(str(part.image_url) ?? str(part.file_data) ?? "") ?? [];
    if (mime === undefined || base64 === undefined) return [];
    const name = str(part.filename);
    const kind = mime.startsWith("image/") ? "image" : "file";
    return [{ type: "media", media: kind, mime, base64, ...(name === undefined ? {} : { name }) }];
  });
  const content: DraftPart[] = [{ type: "text", text }, ...media];
  return { do: "item.add", synthetic: true, item: { key: `user:${message_id}`, kind: "message", role: "user", content } };
}
