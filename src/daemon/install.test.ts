// Installing an agent, with a stand-in for npm that writes down how it was called and what a registry answered. The real registry is not asked.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installPackage } from "./install.ts";

let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "dragoman-install-"));
  folder = join(base, "agent");
  mkdirSync(join(base, "bin"));
  registry("sha512-first");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** What the stand-in puts into the lock file. */
function registry(integrity: string, dependency = "sha512-dependency"): void {
  const lock = {
    packages: {
      "": { dependencies: {} },
      "node_modules/some-agent": { version: "1.2.3", integrity },
      "node_modules/some-agent/node_modules/@scope/dependency": { version: "0.1.0", integrity: dependency },
    },
  };
  const script = `#!/usr/bin/env node
const { appendFileSync, mkdirSync, writeFileSync } = require("node:fs");
const args = process.argv.slice(2);
const folder = args[args.indexOf("--prefix") + 1];
appendFileSync(${JSON.stringify(join(base, "calls"))}, JSON.stringify({ args, env: process.env }) + "\\n");
mkdirSync(folder + "/node_modules", { recursive: true });
if (args[0] === "install") writeFileSync(folder + "/package-lock.json", ${JSON.stringify(JSON.stringify(lock))});
console.log("added 2 packages");
`;
  writeFileSync(join(base, "bin", "npm"), script);
  chmodSync(join(base, "bin", "npm"), 0o755);
}

const env = () => ({
  PATH: `${join(base, "bin")}${delimiter}${process.env.PATH}`,
  HOME: base,
  HTTPS_PROXY: "http://proxy:1",
  NPM_TOKEN: "registry-token",
  NODE_OPTIONS: "--require=/tmp/evil.js",
  npm_config_node_options: "--require=/tmp/evil.js",
  LD_PRELOAD: "/tmp/evil.so",
  DRAGOMAN_TOKEN: "the-root-token",
  ANTHROPIC_API_KEY: "a-key",
});

type Call = { args: string[]; env: Record<string, string> };
const calls = (): Call[] =>
  readFileSync(join(base, "calls"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Call);
const pack = { name: "some-agent", version: "1.2.3" };
const install = (script = false) => installPackage({ ...pack, script }, folder, env(), () => {});

describe("installing an agent", () => {
  it("runs no script of any package, at the exact version", async () => {
    await install();
    const [call, ...rest] = calls();
    expect(rest).toEqual([]);
    expect(call?.args).toEqual(expect.arrayContaining(["--ignore-scripts", "--save-exact", "some-agent@1.2.3"]));
  });

  it("runs the agent's own script where it needs one, and only that", async () => {
    await install(true);
    const [, rebuild, ...rest] = calls();
    expect(rest).toEqual([]);
    expect(rebuild?.args[0]).toBe("rebuild");
    expect(rebuild?.args.filter((arg) => !arg.startsWith("-") && arg !== folder)).toEqual(["rebuild", "some-agent"]);
  });

  it("gives npm and scripts nothing of the daemon's environment but what they need", async () => {
    await install(true);
    for (const { env: given } of calls()) {
      expect(given).toMatchObject({ HOME: base, HTTPS_PROXY: "http://proxy:1" });
      for (const name of ["NODE_OPTIONS", "npm_config_node_options", "LD_PRELOAD", "DRAGOMAN_TOKEN", "ANTHROPIC_API_KEY"])
        expect([name, given[name]]).toEqual([name, undefined]);
    }
    expect(calls().map(({ env: given }) => given.NPM_TOKEN)).toEqual(["registry-token", undefined]);
  });

  it("takes the same contents again, and refuses others under the same version before their script runs", async () => {
    await install();
    await install();
    registry("sha512-other");
    await expect(install(true)).rejects.toMatchObject({
      code: "install_failed",
      message: expect.stringContaining("some-agent@1.2.3"),
    });
    expect(calls().map(({ args }) => args[0])).toEqual(["install", "install", "install"]);
    expect(existsSync(join(folder, "node_modules"))).toBe(false);
    registry("sha512-first", "sha512-other-dependency");
    await expect(install()).rejects.toMatchObject({ message: expect.stringContaining("@scope/dependency@0.1.0") });
    registry("sha512-first");
    await install();
  });
});
