/** Events of OpenCode's server that may make no event of ours, and why. */
import type { SilenceTable } from "../../contract.ts";

export const SILENCE: SilenceTable = [
  ["sync:*", "repeats the event before it"],
  ["message.updated:user", "a message is told with its first part"],
  ["message.updated:assistant", "a message is told with its first part, and ends once"],
  ["message.part.*", "nothing in it is new, or its message is over"],
  ["message.removed", "its message was never told"],
  ["permission.replied", "our answer told it"],
  ["permission.v2.replied", "our answer told it"],
  ["permission.asked", "it is open already"],
  ["permission.v2.asked", "it is open already"],
  ["question.*", "our answer told it"],
  ["server.connected", "the stream is open"],
  ["session.status", "follows from turns and open requests"],
  ["session.idle", "repeats session.status"],
  ["session.diff", "nothing in it is new"],
  ["session.error", "the same failure stands on its message"],
  ["session.created", "the answer to our request told it"],
  ["session.updated", "nothing in it is new"],
  ["session.next.*", "told with the beginning or the end of the same thing"],
  ["catalog.updated", "one notice a directory"],
  ["integration.updated", "one notice a directory"],
  ["plugin.added", "one notice a directory"],
  ["project.updated", "one notice a directory"],
  ["reference.updated", "one notice a directory"],
];
