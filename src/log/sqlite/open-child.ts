/** Opens a log that cannot be opened and prints why. Test helper, started as a process of its own under another user. */
import { LogError, openSqliteLog } from "./log.ts";

export async function printRefusal(dataDir: string): Promise<void> {
  try {
    await (await openSqliteLog({ dataDir })).close();
    process.stdout.write("opened\n");
  } catch (error) {
    process.stdout.write(`${error instanceof LogError ? error.code : String(error)}\n`);
  }
}
