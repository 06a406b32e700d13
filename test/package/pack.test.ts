// What users get: the packed tarball, installed into an empty folder with an empty home. Needs the npm registry for the dependencies.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeDir, temporaryDir } from "../daemon-process.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

const MOST_PACKAGES = 100;
const MOST_BYTES = 70_000_000;

let dir: string;
let app: string;
let env: NodeJS.ProcessEnv;
let files: string[];
/** What npm complained about while it installed the package. */
let warnings: string;
let daemon: ChildProcess | undefined;
beforeAll(async () => {
  dir = temporaryDir("pack");
  app = join(dir, "app");
  mkdirSync(app);
  mkdirSync(join(dir, "home"));
  const registry = (await run("npm", ["config", "get", "registry"], { cwd: root })).stdout.trim();
  env = { PATH: process.env.PATH, HOME: join(dir, "home"), npm_config_registry: registry, npm_config_update_notifier: "false" };
  const packed = await run("npm", ["pack", "--json", "--pack-destination", dir], {
    cwd: await cleanCopy(),
    maxBuffer: 64 * 1024 * 1024,
  });
  // What the build prints stands before the answer.
  const answer = JSON.parse(packed.stdout.slice(packed.stdout.search(/^[[{]/m))) as unknown;
  // npm 11 answers with a list, newer ones with an object by name.
  const [tarball] = Object.values(answer as Record<string, { filename: string; files: { path: string }[] }>);
  files = tarball?.files.map(({ path }) => path) ?? [];
  writeFileSync(join(app, "package.json"), '{"private":true,"type":"module"}');
  ({ stderr: warnings } = await run("npm", ["install", "--no-audit", "--no-fund", join(dir, tarball?.filename ?? "")], {
    cwd: app,
    env,
  }));
}, 600_000);
/** What a clone holds: the files under version control, nothing that was built. Dependencies are borrowed. */
async function cleanCopy(): Promise<string> {
  const copy = join(dir, "clone");
  const { stdout } = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of stdout.split("\0").filter((name) => name !== "" && existsSync(join(root, name))))
    cpSync(join(root, file), join(copy, file));
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

afterAll(() => {
  daemon?.kill("SIGKILL");
  removeDir(dir);
});

const dragoman = (...args: string[]) => run("npx", ["--no-install", "dragoman", ...args], { cwd: app, env });

describe("the package", () => {
  it("holds what users need and nothing of the workshop", () => {
    expect(files).toEqual(
      expect.arrayContaining([
        "package.json",
        "README.md",
        "LICENSE",
        "dist/cli/main.js",
        "dist/client/index.d.ts",
        "dist/schema/json/event.json",
        "dist/docs/index.html",
        "dist/inspector/index.html",
      ]),
    );
    const foreign = files.filter(
      (file) => /^(src|test|inspector|traces|bench|scripts|examples)\//.test(file) || /\.test\.|(^|\/)\.env/.test(file),
    );
    expect(foreign).toEqual([]);
  });

  it("asks for no newer Node than it says itself", () => {
    expect(warnings).not.toContain("EBADENGINE");
  });

  it("is a light install", async () => {
    const modules = readdirSync(join(app, "node_modules"), { recursive: true, withFileTypes: true });
    const packages = modules.filter(
      ({ name, parentPath }) => name === "package.json" && /[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+$/.test(parentPath),
    );
    expect(packages.length).toBeLessThanOrEqual(MOST_PACKAGES);
    const bytes = modules.map((entry) => (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0));
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(MOST_BYTES);
  });

  it("tells its version", async () => {
    expect((await dragoman("--version")).stdout.trim()).toBe(version);
  });

  it("serves, and prompts are answered, also by an agent from a package that has no dragoman beside it", async () => {
    const data = join(dir, "home", ".local", "share", "dragoman");
    cpSync(join(root, "examples", "agent"), join(data, "agents", "parrot", "node_modules", "dragoman-agent-parrot"), {
      recursive: true,
    });
    const config = join(dir, "home", ".config", "dragoman", "config.json");
    mkdirSync(dirname(config), { recursive: true });
    writeFileSync(config, JSON.stringify({ agents: { parrot: { package: "dragoman-agent-parrot" } } }));
    const child = spawn(
      process.execPath,
      [join(app, "node_modules/dragoman/dist/cli/main.js"), "serve", "--port", "0", "--json"],
      { cwd: app, env },
    );
    daemon = child;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    try {
      const line = await new Promise<string>((resolve, reject) => {
        child.stdout.setEncoding("utf8").once("data", resolve);
        void gone.then(() => reject(new Error("the daemon ended")));
      });
      const { url } = JSON.parse(line) as { url: string };
      expect((await dragoman("run", "mock", "say hello")).stdout).toBe("hello\n");
      for (const path of ["/docs", "/ui", "/docs/api"]) expect((await fetch(url + path)).status).toBe(200);
      expect((await dragoman("run", "parrot", "good morning")).stdout).toContain("good morning");
      const script = `import { connect } from "dragoman/client"; const d = await connect(); console.log((await d.health()).status);`;
      writeFileSync(join(app, "client.js"), script);
      expect((await run(process.execPath, ["client.js"], { cwd: app, env })).stdout).toBe("ok\n");
    } finally {
      child.kill("SIGTERM");
    }
    expect(await gone).toBe(0);
  });
});
