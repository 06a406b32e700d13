/** A message of ours becomes the user's item, whichever way it was sent: as a line to the CLI or as the prompt of the SDK. */
import type { Draft } from "../../../schema/draft.ts";
import type { ClaudeState } from "./state.ts";
import { outputText } from "./tool-result.ts";
import { messageSent } from "./turns.ts";
import { userParts } from "./user-parts.ts";

export function userMessage(state: ClaudeState, content: unknown, uuid: string | null, drafts: Draft[]): void {
  messageSent(state, drafts);
  const key = state.newKey("sent", uuid ?? undefined);
  const text = outputText(content);
  state.waiting.push({ key, uuid, text });
  state.sentTexts.push(text);
  drafts.push({ do: "item.add", item: { key, kind: "message", role: "user", content: userParts(content) }, synthetic: true });
}
