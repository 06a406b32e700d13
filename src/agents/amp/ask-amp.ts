// Asks the installed Amp small questions on its command line, without starting a session.
import { execFile } from "node:child_process";

const TIMEOUT_MS = 30_000;

/** What it prints; null when it fails or does not answer. */
export function askAmp(command: string, args: string[], env: Record<string, string>): Promise<string | null> {
  return new Promise((resolve) => {
    const options = {
      env: { ...env, AMP_SKIP_UPDATE_CHECK: "1" },
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      maxBuffer: 67_108_864,
    } as const;
    execFile(command, args, options, (error, stdout) => resolve(error ? null : stdout)).stdin?.end();
  });
}

/** `0.0.1777897475-g2324e1`; null when it cannot be told. */
export async function ampVersion(command: string, args: string[], env: Record<string, string>): Promise<string | null> {
  return /\d+\.\d+\.\d+\S*/.exec((await askAmp(command, [...args, "--version"], env)) ?? "")?.[0] ?? null;
}

/** Whether Amp has this thread, with this in it. jan: a process that was killed leaves a thread without its messages. */
export async function hasInThread(
  command: string,
  args: string[],
  env: Record<string, string>,
  { thread, text }: { thread: string; text: string },
): Promise<boolean> {
  const said = await askAmp(command, [...args, "threads", "markdown", thread], env);
  return said?.includes(text.trim().split("\n", 1)[0] ?? "") ?? false;
}
