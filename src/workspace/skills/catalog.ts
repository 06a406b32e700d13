/** One catalog over all roots: the first skill of a name wins, the others are reported as collisions. Files may be hostile: only SKILL.md is read, only its beginning, nothing is run. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, open, readdir, realpath, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { splitTools } from "./allowed-tools.ts";
import { readFrontmatter, validate } from "./frontmatter.ts";
import type { SkillRoot } from "./roots.ts";
import type { Skill, SkillCollision, SkillWarning } from "./skill.ts";

const DEPTH = 4;
const DIRECTORIES = 2_000;
const FILE_BYTES = 256 * 1024;
const SKIPPED = new Set([".git", "node_modules"]);

export type SkillCatalog = { skills: Skill[]; collisions: SkillCollision[]; warnings: SkillWarning[]; roots: string[] };

export async function skillCatalog(roots: readonly SkillRoot[]): Promise<SkillCatalog> {
  const byName = new Map<string, Skill>();
  const collisions: SkillCollision[] = [];
  const warnings: SkillWarning[] = [];
  for (const root of roots)
    for (const directory of await skillDirectories(root, warnings)) {
      const loaded = await loadSkill(directory, root);
      warnings.push(...loaded.warnings.map((warning) => ({ ...warning, path: join(directory, "SKILL.md") })));
      const { skill } = loaded;
      if (!skill) continue;
      const first = byName.get(skill.name);
      if (!first) byName.set(skill.name, skill);
      else if (first.digest !== skill.digest) {
        collisions.push({ name: skill.name, used: first.path, shadowed: skill.path });
        warnings.push({
          kind: "collision",
          name: skill.name,
          path: skill.path,
          detail: `${first.path} is used; ${skill.path} is not.`,
        });
      }
    }
  return { skills: [...byName.values()], collisions, warnings, roots: roots.map(({ path }) => path) };
}

/** Directories with a SKILL.md, in the order of their names; what lies below one is part of it. Each real directory is visited once. */
async function skillDirectories(root: SkillRoot, warnings: SkillWarning[]): Promise<string[]> {
  const found: string[] = [];
  const seen = new Set<string>();
  let level = [root.path];
  for (let depth = 0; depth <= DEPTH && level.length > 0; depth++) {
    const next: string[] = [];
    for (const directory of level) {
      const real = await realpath(directory).catch(() => null);
      if (real === null || seen.has(real) || !isWithin(root, real)) continue;
      if (seen.size >= DIRECTORIES) {
        warnings.push({
          kind: "too_many_directories",
          path: root.path,
          detail: `Only the first ${DIRECTORIES} directories were looked at.`,
        });
        return found;
      }
      seen.add(real);
      const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
      if (depth > 0 && entries.some(({ name }) => name === "SKILL.md")) found.push(directory);
      else
        for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1)))
          if ((entry.isDirectory() || entry.isSymbolicLink()) && !SKIPPED.has(entry.name)) next.push(join(directory, entry.name));
    }
    level = next;
  }
  return found;
}

const isWithin = ({ bounds }: SkillRoot, real: string): boolean => {
  if (bounds === null) return true;
  const way = relative(bounds, real);
  return way === "" || !(way === ".." || way.startsWith("../"));
};

/** `skill` null: it cannot be used; the warnings say why. */
export async function loadSkill(directory: string, root: SkillRoot): Promise<{ skill: Skill | null; warnings: SkillWarning[] }> {
  const path = join(directory, "SKILL.md");
  const name = basename(directory);
  const file = await readHead(path, root);
  if (!file)
    return {
      skill: null,
      warnings: [{ kind: "unreadable", name, detail: "SKILL.md cannot be read, or is not a regular file." }],
    };
  if (file.length > FILE_BYTES)
    return { skill: null, warnings: [{ kind: "too_large", name, detail: `SKILL.md has more than ${FILE_BYTES} bytes.` }] };
  const read = await readFrontmatter(file.toString("utf8"));
  if (!read)
    return {
      skill: null,
      warnings: [{ kind: "broken_frontmatter", name, detail: "SKILL.md does not begin with a YAML map between lines of `---`." }],
    };
  const { fields } = read;
  const own = typeof fields.name === "string" && fields.name !== "" ? fields.name : name;
  const warnings = validate(fields, name).map((warning) => ({ ...warning, name: own }));
  if (read.repaired)
    warnings.push({ kind: "repaired_frontmatter", name: own, detail: "A value with a colon should be in quotes." });
  if (warnings.some(({ kind }) => kind === "missing_description")) return { skill: null, warnings };
  const skill: Skill = {
    name: own,
    description: String(fields.description),
    path,
    directory,
    scope: root.scope,
    root: root.path,
    kind: root.kind,
    digest: `sha256:${createHash("sha256").update(file).digest("hex")}`,
    frontmatter: fields,
    allowed_tools: splitTools(fields["allowed-tools"]),
    model_invocable: fields["disable-model-invocation"] !== true,
    user_invocable: fields["user-invocable"] !== false,
    warnings,
  };
  return { skill, warnings };
}

/** One byte more than is allowed shows that it is too long. A pipe or a device is never waited for. */
async function readHead(path: string, root: SkillRoot): Promise<Buffer | null> {
  try {
    if ((await lstat(path)).isSymbolicLink() && !isWithin(root, await realpath(path))) return null;
    if (!(await stat(path)).isFile()) return null;
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) return null;
      const buffer = Buffer.alloc(FILE_BYTES + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
        length += bytesRead;
        if (bytesRead === 0 || length === buffer.length) return buffer.subarray(0, length);
      }
    } finally {
      await handle.close();
    }
  } catch {
    return null;
  }
}
