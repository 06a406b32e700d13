import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { closeCheckpoints, openCheckpoints } from "../checkpoints/index.ts";
import { bash, temporary } from "../test-trees.ts";
import { gitDiff, gitStatus } from "./git-status.ts";
import { Files } from "./index.ts";

let place: ReturnType<typeof temporary>;
beforeEach(() => {
  place = temporary("status");
});
afterEach(() => place.remove());

it("tells branch, staged, changed, renamed and untracked paths, relative to the directory", async () => {
  bash(place.path, "git init -q -b main; mkdir sub; echo 1 > sub/a; echo 1 > sub/b; echo 1 > top; git add -A; git commit -qm x");
  bash(
    place.path,
    "echo 2 >> sub/a; git mv sub/b 'sub/new name'; echo 3 > sub/staged; git add sub/staged; : > sub/untracked; echo 2 >> top",
  );
  const status = await gitStatus(join(place.path, "sub"));
  expect(status).toMatchObject({ branch: "main", upstream: null, truncated: false });
  expect(status.entries).toEqual([
    { path: "a", kind: "changed", index: ".", worktree: "M" },
    { path: "new name", kind: "renamed", index: "R", worktree: ".", from: "b" },
    { path: "staged", kind: "changed", index: "A", worktree: "." },
    { path: "../top", kind: "changed", index: ".", worktree: "M" },
    { path: "untracked", kind: "untracked", index: ".", worktree: "?" },
  ]);
  const { diff, truncated } = await gitDiff(join(place.path, "sub"));
  expect(truncated).toBe(false);
  expect(diff).toContain("+2");
  expect(diff).not.toContain("b/top");
  expect((await gitDiff(place.path, { staged: true, paths: ["sub/staged"] })).diff).toContain("+3");
  expect((await gitDiff(place.path, { base: "HEAD", paths: ["top"] })).diff).toContain("b/top");
});

it("says what is not a repository, and what is not a commit", async () => {
  await expect(gitStatus(place.path)).rejects.toMatchObject({ code: "not_a_repository" });
  bash(place.path, "git init -q");
  expect(await gitStatus(place.path)).toMatchObject({ commit: null, entries: [] });
  for (const base of ["--output=/tmp/x", "no-such-commit", "HEAD~999"])
    await expect(gitDiff(place.path, { base })).rejects.toMatchObject({ code: "invalid_pattern" });
});

it("compares with commits only: a file of one would be shown that lies outside of the directory", async () => {
  bash(
    place.path,
    "git init -q -b main; mkdir sub; echo outside > top; echo 1 > sub/a; git add -A; git commit -qm x; echo 2 >> sub/a",
  );
  const sub = join(place.path, "sub");
  expect((await gitDiff(sub, { base: "HEAD", paths: ["a"] })).diff).toContain("+2");
  for (const base of ["HEAD:top", "HEAD^{tree}", "@{upstream}"])
    await expect(gitDiff(sub, { base, paths: ["a"] }), base).rejects.toMatchObject({ code: "invalid_pattern" });
});

it("runs nothing that a hostile repository names", async () => {
  const marker = join(place.path, "ran");
  const script = join(place.path, "evil.sh");
  writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> ${marker}\ncat\n`);
  chmodSync(script, 0o755);
  bash(
    place.path,
    `git init -q; echo 1 > f.txt; echo 1 > g.evil; printf '*.evil filter=evil diff=evil\\n*.txt diff=evil\\n' > .gitattributes; git add f.txt g.evil .gitattributes evil.sh; git commit -qm x
    git config core.fsmonitor ${script}; git config diff.external ${script}; git config diff.evil.textconv ${script}; git config diff.evil.command ${script}
    git config filter.evil.clean ${script}; git config filter.evil.smudge ${script}; git config filter.evil.required true; git config filter.e=v.il.process ${script}
    git config core.pager ${script}; git config core.hooksPath ${place.path}/.hooks; git config core.sshCommand ${script}; git config core.editor ${script}
    mkdir .hooks; for h in post-index-change pre-commit post-checkout reference-transaction fsmonitor-watchman; do cp ${script} .hooks/$h; done
    touch f.txt g.evil; echo 2 >> g.evil; echo 2 >> f.txt`,
  );
  const stores = temporary("stores");
  expect((await gitStatus(place.path)).entries.map(({ path }) => path)).toContain("f.txt");
  expect((await gitDiff(place.path)).diff).toContain("+2");
  await gitDiff(place.path, { base: "HEAD" });
  const files = await Files.open(place.path);
  await files.search("1");
  await files.complete("f");
  const checkpoints = await openCheckpoints(place.path, stores.path);
  const { id } = await checkpoints.take({ kind: "turn_start", session_id: "s" });
  bash(place.path, "rm f.txt g.evil; mkdir new");
  await checkpoints.rewind(id);
  await closeCheckpoints(checkpoints);
  stores.remove();
  expect(existsSync(marker)).toBe(false);
});

it("shows nothing of another directory that a hostile repository names as its work tree", async () => {
  const other = temporary("other");
  writeFileSync(join(other.path, "key"), "not yours\n");
  writeFileSync(join(other.path, "more"), "not yours either\n");
  bash(
    place.path,
    `git init -q; touch key; git add key; git commit -qm x; git config core.worktree ${other.path}; echo mine > own`,
  );
  const refusal = { code: "not_a_repository" };
  await expect(gitStatus(place.path)).rejects.toMatchObject(refusal);
  for (const options of [{}, { staged: true }, { base: "HEAD" }])
    await expect(gitDiff(place.path, options)).rejects.toMatchObject(refusal);
  const files = await Files.open(place.path);
  expect((await files.search("yours")).matches).toEqual([]);
  expect((await files.search("mine")).matches).toMatchObject([{ path: "own" }]);
  expect((await files.complete("more")).map(({ path }) => path)).toEqual([]);
  other.remove();
  await expect(gitDiff(place.path)).rejects.toMatchObject(refusal);
});
