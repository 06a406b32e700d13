/** Finds an agent's program, asks its version, and looks whether somebody is signed in. One way for all agents; the login of each is its own to read. */
import { stat } from "node:fs/promises";
import { ProcessRegistry, runProgram, SpawnError } from "../../transports/index.ts";
import type { AgentHost, AgentInspection } from "../contract.ts";

const VERSION_MS = 30_000;

type Environment = Record<string, string>;

export type ProgramQuestions = {
  /** Null: only the provider could know. Absent: nobody can know. */
  signedIn?(env: Environment, host: AgentHost): boolean | null | Promise<boolean | null>;
  /** What to do when nobody is signed in; `not_sure`: also when that cannot be determined. */
  readonly signInAdvice?: { readonly advice: string; readonly when: "signed_out" | "not_sure" };
  /** Of the configured arguments, those that stand before `--version`. Default: all. */
  versionArgs?(args: string[]): string[];
  /** Programs of its kind need not know `--version`. */
  readonly maySayNoVersion?: true;
  /** Where it is asked, and with which variables beside those of every process of it. Default: in its state directory. */
  readonly cwd?: string;
  readonly env?: Environment;
  /** What was asked before, by program and date: some programs take seconds to say their version. */
  readonly known?: Map<string, string>;
};

const absent = (error: unknown): AgentInspection => ({
  installed: false,
  path: null,
  version: null,
  signed_in: null,
  advice: error instanceof Error ? error.message : String(error),
});

export async function inspectProgram(host: AgentHost, questions: ProgramQuestions = {}): Promise<AgentInspection> {
  try {
    const { command, args } = await host.resolveCommand();
    const env = host.environment({});
    const [version, signed_in] = await Promise.all([
      versionOf(host, command, args, env, questions),
      questions.signedIn?.(env, host) ?? null,
    ]);
    return { installed: true, path: command, version, signed_in, advice: adviceFor(command, version, signed_in, questions) };
  } catch (error) {
    return absent(error);
  }
}

/** For what is loaded and not started: `find` rejects with the advice when it is not there. */
export async function inspectLoaded(
  host: AgentHost,
  find: (host: AgentHost) => Promise<{ path: string; version: string | null }>,
  questions: Pick<ProgramQuestions, "signedIn" | "signInAdvice">,
): Promise<AgentInspection> {
  try {
    const { path, version } = await find(host);
    const signed_in = (await questions.signedIn?.(host.environment({}), host)) ?? null;
    return { installed: true, path, version, signed_in, advice: signInAdvice(signed_in, questions) };
  } catch (error) {
    return absent(error);
  }
}

/** `0.61.0`, `1.18.2-beta.1`, `0.0.1790712063-gb89205`. */
export const versionIn = (text: string): string | null => /\d+\.\d+\.\d+(?:[-+.]\w+)*/.exec(text)?.[0] ?? null;

/** Null: it is there, and does not say it. Rejects when it cannot be started. */
async function versionOf(
  host: AgentHost,
  command: string,
  args: string[],
  env: Environment,
  { versionArgs = (all) => all, cwd = host.stateDir, env: more = {}, known }: ProgramQuestions,
): Promise<string | null> {
  const asked = versionArgs(args);
  const changed = await stat(command).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const name = JSON.stringify([command, asked, changed]);
  const before = known?.get(name);
  if (before !== undefined) return before;
  const stdout = await runProgram(command, {
    args: [...asked, "--version"],
    cwd,
    env: { ...env, ...more },
    timeoutMs: VERSION_MS,
    recorder: new ProcessRegistry(host.processDir),
  }).catch((error: unknown) => {
    if (error instanceof SpawnError) throw error;
    return "";
  });
  const version = versionIn(stdout);
  if (version !== null) known?.set(name, version);
  return version;
}

function adviceFor(command: string, version: string | null, signed: boolean | null, questions: ProgramQuestions): string | null {
  if (version === null && !questions.maySayNoVersion) return `${command} --version does not answer: reinstall it.`;
  return signInAdvice(signed, questions);
}

function signInAdvice(signed: boolean | null, { signInAdvice: given }: Pick<ProgramQuestions, "signInAdvice">): string | null {
  if (given === undefined || signed === true) return null;
  return signed === false || given.when === "not_sure" ? given.advice : null;
}
