/** Where a session or a task works, to compare it with a token's scope. Read from its row alone: nothing is loaded or started for it. */
import type { Log } from "../log/contract.ts";
import type { TaskState } from "../schema/task.ts";
import { parseRow } from "../session/session-row.ts";

/** Those that are there. */
export async function directoriesOf(log: Log, sessionIds: readonly string[] = []): Promise<Map<string, string>> {
  const found = await Promise.all(sessionIds.map(async (id) => [id, await directoryOf(log, id)] as const));
  return new Map(found.flatMap(([id, directory]) => (directory === undefined ? [] : [[id, directory] as const])));
}

/** Undefined when there is no such session, or its row cannot be read: then no scope reaches it. */
export async function directoryOf(log: Log, sessionId: string): Promise<string | undefined> {
  try {
    const row = await log.row("session", sessionId);
    return row && parseRow(row.state).directory;
  } catch {
    return undefined;
  }
}

/** The session a task runs for, and where it runs. Undefined when there is no such task. */
export async function taskPlace(log: Log, taskId: string): Promise<{ session_id: string | null; directory: string } | undefined> {
  const row = await log.row("task", taskId);
  if (row === undefined) return undefined;
  const { origin_session_id, cwd } = JSON.parse(row.state) as Partial<TaskState>;
  return { session_id: origin_session_id ?? null, directory: cwd ?? "" };
}
