/**
 * The sandbox of a session's commands. When the wanted one cannot be had, commands run without it and a notice says so: it is never left out in silence. Who must
 * have it says `required`, and gets an error instead.
 */
import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { WrapCommand } from "../shell-tasks.ts";
import { bubblewrapArguments, type SandboxLimits } from "./bubblewrap.ts";

export type SandboxMode = "off" | "read-only" | "workspace-write";

export interface SandboxOptions {
  /** What is wanted. */
  readonly mode: SandboxMode;
  readonly network?: "on" | "off";
  /** The session's directory, real. */
  readonly directory: string;
  /** More writable directories, real. */
  readonly moreRoots?: readonly string[];
  /** Never seen by commands: the daemon's data directory. */
  readonly hidden?: readonly string[];
  /** Throw instead of running without. */
  readonly required?: boolean;
  /** Where programs are looked for; the process's PATH unless given. */
  readonly path?: string;
}

export interface Sandbox {
  /** What commands really get. */
  readonly mode: SandboxMode;
  /** A sentence for the person when this is not what was wanted; null otherwise. */
  readonly notice: string | null;
  /** One line for the model. */
  readonly description: string;
  readonly wrap: WrapCommand;
}

const PROBE_MS = 10_000;

export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { mode, directory, network = "off", moreRoots = [], hidden = [] } = options;
  if (mode === "off") return without(null);
  const limits: SandboxLimits = { mode, network, roots: [directory, ...moreRoots], hidden };
  const found = await knownProbe(limits, options.path ?? process.env.PATH ?? "");
  if (found.kind === "missing") {
    const notice = `Commands run without a sandbox: ${found.reason}`;
    if (options.required) throw new Error(`${notice} The session asks for one, so nothing was started.`);
    return without(notice);
  }
  return {
    mode,
    notice: null,
    description: describe(limits),
    // Made anew for each command: files to be protected may have come since.
    wrap: async (argv, cwd) => [found.program, ...bubblewrapArguments(limits, cwd), ...argv],
  };
}

/** Whether it works is a fact of the machine: it is found out once. */
const probes = new Map<string, Promise<SandboxProbe>>();

function knownProbe(limits: SandboxLimits, path: string): Promise<SandboxProbe> {
  const known = probes.get(path) ?? probeBubblewrap(limits, path);
  probes.set(path, known);
  return known;
}

const without = (notice: string | null): Sandbox => ({ mode: "off", notice, description: "none", wrap: async (argv) => argv });

const describe = ({ mode, network }: SandboxLimits): string =>
  `${mode === "read-only" ? "nothing can be written" : "only the working directory (without .git) and /tmp can be written"}, network ${network}. Set unsandboxed to ask the user for more.`;

/** Whether bubblewrap is there and may do what we ask: in containers it often may not. */
export type SandboxProbe =
  | { readonly kind: "found"; readonly program: string }
  /** With a sentence that says what to do. */
  | { readonly kind: "missing"; readonly reason: string };

export async function probeBubblewrap(limits: SandboxLimits, path: string): Promise<SandboxProbe> {
  if (process.platform !== "linux") return { kind: "missing", reason: `there is none for ${process.platform} yet.` };
  const program = findProgram("bwrap", path);
  if (program === null) return { kind: "missing", reason: "bubblewrap is not installed. Install the package bubblewrap." };
  const args = [...bubblewrapArguments(limits, limits.roots[0] ?? "/"), "true"];
  return new Promise((resolve) => {
    execFile(program, args, { timeout: PROBE_MS }, (error, _stdout, stderr) => {
      if (error === null) return resolve({ kind: "found", program });
      const why = stderr.trim().split("\n")[0] || error.message.split("\n")[0];
      resolve({
        kind: "missing",
        reason: `bubblewrap does not work here (${why}). Allow user namespaces, or use another machine.`,
      });
    });
  });
}

function findProgram(name: string, path: string): string | null {
  for (const directory of path.split(delimiter).filter((one) => one.startsWith("/"))) {
    const program = join(directory, name);
    try {
      accessSync(program, constants.X_OK);
      return program;
    } catch {
      // Look on.
    }
  }
  return null;
}
