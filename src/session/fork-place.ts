/** Which place of an agent's own conversation belongs to an event: decided by the agent, from the ledger up to the message that the event was made from. */
import type { Agent, NativeMessage } from "../agents/contract.ts";
import type { Stream } from "../log/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";

const PAGE = 500;

/** Rejects with `fork_unsupported` where the agent knows no such places, and with `invalid_request` for an event that is not there. */
export async function forkPlace(agent: Agent, stream: Stream, sequence: number): Promise<string> {
  if (!agent.forkPlace)
    throw new ProblemError(
      "fork_unsupported",
      `${agent.name} can only be forked at the end of its conversation: leave out \`at\`.`,
    );
  const place = await placeAt(agent, stream, sequence);
  if (place === null)
    throw new ProblemError("not_resumable", "There is no conversation before this event: create a new session.");
  return place;
}

/** Null: there is no conversation before this event, or the agent knows no places. */
export const placeAt = async (agent: Agent, stream: Stream, sequence: number): Promise<string | null> =>
  (await agent.forkPlace?.(ledger(stream, await nativeAt(stream, sequence)))) ?? null;

/** The newest native message that this event, or one before it, was made from. */
async function nativeAt(stream: Stream, sequence: number): Promise<number> {
  for (let before = sequence + 1; before > 1; ) {
    const page = await stream.read({ before, reverse: true, limit: PAGE });
    if (before === sequence + 1 && page.sequences[0] !== sequence)
      throw new ProblemError("invalid_request", `There is no event ${sequence}: the last one is ${page.last}.`);
    const native = page.natives.find((one) => one !== null);
    if (native !== undefined && native !== null) return native;
    if (!page.has_more) return 0;
    before = page.next;
  }
  return 0;
}

async function* ledger(stream: Stream, last: number): AsyncGenerator<NativeMessage> {
  for (let after = 0; after < last; ) {
    const page = await stream.readNative({ after, limit: PAGE });
    for (const { native_seq, dir, body } of page.messages)
      if (native_seq <= last && dir !== "daemon") yield { dir, data: parsed(body.toString("utf8")) };
    if (page.messages.length === 0) return;
    after = page.next;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
