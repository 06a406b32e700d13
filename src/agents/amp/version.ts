// Asks the installed Amp for its version, without starting a session.
import { execFile } from "node:child_process";

const VERSION_TIMEOUT_MS = 20_000;

/** `0.0.1777897475-g2324e1`; null when it cannot be told. */
export function ampVersion(command: string, args: string[], env: Record<string, string>): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { env: { ...env, AMP_SKIP_UPDATE_CHECK: "1" }, timeout: VERSION_TIMEOUT_MS, killSignal: "SIGKILL" } as const;
    const child = execFile(command, [...args, "--version"], options, (error, stdout) => {
      resolve(error ? null : (/\d+\.\d+\.\d+\S*/.exec(stdout)?.[0] ?? null));
    });
    child.stdin?.end();
  });
}
