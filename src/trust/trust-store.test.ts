import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { TrustStore } from "./trust-store.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "dragoman-trust-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
function place(): { dataDir: string; work: string } {
  const base = join(root, String(++count));
  const [dataDir, work] = [join(base, "data"), join(base, "work")];
  for (const folder of [dataDir, work]) mkdirSync(folder, { recursive: true });
  return { dataDir, work };
}

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=u", "-c", "user.email=u@example.com", ...args], { cwd, stdio: "pipe" });

it("[T1] trusts a directory with all below it, and nothing beside it", () => {
  const { dataDir, work } = place();
  for (const name of ["repo/sub/deep", "repository"]) mkdirSync(join(work, name), { recursive: true });
  const store = new TrustStore({ dataDir });
  store.add(join(work, "repo"));
  expect(store.isTrusted(join(work, "repo"))).toBe(true);
  expect(store.isTrusted(join(work, "repo/sub/deep"))).toBe(true);
  expect(store.isTrusted(join(work, "repository"))).toBe(false);
  expect(store.isTrusted(work)).toBe(false);
});

it("[T1] is kept in a private file and read again; a removed directory is not trusted any more", () => {
  const { dataDir, work } = place();
  symlinkSync(work, join(dataDir, "link"));
  new TrustStore({ dataDir }).add(join(dataDir, "link"));
  expect(statSync(join(dataDir, "trust.json")).mode & 0o777).toBe(0o600);
  const again = new TrustStore({ dataDir });
  expect(again.list()).toMatchObject([{ directory: work, scope: "tree", source: "person" }]);
  expect(again.remove(work)).toBe("removed");
  expect(again.remove(work)).toBe("unknown");
  expect(new TrustStore({ dataDir }).isTrusted(work)).toBe(false);
});

it("[T1] a file that cannot be read trusts nobody and is reported", () => {
  const { dataDir, work } = place();
  for (const text of ["{", JSON.stringify({ directories: [{ directory: work }] })]) {
    writeFileSync(join(dataDir, "trust.json"), text);
    const told: string[] = [];
    expect(new TrustStore({ dataDir, onDamage: (message) => told.push(message) }).isTrusted(work)).toBe(false);
    expect(told).toHaveLength(1);
  }
});

it("[T1] home, the root and temporary places are trusted alone, never with all below them", () => {
  const { dataDir, work } = place();
  const store = new TrustStore({ dataDir, home: work });
  mkdirSync(join(work, "repo"));
  for (const alone of ["/", work, tmpdir(), "/tmp"]) expect(store.add(alone)).toMatchObject({ scope: "directory" });
  expect(store.isTrusted(work)).toBe(true);
  expect(store.isTrusted(join(work, "repo"))).toBe(false);
  mkdirSync(join(work, ".git"));
  expect(store.rootOf(join(work, "repo"))).toBe(join(work, "repo"));
});

it("[T1] the configuration file's directories are trusted and cannot be removed here", () => {
  const { dataDir, work } = place();
  mkdirSync(join(work, "project"));
  const store = new TrustStore({ dataDir, home: work, configured: ["~/project"] });
  expect(store.isTrusted(join(work, "project"))).toBe(true);
  expect(store.remove(join(work, "project"))).toBe("configured");
});

it("[T1] a git worktree is trusted with its repository; a directory that only claims to be one is not", () => {
  const { dataDir, work } = place();
  const repo = join(work, "repo");
  mkdirSync(join(repo, "sub"), { recursive: true });
  git(repo, "init", "--quiet");
  git(repo, "commit", "--quiet", "--allow-empty", "-m", "first");
  git(repo, "worktree", "add", "--quiet", join(work, "tree"));
  const store = new TrustStore({ dataDir });
  expect(store.rootOf(join(repo, "sub"))).toBe(repo);
  expect(store.isTrusted(join(work, "tree"))).toBe(false);
  store.add(repo);
  expect(store.isTrusted(join(work, "tree"))).toBe(true);
  mkdirSync(join(work, "liar"));
  writeFileSync(join(work, "liar/.git"), `gitdir: ${join(repo, ".git/worktrees/tree")}\n`);
  expect(store.isTrusted(join(work, "liar"))).toBe(false);
});
