// Stands on the PATH as `dragoman`, `npx` and `npm` while the documentation's commands are run. Only what cannot end, or would download hundreds of
// megabytes, is done otherwise: a command that follows is stopped once it has begun, an installation is asked for instead of made, and scripts of the
// repository itself (which run these tests) must exist.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [, , name, root, ...rest] = process.argv;
const cli = join(root, "dist", "cli", "main.js");

if (name === "npm") npm(rest);
else if (name === "npx") {
  if (rest[0] !== "dragoman") fail(`npx ${rest[0]} is not dragoman`);
  dragoman(rest.slice(1));
} else dragoman(rest);

function npm([first, second]) {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  if (first === "ci") return existsSync(join(root, "package-lock.json")) || fail("npm ci needs a lock file");
  const script = first === "run" ? second : first;
  if (!(script in scripts)) fail(`there is no script ${script}`);
}

function dragoman(args) {
  if (args[0] === "serve") return serve(args);
  if (args[0] === "agents" && args[1] === "install") return installable(args[2]);
  if (args[0] === "attach" || args.includes("-f") || args[0] === "events") return begin(args);
  const { status } = spawnSync(process.execPath, [cli, ...args], { stdio: "inherit" });
  process.exit(status ?? 1);
}

function installable(agent) {
  const { stdout } = spawnSync(process.execPath, [cli, "agents", agent, "--json"], { encoding: "utf8" });
  if (!JSON.parse(stdout).installable) fail(`${agent} cannot be installed`);
}

/** Another daemon beside the one of the test: on a free port, in a place of its own, until it is ready. */
function serve(args) {
  const dataDir = mkdtempSync(join(tmpdir(), "dragoman-docs-serve-"));
  const child = spawn(process.execPath, [cli, ...args, "--port", "0", "--no-open", "--data-dir", dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, DRAGOMAN_DATA_DIR: dataDir },
  });
  child.stdout.once("data", () => child.kill("SIGTERM"));
  child.once("exit", (code) => {
    rmSync(dataDir, { recursive: true, force: true });
    process.exit(code ?? 1);
  });
}

function begin(args) {
  const child = spawn(process.execPath, [cli, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let begun = false;
  child.stdout.on("data", () => {
    begun = true;
    child.kill("SIGTERM");
  });
  child.once("exit", (code) => process.exit(begun ? 0 : (code ?? 1)));
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
