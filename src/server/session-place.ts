/** Where a session works, to compare it with a token's scope. Read from its row alone: nothing is loaded or started for it. */
import type { Log } from "../log/contract.ts";
import { parseRow } from "../session/session-row.ts";

/** Undefined when there is no such session, or its row cannot be read: then no scope reaches it. */
export function directoryOf(log: Log, sessionId: string): string | undefined {
  try {
    const stream = log.stream("session", sessionId);
    return stream && parseRow(stream.state()).directory;
  } catch {
    return undefined;
  }
}
