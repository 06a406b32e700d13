/**
 * The last net of `dragoman serve`: errors that no code caught. A log that cannot write is a known state, and a rejected promise that nobody waits for has
 * interrupted nothing: both are logged, and the daemon goes on. After any other error that reached the event loop the state is unknown: the daemon is
 * stopped in good order and says so; its next start recovers every session from the log. Not for programs that embed the daemon: their process is theirs.
 */
import { LogError } from "../log/log-error.ts";
import type { LogLevel } from "./agent-host.ts";

export type FaultOptions = {
  log(level: LogLevel, message: string, fields: Record<string, unknown>): void;
  /** Called once, when the daemon has to stop. */
  stop(error: unknown): void;
};

/** Returns the function that removes the handlers. */
export function watchProcessFaults({ log, stop }: FaultOptions): () => void {
  let stopping = false;
  const report = (message: string, error: unknown): void => {
    try {
      log("error", message, { error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    } catch {
      // The logger's own output is gone: there is nobody left to inform.
    }
  };
  const onException = (error: unknown): void => {
    if (error instanceof LogError) return report("the log refused something outside of a session; the daemon goes on", error);
    report("an error was caught nowhere, so the daemon's state is unknown: it stops, and its next start recovers", error);
    if (!stopping) stop(error);
    stopping = true;
  };
  const onRejection = (error: unknown): void =>
    report("a promise was rejected and nobody waited for it; the daemon goes on", error);
  process.on("uncaughtException", onException);
  process.on("unhandledRejection", onRejection);
  return () => {
    process.off("uncaughtException", onException);
    process.off("unhandledRejection", onRejection);
  };
}
