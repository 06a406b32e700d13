/**
 * One catalog of Agent Skills for all agents: what there is for a directory, how each agent sees it, what a message uses, and the folder an agent is given with what
 * it would not find by itself. Skills of a directory count only while it is trusted.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Agent, AgentSkills, McpServer, ReadSkill } from "../agents/contract.ts";
import { builtFile } from "../package-root.ts";
import type { PermissionMode } from "../schema/event-data.ts";
import type { SkillList } from "../schema/skill.ts";
import type { HandedSkills, SkillPlace, SkillSource, UsedSkill } from "../session/skill-source.ts";
import {
  bodyOf,
  effectiveAllowedTools,
  invocationOf,
  type Skill,
  type SkillCatalog,
  skillCatalog,
  skillRoots,
  skillText,
  visibilityOf,
} from "../workspace/skills/index.ts";

/** A larger skill is not handed over: it would be copied at every start of an agent. */
const MAX_FILES = 500;
const MAX_BYTES = 10 * 1024 ** 2;

/** Part of the tool's name in the agent's calls, by which a use is recognised. */
const SERVER_NAME = "dragoman_skills";
const SERVER_PROGRAM = fileURLToPath(builtFile("mcp/skill-server.js"));

export type DaemonSkillsOptions = {
  /** Where folders for agents are made. */
  folder: string;
  home: string | undefined;
  agents(): Iterable<Agent>;
  isTrusted(directory: string): boolean;
  /** False: nothing is handed over to agents. */
  share: boolean;
};

export class DaemonSkills implements SkillSource {
  readonly #options: DaemonSkillsOptions;

  constructor(options: DaemonSkillsOptions) {
    this.#options = options;
    // Of sessions of the last daemon.
    rmSync(options.folder, { recursive: true, force: true });
  }

  async list(directory: string | null): Promise<SkillList> {
    const trusted = directory !== null && this.#options.isTrusted(directory);
    const { skills, collisions, warnings, roots } = await this.#catalog(directory, trusted);
    const agents = [...this.#options.agents()];
    return {
      ...{ directory, trusted, collisions, warnings, roots },
      skills: skills.map((skill) => ({ ...skill, agents: agents.map((agent) => this.#sight(skill, agent, directory)) })),
    };
  }

  async use(
    text: string,
    command: boolean,
    { agent, directory, trusted, permission_mode }: SkillPlace,
  ): Promise<UsedSkill | null> {
    const { skills } = await this.#catalog(directory, trusted);
    const found = invocationOf(text, skills);
    if (!found) return null;
    const { skill, args } = found;
    const mode = modeOf(permission_mode);
    const effective = effectiveAllowedTools(skill.allowed_tools, mode, skill.name);
    const warnings = [...skill.warnings, ...effective.warnings].map(({ kind, detail }) => ({ name: skill.name, kind, detail }));
    const isOwn = command && agent.skills?.commands !== false && this.#sight(skill, agent, directory).visible === "native";
    const read = isOwn ? null : readSkill(skill, args, effective.tools);
    return {
      text: read?.text ?? null,
      ...(read === null ? {} : { read }),
      invoked: {
        name: skill.name,
        ...(args === "" ? {} : { args }),
        mode: "manual",
        ...(skill.allowed_tools.length === 0 ? {} : { effective_allowed_tools: effective.tools }),
      },
      loaded: {
        name: skill.name,
        path: skill.path,
        digest: skill.digest,
        frontmatter: skill.frontmatter,
        ...(warnings.length === 0 ? {} : { warnings: warnings.map(({ detail }) => detail) }),
      },
      warnings,
    };
  }

  /** For an agent that offers skills to its model by itself. */
  readonly forAgents: AgentSkills = {
    catalog: async ({ directory, trusted, permission_mode }) => {
      const { skills } = await this.#catalog(directory, trusted);
      return skills
        .filter(({ model_invocable }) => model_invocable)
        .map((skill) => ({
          name: skill.name,
          description: skill.description.replace(/\s+/g, " ").trim(),
          directory: skill.directory,
          project: skill.scope === "project",
          allowed: effectiveAllowedTools(skill.allowed_tools, modeOf(permission_mode), skill.name).tools,
        }));
    },
    read: async (name, args, { directory, trusted, permission_mode }) => {
      const { skills } = await this.#catalog(directory, trusted);
      const skill = skills.find((one) => one.name === name && one.model_invocable);
      if (skill === undefined) return null;
      return readSkill(skill, args, effectiveAllowedTools(skill.allowed_tools, modeOf(permission_mode), name).tools);
    },
  };

  async handOver({ session_id, agent, directory, trusted }: SkillPlace): Promise<HandedSkills | null> {
    const door = agent.skills?.door ?? null;
    if (!this.#options.share || door === null) return null;
    const { skills } = await this.#catalog(directory, trusted);
    const given = skills.filter((skill) => this.#sight(skill, agent, directory).visible === "injected");
    const folder = join(this.#options.folder, session_id);
    rmSync(folder, { recursive: true, force: true });
    if (given.length === 0) return null;
    if (door === "mcp_server") return { server: this.#server(folder, given) };
    const small = given.filter(isSmall);
    return door === "skill_root" ? this.#root(small) : this.#plugin(folder, small);
  }

  /** Named after what is in it: made once, and the same for all sessions that get the same skills. A skill that changes lies in another one. */
  #root(given: readonly Skill[]): HandedSkills | null {
    if (given.length === 0) return null;
    const folder = join(this.#options.folder, `root-${digestOf(given)}`);
    if (existsSync(folder)) return { folder };
    const unfinished = `${folder}.${randomUUID()}`;
    copySkills(given, unfinished);
    renameSync(unfinished, folder);
    return { folder };
  }

  /** The skills stay where they are: the server reads one when it is used. */
  #server(folder: string, given: readonly Skill[]): McpServer {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const catalog = join(folder, "catalog.json");
    const entries = given.map(({ name, description, path, directory }) => ({ name, description, path, directory }));
    writeFileSync(catalog, JSON.stringify(entries), { mode: 0o600 });
    return { name: SERVER_NAME, type: "stdio", command: process.execPath, args: [SERVER_PROGRAM, catalog] };
  }

  #plugin(folder: string, given: readonly Skill[]): HandedSkills | null {
    if (given.length === 0) return null;
    mkdirSync(join(folder, ".claude-plugin"), { recursive: true, mode: 0o700 });
    writeFileSync(
      join(folder, ".claude-plugin", "plugin.json"),
      JSON.stringify({ name: "dragoman", description: "Skills of this machine and project.", version: "1.0.0" }),
    );
    copySkills(given, folder);
    return { folder };
  }

  #sight(skill: Skill, agent: Agent, directory: string | null): SkillList["skills"][number]["agents"][number] {
    const row = agent.skills && !this.#options.share ? { ...agent.skills, door: null } : agent.skills;
    return visibilityOf(skill, agent.id, row, directory);
  }

  #catalog(directory: string | null, trusted: boolean): Promise<SkillCatalog> {
    const { home } = this.#options;
    return skillCatalog(
      skillRoots({ ...(directory === null ? {} : { directory }), trusted, ...(home === undefined ? {} : { home }) }),
    );
  }
}

const modeOf = (mode: string): PermissionMode =>
  mode === "plan" || mode === "accept_edits" || mode === "bypass" ? mode : "default";

function readSkill(skill: Skill, args: string, allowed: string[]): ReadSkill {
  const { name, path, directory, digest } = skill;
  const text = skillText(skill, bodyOf(readFileSync(path, "utf8")), args);
  return { name, path, directory, digest, text, allowed };
}

/** Copied: not every agent follows links. */
function copySkills(given: readonly Skill[], folder: string): void {
  for (const { directory } of given)
    for (const { path } of filesOf(directory) ?? []) {
      const copy = join(folder, "skills", basename(directory), path);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(directory, path), copy);
    }
}

/** Of all files, by their times: nothing but the SKILL.md is read for it. */
function digestOf(given: readonly Skill[]): string {
  const files = given.map(({ path, digest, directory }) => [path, digest, filesOf(directory)]);
  return createHash("sha256").update(JSON.stringify(files)).digest("hex").slice(0, 32);
}

const isSmall = ({ directory }: Skill): boolean => filesOf(directory) !== null;

type SkillFile = { path: string; size: number; mtime: number };

/**
 * All files of a skill that can be read, also behind links. Left out: pipes and devices, links to nothing, and links to a directory that holds them. Null: it is
 * larger than what is handed over; no more than that is looked at, wherever its links lead.
 */
function filesOf(directory: string): SkillFile[] | null {
  const files: SkillFile[] = [];
  let [seen, bytes] = [0, 0];
  const visit = (below: string, above: readonly string[]): boolean => {
    const real = realpathSync(join(directory, below));
    if (above.includes(real)) return true;
    for (const name of readdirSync(join(directory, below)).sort()) {
      const path = join(below, name);
      const info = readableAt(join(directory, path));
      if (++seen > MAX_FILES) return false;
      if (info?.isDirectory() && !visit(path, [...above, real])) return false;
      if (!info?.isFile()) continue;
      bytes += info.size;
      if (bytes > MAX_BYTES) return false;
      files.push({ path, size: info.size, mtime: info.mtimeMs });
    }
    return true;
  };
  try {
    return visit("", []) ? files : null;
  } catch {
    return null;
  }
}

function readableAt(path: string): Stats | null {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path);
  } catch {
    return null;
  }
}
