// Runs the built command line with exactly this environment, to its end.
import { spawn } from "node:child_process";
import { CLI } from "../daemon-process.ts";

export type Ran = { code: number | null; out: string; err: string };

export async function runProgram(
  args: string[],
  env: NodeJS.ProcessEnv,
  options: { cwd?: string; input?: string } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [CLI, ...args], { env, cwd: options.cwd ?? env.HOME });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  child.stdin.end(options.input ?? "");
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, out, err };
}
