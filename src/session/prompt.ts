/** A queued message as an agent takes it. */
import type { ChosenCommand, Prompt } from "../agents/contract.ts";
import type { Artifacts } from "../log/contract.ts";
import type { MessageQueued } from "../schema/event-data.ts";

/** With the bytes of what is attached. */
export async function promptOf(message: MessageQueued, artifacts: Artifacts): Promise<Prompt> {
  const { message_id, text, command, attachments = [] } = message;
  const read = attachments.map(async ({ name, mime, artifact_id, path }) => {
    const chunks: Buffer[] = [];
    for await (const chunk of (await artifacts.openRead(artifact_id)) ?? []) chunks.push(chunk as Buffer);
    return { name, mime, path, bytes: Buffer.concat(chunks) };
  });
  const chosen = command ? readCommand(text) : null;
  return { message_id, text, ...(chosen ? { command: chosen } : {}), attachments: await Promise.all(read) };
}

/** `/name arguments`; null when the text is no command. Skills are chosen as `$name`. */
export function readCommand(text: string): ChosenCommand | null {
  const found = /^(?:\/|(?=\$))([^\s/]\S*)(?:\s+([\s\S]*))?$/.exec(text.trim());
  return found?.[1] === undefined ? null : { name: found[1], arguments: found[2] ?? "" };
}
