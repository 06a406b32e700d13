/** The last whole turn of a ledger: a fork of the thread goes up to it. */
import type { NativeMessage } from "../../contract.ts";
import { isRecord, rec, str } from "../../json.ts";

/** Sub-agents are threads of their own: the session's thread is the one that our request started, resumed or forked. */
export async function forkPlace(ledger: AsyncIterable<NativeMessage>): Promise<string | null> {
  const asked = new Set<string>();
  let thread: string | null = null;
  let place: string | null = null;
  for await (const { dir, data } of ledger) {
    if (!isRecord(data)) continue;
    const id = String(data.id);
    if (dir === "in" && /^thread\/(start|resume|fork)$/.test(str(data.method) ?? "")) asked.add(id);
    if (dir !== "out") continue;
    if (data.method === undefined && asked.delete(id)) thread = str(rec(rec(data.result).thread).id) ?? thread;
    const params = rec(data.params);
    if (data.method === "turn/completed" && params.threadId === thread) place = str(rec(params.turn).id) ?? place;
  }
  return place;
}
