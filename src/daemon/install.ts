/**
 * Installs an agent from the npm registry, at its exact version, into a folder of the data directory. Nothing else on the machine is changed. No script of a
 * package runs, but the agent's own where its program is not there without; and what a package's bytes were the first time they must be again.
 */
import { spawn } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ProblemError } from "../schema/problem-codes.ts";
import { childStdio } from "../transports/index.ts";

export type NpmPackage = {
  name: string;
  version: string;
  /** Its own install script is needed: it puts the program for this machine in place. Those of its dependencies never run. */
  script?: boolean;
};

type Progress = (line: string) => void;

/** What npm needs to find and reach its registry. No keys of agents, no options that load code. */
const PASSED =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|XDG_\w+|https?_proxy|no_proxy|all_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|npm_config_\w+|APPDATA|LOCALAPPDATA|USERPROFILE|SystemRoot|ComSpec|PATHEXT|windir|DRAGOMAN_(AGENT|PROCESS))$/i;
const REGISTRY_TOKEN = /^(NPM_TOKEN|NODE_AUTH_TOKEN)$/;
/** Options of npm that run something of the caller's choice. */
const LOADS_CODE = /^npm_config_(node_options|script_shell|shell|globalconfig|init_module|onload_script)$/i;

export async function installPackage(
  pack: NpmPackage,
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  onProgress: Progress,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  onProgress(`Installing ${pack.name}@${pack.version}`);
  const clean = cleaned(env);
  // --force: newer agents name a newer Node in `engines` for their launcher, while the program itself is a native binary that needs none.
  const quiet = ["--prefix", folder, "--no-audit", "--no-fund"];
  const options = [...quiet, "--force", "--ignore-scripts", "--save-exact"];
  await npm(["install", ...options, `${pack.name}@${pack.version}`], clean.withRegistry, onProgress);
  await compareIntegrity(folder, pack);
  if (pack.script) await npm(["rebuild", ...quiet, "--ignore-scripts=false", pack.name], clean.alone, onProgress);
  onProgress(`Installed ${pack.name}@${pack.version}`);
}

function cleaned(env: Readonly<Record<string, string | undefined>>): Record<"withRegistry" | "alone", NodeJS.ProcessEnv> {
  const passed = Object.entries(env).filter(([name]) => PASSED.test(name) && !LOADS_CODE.test(name));
  const tokens = Object.entries(env).filter(([name]) => REGISTRY_TOKEN.test(name));
  return { withRegistry: Object.fromEntries([...passed, ...tokens]), alone: Object.fromEntries(passed) };
}

async function npm(args: string[], env: NodeJS.ProcessEnv, onProgress: Progress): Promise<void> {
  const child = spawn(process.platform === "win32" ? "npm.cmd" : "npm", args, {
    env,
    stdio: childStdio(["ignore", "pipe", "pipe"]),
  });
  const last: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    if (stream)
      createInterface({ input: stream }).on("line", (line) => {
        last.push(line);
        if (last.length > 20) last.shift();
        onProgress(line);
      });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) =>
      reject(
        new ProblemError("install_failed", `npm cannot be started: ${error.message}. Install Node.js with npm.`, {
          cause: error,
        }),
      ),
    );
    child.once("close", resolve);
  });
  if (code !== 0) throw new ProblemError("install_failed", `npm ended with code ${code}: ${last.join(" ").slice(-500)}`);
}

/** npm compares each package with what the registry says; this compares it with what it said before. */
async function compareIntegrity(folder: string, { name, version }: NpmPackage): Promise<void> {
  const file = join(folder, "integrity.json");
  const known = await readRecord(file);
  const found = await lockedIntegrity(folder);
  if (!found[`${name}@${version}`])
    throw new ProblemError("install_failed", `npm did not say what ${name}@${version} is made of. Install it again.`);
  const changed = Object.entries(found).filter(([pack, hash]) => known[pack] !== undefined && known[pack] !== hash);
  if (changed.length > 0) {
    await rm(join(folder, "node_modules"), { recursive: true, force: true });
    await rm(join(folder, "package-lock.json"), { force: true });
    throw new ProblemError(
      "install_failed",
      `${changed.map(([pack]) => pack).join(", ")} has other contents than when it was first installed, and was removed again. Find out why; to accept it, delete ${file}.`,
    );
  }
  await writeFile(file, `${JSON.stringify({ ...known, ...found }, null, 2)}\n`, { mode: 0o600 });
}

/** `name@version` to hash, of everything that was installed. */
async function lockedIntegrity(folder: string): Promise<Record<string, string>> {
  const lock: unknown = JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8"));
  const packages = typeof lock === "object" && lock !== null && "packages" in lock ? lock.packages : {};
  return Object.fromEntries(
    Object.entries(packages ?? {}).flatMap(([path, entry]: [string, unknown]) => {
      const { version, integrity } = { version: undefined, integrity: undefined, ...(entry as object) };
      const name = path.split("node_modules/").at(-1) ?? "";
      return typeof version === "string" && typeof integrity === "string" ? [[`${name}@${version}`, integrity]] : [];
    }),
  );
}

async function readRecord(file: string): Promise<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(await readFile(file, "utf8"));
    return typeof value === "object" && value !== null
      ? Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"))
      : {};
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw error;
  }
}
