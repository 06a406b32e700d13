// Installs an agent from the npm registry, at its exact version, into a folder of the data directory. Nothing else on the machine is changed.
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { createInterface } from "node:readline";
import { ProblemError } from "../schema/problem-codes.ts";

export async function installPackage(
  pack: { name: string; version: string },
  folder: string,
  env: Record<string, string>,
  onProgress: (line: string) => void,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  onProgress(`Installing ${pack.name}@${pack.version}`);
  // --force: newer agents name a newer Node in `engines` for their launcher, while the program itself is a native binary that needs none.
  const args = [
    "install",
    "--prefix",
    folder,
    "--no-audit",
    "--no-fund",
    "--force",
    "--save-exact",
    `${pack.name}@${pack.version}`,
  ];
  const npm = spawn(process.platform === "win32" ? "npm.cmd" : "npm", args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const last: string[] = [];
  for (const stream of [npm.stdout, npm.stderr])
    createInterface({ input: stream }).on("line", (line) => {
      last.push(line);
      if (last.length > 20) last.shift();
      onProgress(line);
    });
  const code = await new Promise<number | null>((resolve, reject) => {
    npm.once("error", (error) =>
      reject(
        new ProblemError("install_failed", `npm cannot be started: ${error.message}. Install Node.js with npm.`, {
          cause: error,
        }),
      ),
    );
    npm.once("close", resolve);
  });
  if (code !== 0) throw new ProblemError("install_failed", `npm ended with code ${code}: ${last.join(" ").slice(-500)}`);
  onProgress(`Installed ${pack.name}@${pack.version}`);
}
