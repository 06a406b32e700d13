/** The last message of the last whole turn of a ledger: a fork of the session has everything up to it. */
import type { NativeMessage } from "../../contract.ts";
import { type JsonRecord, rec, str } from "../../json.ts";
import { readFrame } from "./frame.ts";

/** Sub-agents are sessions of their own: the one that our requests name is ours. */
export async function forkPlace(ledger: AsyncIterable<NativeMessage>): Promise<string | null> {
  const last = new Map<string, string>();
  let own: string | null = null;
  let place: string | null = null;
  for await (const message of ledger) {
    const frame = readFrame(message);
    if (frame.kind === "request")
      own = /^\/session\/(ses_\w+)\/(?:prompt_async|message|command|summarize)$/.exec(frame.path)?.[1] ?? own;
    if (frame.kind !== "event") continue;
    const { type, data } = frame.event;
    const info = rec(data.info);
    const session = str(data.sessionID) ?? str(info.sessionID) ?? "";
    if (type === "message.updated") last.set(session, str(info.id) ?? last.get(session) ?? "");
    const idle = type === "session.idle" || (type === "session.status" && rec(data.status).type === "idle");
    // The last answer may be reported before the session is idle, and the next turn begin between the two.
    const answered = type === "message.updated" && info.role === "assistant" && isFinal(info);
    if ((idle || answered) && session === own) place = last.get(session) ?? place;
  }
  return place;
}

const isFinal = ({ time, finish }: JsonRecord): boolean =>
  rec(time).completed !== undefined && typeof finish === "string" && finish !== "tool-calls";
