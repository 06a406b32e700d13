// The Python client: its own tests against the built daemon, with the python3 of the machine, and its types against the API.
import { execFile, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { CLI } from "../daemon-process.ts";

const run = promisify(execFile);
const folder = fileURLToPath(new URL("../../clients/python/", import.meta.url));
const script = fileURLToPath(new URL("../../scripts/python-types.mjs", import.meta.url));

/** Debian's own before any other. Undefined where there is none, or only an old one. */
const python = ["/usr/bin/python3", "python3"].find(
  (name) => spawnSync(name, ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]).status === 0,
);

it.skipIf(python === undefined)(
  "passes its own tests against a real daemon (needs Python 3.11)",
  { timeout: 300_000 },
  async () => {
    const env = { PATH: process.env.PATH, DRAGOMAN_CLI: `${process.execPath}\n${CLI}`, PYTHONDONTWRITEBYTECODE: "1" };
    const ran = await run(python ?? "", ["-m", "unittest", "discover", "-s", "tests"], { cwd: folder, env }).catch(
      (error: { stderr: string }) => error,
    );
    expect(ran.stderr).toMatch(/Ran [1-9]\d* tests? in [\s\S]*\nOK\n$/);
  },
);

it("has types that are those of the API", async () => {
  await run(process.execPath, [script, "--check"]);
  expect(readFileSync(`${folder}dragoman_client/types.py`, "utf8")).toContain("class Session(TypedDict):");
});

it("needs nothing but the standard library", () => {
  expect(readFileSync(`${folder}pyproject.toml`, "utf8")).toContain("dependencies = []");
});
