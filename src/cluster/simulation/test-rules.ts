/** Rules of the protocol that a history can break on purpose: the checks of the simulation must find each. Nothing of the daemon knows of this. */
export const BROKEN_RULES = {
  "O1 join": "a process that joins as a node keeps the incarnation of the process before",
  "O2 lease": "a node that was fenced gets its lease all the same",
  "O3 epoch": "an append is not compared with the epoch of its stream",
  "O3 sequence": "an append is compared neither with the last sequence of its stream nor with the number of its commit",
  "O3 durable": "a commit is answered before it is done",
  "O4 ambiguous": "a commit whose answer was lost counts as done",
  "O4 number": "a commit that arrives behind newer ones of its process is done all the same",
  "O5 term": "a node fences others although its own lease was broken a moment ago",
  "O6 claim": "a claim does not take the writer from the owner before",
  "O7 start": "a message is given to the agent before its turn is committed",
  "O8 told": "a node is not told that others own its sessions",
  "O9 place": "a session goes where its directory is not",
  "O10 turn": "a session is given away in the middle of its turn",
} as const;

export type BrokenRule = keyof typeof BROKEN_RULES;
