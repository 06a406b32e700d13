/** For tests: temporary directories, shells, and everything a directory holds as one comparable list. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { joinRaw, toFs } from "./raw-path.ts";

/** A directory without links in its path; `remove` takes it away, whatever is in it. */
export function temporary(name: string): { path: string; remove: () => void } {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `dragoman-${name}-`)));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Type, mode and content of every path, without `.git`. */
export function snapshot(root: string): Map<string, string> {
  const all = new Map<string, string>();
  const visit = (path: string) => {
    const full = toFs(path === "" ? root : `${root}/${path}`);
    const stat = lstatSync(full);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) all.set(path, `link ${readlinkSync(full, "latin1")}`);
    else if (stat.isDirectory()) {
      all.set(path, `directory ${mode}`);
      for (const name of readdirSync(full, "latin1")) if (name !== ".git") visit(joinRaw(path, name));
    } else if (stat.isFile()) all.set(path, `file ${mode} ${createHash("sha256").update(readFileSync(full)).digest("hex")}`);
    else all.set(path, "special");
  };
  visit("");
  return all;
}

/** What differs, in words; empty when nothing does. */
export function differences(one: Map<string, string>, other: Map<string, string>): string[] {
  const found: string[] = [];
  for (const path of new Set([...one.keys(), ...other.keys()]))
    if (one.get(path) !== other.get(path)) found.push(`${JSON.stringify(path)}: ${one.get(path)} | ${other.get(path)}`);
  return found.sort();
}

export function bash(directory: string, script: string): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@example.org" };
  return execFileSync("bash", ["--norc", "--noprofile", "-euc", script], {
    cwd: directory,
    env: { ...env, GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@example.org" },
    encoding: "utf8",
  });
}

/** Numbers from 0 to 1, the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
