// Asks the installed Amp small questions on its command line, without starting a session.
import { type ProcessRecorder, runProgram } from "../../../transports/index.ts";
import { versionIn } from "../../kit/inspect.ts";

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Amp loads settings of the directory it runs in: one that only root can write has none. */
export const QUIET = { cwd: "/", env: { AMP_SKIP_UPDATE_CHECK: "1" } };

/** What it prints; null when it fails or does not answer. */
export function askAmp(
  command: string,
  args: string[],
  env: Record<string, string>,
  recorder?: ProcessRecorder,
): Promise<string | null> {
  return runProgram(command, {
    args,
    cwd: QUIET.cwd,
    env: { ...env, ...QUIET.env },
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    ...(recorder === undefined ? {} : { recorder }),
  }).catch(() => null);
}

/** `0.0.1777897475-g2324e1`; null when it cannot be determined. */
export async function ampVersion(
  command: string,
  args: string[],
  env: Record<string, string>,
  recorder?: ProcessRecorder,
): Promise<string | null> {
  return versionIn((await askAmp(command, [...args, "--version"], env, recorder)) ?? "");
}

/** Whether Amp has this thread, with this in it. jan: a process that was killed leaves a thread without its messages. */
export async function hasInThread(
  command: string,
  args: string[],
  env: Record<string, string>,
  { thread, text }: { thread: string; text: string },
  recorder?: ProcessRecorder,
): Promise<boolean> {
  const said = await askAmp(command, [...args, "threads", "markdown", thread], env, recorder);
  return said?.includes(text.trim().split("\n", 1)[0] ?? "") ?? false;
}
