import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseFrontmatter, validateMetadata } from "skills-ref";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SkillDoor } from "../../agents/contract.ts";
import { bash, temporary } from "../test-trees.ts";
import {
  catalogText,
  effectiveAllowedTools,
  invocationOf,
  readFrontmatter,
  type SkillCatalog,
  skillCatalog,
  skillRoots,
  skillText,
  splitTools,
  validate,
  visibilityOf,
} from "./index.ts";

let place: ReturnType<typeof temporary>;
let home: string;
let project: string;

beforeEach(() => {
  place = temporary("skills");
  home = join(place.path, "home");
  project = join(place.path, "project");
  mkdirSync(home);
  mkdirSync(join(project, "packages/a"), { recursive: true });
  bash(project, "git init -q");
});
afterEach(() => place.remove());

function skill(
  base: string,
  root: string,
  name: string,
  text = `---\nname: ${name.split("/").at(-1)}\ndescription: From ${root}.\n---\nBody.\n`,
): string {
  const directory = join(base, root, "skills", name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "SKILL.md"), text);
  return join(directory, "SKILL.md");
}
const catalog = (directory = project): Promise<SkillCatalog> => skillCatalog(skillRoots({ directory, home }));

describe("the catalog", () => {
  it("takes the first of a name, and tells the others as collisions", async () => {
    const inner = join(project, "packages/a");
    const session = join(place.path, "session");
    mkdirSync(join(session, "x"), { recursive: true });
    writeFileSync(join(session, "x/SKILL.md"), "---\nname: x\ndescription: set\n---\n");
    const used = [skill(inner, ".claude", "nearest"), skill(project, ".dragoman", "ours"), skill(home, ".codex", "mine")];
    const shadowed = [
      skill(project, ".dragoman", "nearest"),
      skill(project, ".agents", "ours"),
      skill(home, ".gemini", "mine"),
      skill(home, ".agents", "x"),
    ];
    const { skills, collisions, warnings, roots } = await skillCatalog(
      skillRoots({ directory: inner, home, session: [session] }),
    );
    expect(skills.map(({ name, scope, path }) => [name, scope, path])).toEqual([
      ["x", "session", join(session, "x/SKILL.md")],
      ["nearest", "project", used[0]],
      ["ours", "project", used[1]],
      ["mine", "user", used[2]],
    ]);
    expect(collisions.map(({ name }) => name).sort()).toEqual(["mine", "nearest", "ours", "x"]);
    expect(collisions.map((each) => each.shadowed).sort()).toEqual([...shadowed].sort());
    expect(warnings.filter(({ kind }) => kind === "collision").length).toBe(4);
    expect(roots[0]).toBe(session);
  });

  it("does not call the same file under two paths a collision", async () => {
    skill(project, ".agents", "same", "---\nname: same\ndescription: same\n---\n");
    skill(project, ".claude", "same", "---\nname: same\ndescription: same\n---\n");
    expect((await catalog()).collisions).toEqual([]);
  });

  it("leaves a directory out that nobody trusts, and the home directory as a project", async () => {
    skill(project, ".agents", "p");
    skill(home, ".github", "g");
    skill(home, ".agents", "u");
    const untrusted = await skillCatalog(skillRoots({ directory: project, home, trusted: false }));
    expect(untrusted.skills.map(({ name }) => name)).toEqual(["u"]);
    const atHome = await skillCatalog(skillRoots({ directory: home, home }));
    expect(atHome.skills.map(({ name, scope }) => `${name} ${scope}`)).toEqual(["u user"]);
  });

  it("looks four levels deep, not into node_modules, and into no skill's own folders", async () => {
    skill(project, ".agents", "1/2/3/four");
    skill(project, ".agents", "1/2/3/4/five");
    skill(project, ".agents", "node_modules/no");
    skill(project, ".agents", "outer");
    skill(project, ".agents", "outer/inner");
    expect((await catalog()).skills.map(({ name }) => name).sort()).toEqual(["four", "outer"]);
  });

  it("follows links once, and in a project only within it", async () => {
    skill(project, ".agents", "real");
    skill(place.path, "elsewhere", "far");
    symlinkSync(join(project, ".agents/skills"), join(project, ".agents/skills/loop"));
    symlinkSync(join(place.path, "elsewhere/skills/far"), join(project, ".agents/skills/far"));
    mkdirSync(join(project, ".agents/skills/file"));
    symlinkSync("/etc/passwd", join(project, ".agents/skills/file/SKILL.md"));
    const found = await catalog();
    expect(found.skills.map(({ name }) => name)).toEqual(["real"]);
    expect(found.warnings.map(({ kind, name }) => `${name} ${kind}`)).toEqual(["file unreadable"]);
    mkdirSync(join(home, ".agents/skills"), { recursive: true });
    symlinkSync(join(place.path, "elsewhere/skills/far"), join(home, ".agents/skills/far"));
    expect((await catalog()).skills.map(({ name, scope }) => `${name} ${scope}`)).toEqual(["real project", "far user"]);
  });

  it("loads leniently: warns of a bad name, skips what has no description or no frontmatter", async () => {
    skill(project, ".agents", "Bad_Name", "---\nname: Bad_Name\ndescription: fine\n---\n");
    skill(project, ".agents", "other-dir", "---\nname: name\ndescription: fine\nfancy: 1\nmetadata: [1]\n---\n");
    skill(project, ".agents", "no-name", "---\ndescription: fine\n---\n");
    skill(project, ".agents", "colon", '---\nname: colon\ndescription: Use this: always, "really"\n---\n');
    skill(project, ".agents", "empty", "---\nname: empty\n---\n");
    skill(project, ".agents", "broken", "---\nname: [broken\ndescription: x\n---\n");
    skill(project, ".agents", "plain", "# Just text\n");
    skill(project, ".agents", "huge", `---\nname: huge\ndescription: x\n---\n${"x".repeat(300_000)}`);
    bash(project, "mkdir -p .agents/skills/pipe; mkfifo .agents/skills/pipe/SKILL.md");
    const { skills, warnings } = await catalog();
    expect(skills.map(({ name }) => name).sort()).toEqual(["Bad_Name", "colon", "name", "no-name"]);
    expect(skills.find(({ name }) => name === "colon")?.description).toBe('Use this: always, "really"');
    expect(warnings.map(({ kind, name }) => `${name} ${kind}`).sort()).toEqual([
      "Bad_Name invalid_name",
      "broken broken_frontmatter",
      "colon repaired_frontmatter",
      "empty missing_description",
      "huge too_large",
      "name invalid_field",
      "name name_mismatch",
      "name unknown_field",
      "no-name invalid_name",
      "pipe unreadable",
      "plain broken_frontmatter",
    ]);
  });

  it("keeps the frontmatter whole, with the digest of the file", async () => {
    const path = skill(
      project,
      ".agents",
      "whole",
      '---\r\nname: whole\r\ndescription: >\r\n  folded\r\n  text\r\nallowed-tools: Bash(git add:*) Read\r\nmetadata:\r\n  version: "1.0"\r\n---\r\nBody --- here.\r\n',
    );
    const [found] = (await catalog()).skills;
    expect(found).toMatchObject({
      frontmatter: { metadata: { version: "1.0" } },
      allowed_tools: ["Bash(git add:*)", "Read"],
      warnings: [],
    });
    expect(found?.description.trim()).toBe("folded text");
    expect(found?.digest).toBe(`sha256:${bash(project, `sha256sum ${path}`).split(" ")[0]}`);
    expect((await readFrontmatter(readFileSync(path, "utf8")))?.body).toBe("Body --- here.\r\n");
    chmodSync(path, 0o644);
  });
});

describe("validation", () => {
  const corpus = [
    "name: a\ndescription: d",
    "name: my-skill-2\ndescription: d\nlicense: MIT\ncompatibility: any\nmetadata:\n  a: b\nallowed-tools: Read",
    "name: My-Skill\ndescription: d",
    "name: -a\ndescription: d",
    "name: a-\ndescription: d",
    "name: a--b\ndescription: d",
    "name: a_b\ndescription: d",
    "name: a b\ndescription: d",
    `name: ${"a".repeat(65)}\ndescription: d`,
    `name: ${"a".repeat(64)}\ndescription: d`,
    "name: навык\ndescription: d",
    "name: 技能\ndescription: d",
    "description: d",
    "name: a",
    'name: a\ndescription: ""',
    `name: a\ndescription: ${"d".repeat(1025)}`,
    `name: a\ndescription: ${"d".repeat(1024)}`,
    `name: a\ndescription: d\ncompatibility: ${"c".repeat(501)}`,
    "name: a\ndescription: d\nfancy: true",
    "name: other\ndescription: d",
  ];
  it.each(corpus.map((yaml) => [yaml.slice(0, 60), yaml]))("agrees with the reference: %s", async (_shown, yaml) => {
    const text = `---\n${yaml}\n---\nbody\n`;
    const [metadata] = parseFrontmatter(text);
    const directory = yaml.startsWith("name: other") ? "a" : String(metadata.name ?? "a");
    const theirs = validateMetadata(metadata, `/skills/${directory}`);
    const ours = validate((await readFrontmatter(text))!.fields, directory);
    expect([ours.map(({ detail }) => detail), theirs].map((faults) => faults.length > 0)).toEqual([
      theirs.length > 0,
      theirs.length > 0,
    ]);
  });
});

describe("tools", () => {
  it("takes the tools it knows, and never more than the mode allows", () => {
    expect(splitTools("Read, Grep Bash(git add:*, git commit:*)")).toEqual(["Read", "Grep", "Bash(git add:*, git commit:*)"]);
    expect(splitTools(["Read", "Edit"])).toEqual(["Read", "Edit"]);
    expect(splitTools(7)).toEqual([]);
    const allowed = ["Read", "MultiEdit", "Bash(git add:*)", "mcp__files__read", "Teleport"];
    expect(effectiveAllowedTools(allowed, "default", "s")).toEqual({
      tools: ["read", "edit", "bash(git add:*)", "mcp__files__read"],
      warnings: [{ kind: "unknown_tool", name: "s", detail: "allowed-tools names Teleport, which is no tool here." }],
    });
    expect(effectiveAllowedTools(allowed, "plan").tools).toEqual(["read"]);
  });
});

describe("agents", () => {
  it("says how each agent sees a skill", async () => {
    skill(project, ".claude", "c");
    skill(project, ".agents", "a");
    skill(project, ".dragoman", "d", "---\nname: d\ndescription: x\ndisable-model-invocation: true\n---\n");
    skill(home, ".claude", "u");
    const { skills } = await catalog();
    const claude: SkillDoor = { project: [".claude"], user: [".claude"], upwards: false, door: "plugin_directory" };
    const codex: SkillDoor = { project: [".agents", ".codex"], user: [".agents", ".codex"], upwards: true, door: null };
    const seen = (row: SkillDoor | undefined) =>
      skills.map((each) => `${each.name} ${visibilityOf(each, "x", row, project).visible}`);
    expect(seen(claude)).toEqual(["d not_visible", "a injected", "c native", "u native"]);
    expect(seen(codex)).toEqual(["d not_visible", "a native", "c not_visible", "u not_visible"]);
    expect(seen(undefined)).toEqual(["d not_visible", "a not_visible", "c not_visible", "u not_visible"]);
    expect(visibilityOf(skills[1]!, "claude", claude, project).door).toBe("plugin_directory");
    expect(visibilityOf(skills[1]!, "codex", codex, join(project, "packages/a")).visible).toBe("native");
    expect(visibilityOf(skills[2]!, "claude", claude, join(project, "packages/a")).visible).toBe("injected");
  });

  it("understands a prompt that uses a skill, and tells a model what there is", async () => {
    skill(project, ".agents", "review");
    skill(project, ".agents", "hidden", "---\nname: hidden\ndescription: x\ndisable-model-invocation: true\n---\n");
    skill(project, ".agents", "auto", "---\nname: auto\ndescription: x\nuser-invocable: false\n---\n");
    const { skills } = await catalog();
    expect(invocationOf("/review the last commit", skills)).toMatchObject({ skill: { name: "review" }, args: "the last commit" });
    expect(invocationOf("$review", skills)).toMatchObject({ args: "" });
    for (const prompt of ["please /review", "/auto", "/nothing", "/review/it", "review"])
      expect(invocationOf(prompt, skills)).toBeNull();
    expect(catalogText(skills)).toBe("- auto: x\n- review: From .agents.");
    expect(skillText(skills[2]!, "Body.\n", "now")).toContain("Body.\n\nArguments: now\n</skill_content>");
  });
});
