/** The place in Claude Code's conversation where the last whole turn of a ledger ends: the uuid of its last answer. */
import type { NativeMessage } from "../../contract.ts";
import { isRecord, str } from "../../json.ts";

/** A turn that was cut by the end of the ledger is left out: the CLI cannot go on from the middle of a call. */
export async function forkPlace(ledger: AsyncIterable<NativeMessage>): Promise<string | null> {
  let place: string | null = null;
  let answer: string | null = null;
  for await (const { dir, data } of ledger) {
    if (dir !== "out" || !isRecord(data)) continue;
    if (data.type === "assistant" && (data.parent_tool_use_id ?? null) === null) answer = str(data.uuid) ?? answer;
    if (data.type === "result") place = answer;
  }
  return place;
}
