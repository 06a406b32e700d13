/**
 * [S2] What a session writes first after the death of the daemon that ran it: what was open then is closed, messages that the version before kept beside the
 * story become part of it, and the session is dormant, ready to be resumed.
 */
import type { Agent } from "../agents/contract.ts";
import type { StreamDocuments } from "../log/contract.ts";
import { BY_THE_DAEMON } from "../schema/actor.ts";
import { BY_DAEMON } from "./event-writer.ts";
import { unreadableMessages } from "./outcomes.ts";
import type { SessionRecord } from "./session-record.ts";
import { takeOverQueue } from "./stored-queue.ts";

export type Recovery = {
  documents: StreamDocuments;
  agent: Agent /** Something was open when it was last written. */;
  wasOpen: boolean;
};

export function recoverSession(record: SessionRecord, { documents, agent, wasOpen }: Recovery): void {
  const { scribe, row, projection } = record;
  const ended = row.ended !== null || projection.ended;
  if (!ended && wasOpen) scribe.cut("interrupted");
  const unreadable = takeOverQueue(documents, (message) => {
    if (!ended) scribe.writer.emit("message.queued", message, BY_DAEMON);
  });
  if (ended) return record.settled();
  // [S9] A file is data: nothing that waited where it comes from is sent from here.
  if (row.imported_queue) {
    for (const { message_id } of projection.queue) record.dequeue(message_id, "imported");
    record.save({ imported_queue: false });
  }
  // Its agent may have it: it is not given to another one.
  for (const { message_id, steering, actor } of projection.queue)
    if (steering !== undefined) record.dequeue(message_id, "steered", { turn_id: steering, ...(actor ? { actor } : {}) });
  if (unreadable > 0) scribe.say(unreadableMessages(unreadable));
  if (agent.capabilities.resume) scribe.dormant();
  else {
    const message = "The daemon was restarted, and this agent cannot resume a session.";
    scribe.end({ reason: "error", terminated_by: "daemon", message, actor: BY_THE_DAEMON });
  }
  record.settled();
}
