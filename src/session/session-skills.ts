/**
 * The skills of one session: what its agent is given of them at its start, and what a message that uses one is to the agent. Not here: which skills there
 * are and where they lie (the daemon's `SkillSource`).
 */
import type { Prompt, SessionConfig } from "../agents/contract.ts";
import type { SessionContext } from "./session-context.ts";
import type { SessionRecord } from "./session-record.ts";
import { type HandedSkills, mayUseSkill, type SkillPlace, withSkills } from "./skill-source.ts";

export type SessionSkillsOptions = {
  record: SessionRecord;
  context: Pick<SessionContext, "agent" | "skills">;
  /** Whether the agent loads the files of its directory. */
  trusted(): boolean;
};

export class SessionSkills {
  readonly #options: SessionSkillsOptions;
  /** What the agent gets at the next start. */
  #handed: HandedSkills | null = null;

  constructor(options: SessionSkillsOptions) {
    this.#options = options;
  }

  /** Before the agent starts: looks up what it would not find by itself. */
  async prepare(): Promise<void> {
    this.#handed = (await this.#options.context.skills?.handOver(this.#place)) ?? null;
  }

  /** The configuration with what `prepare` found. */
  handedTo(config: SessionConfig): SessionConfig {
    return this.#handed === null ? config : withSkills(config, this.#handed);
  }

  /** What a message that uses a skill is to the agent; reports it. Others are left as they are. */
  async used(prompt: Prompt): Promise<Prompt> {
    const { record, context } = this.#options;
    if (!context.skills || !mayUseSkill(prompt.text)) return prompt;
    const used = await context.skills.use(prompt.text, prompt.command !== undefined, this.#place);
    if (!used) return prompt;
    record.emit([
      { do: "event", type: "skill.invoked", data: used.invoked },
      { do: "event", type: "skill.loaded", data: used.loaded },
      ...used.warnings.map((data) => ({ do: "event", type: "skill.warning", data }) as const),
    ]);
    if (used.text === null) return prompt;
    const { command: _, ...rest } = prompt;
    return { ...rest, text: used.text, ...(used.read === undefined ? {} : { skill: used.read }) };
  }

  get #place(): SkillPlace {
    const { record, context, trusted } = this.#options;
    const { session_id, directory, permission_mode } = record.row;
    return { session_id, directory, permission_mode, trusted: trusted(), agent: context.agent };
  }
}
