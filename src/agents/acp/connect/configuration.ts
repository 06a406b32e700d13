/**
 * What a session is set to: model, variant, mode, and which of the agent's requests the daemon answers itself. Said again at every start, changed as a whole
 * or not at all. Not here: how the agent is asked for each of them (`live-settings.ts`).
 */
import type { Draft } from "../../../schema/draft.ts";
import type { PermissionMode } from "../../../schema/event-data.ts";
import { isWider } from "../../../schema/mode-width.ts";
import { AgentError, type ConfigPatch, type SessionConfig } from "../../contract.ts";
import { type JsonRecord, toJson } from "../../json.ts";
import type { Quirks } from "../translate/quirks.ts";
import type { Policy } from "./client.ts";
import type { LiveSettings } from "./live-settings.ts";

export type ConfigurationParts = {
  name: string;
  config: SessionConfig;
  quirks: Quirks;
  /** What the agent gets of a mode when its session is opened. */
  meta(mode: PermissionMode): JsonRecord;
  say(drafts: Draft[]): void;
};

export class Configuration {
  readonly #settings: LiveSettings;
  readonly #how: ConfigurationParts;
  #mode: PermissionMode = "default";
  /** What is allowed without asking anybody. */
  policy: Policy = "ask";

  constructor(settings: LiveSettings, how: ConfigurationParts) {
    this.#settings = settings;
    this.#how = how;
  }

  /** ACP changes one thing at a time: what was changed before a refusal is changed back. */
  async change({ model, variant, agent_mode, permission_mode }: ConfigPatch, idle: boolean): Promise<"done" | "restart"> {
    const settings = this.#settings;
    this.#mustNotWiden(agent_mode, permission_mode ?? this.#mode);
    const restart = permission_mode !== undefined && !this.#takesLive(permission_mode, idle);
    if (restart && !idle) return "restart";
    const before = { model: settings.model, variant: settings.variant, mode: settings.mode, permissions: this.#mode };
    const undo: (() => Promise<void>)[] = [];
    const change = async (work: () => Promise<void>, back: () => Promise<void>): Promise<void> => {
      undo.unshift(back);
      await work();
    };
    const set = (value: string | undefined, to: (value: string) => Promise<void>) => () =>
      value === undefined ? Promise.resolve() : to(value);
    try {
      if (model)
        await change(
          () => settings.setModel(model),
          set(before.model, (id) => settings.setModel(id)),
        );
      if (variant)
        await change(
          () => settings.setVariant(variant),
          set(before.variant, (id) => settings.setVariant(id)),
        );
      if (agent_mode)
        await change(
          () => settings.setMode(agent_mode),
          set(before.mode, (id) => settings.setMode(id)),
        );
      // Only a new process takes this one; the agent has agreed to the others all the same.
      if (permission_mode && !restart)
        await change(
          () => this.#setPermissionMode(permission_mode),
          () => this.#setPermissionMode(before.permissions),
        );
    } catch (error) {
      for (const back of undo) await back().catch(() => {});
      throw error;
    }
    return restart ? "restart" : "done";
  }

  /** Some of an agent's own modes are permission modes by another name: chosen by that name, they would widen a session that says otherwise. */
  #mustNotWiden(agentMode: string | null | undefined, allowed: PermissionMode): void {
    const meant = agentMode ? this.#how.quirks.permissionModes?.[agentMode] : undefined;
    if (meant === undefined || !isWider(meant, allowed)) return;
    throw new AgentError(
      "unsupported",
      `The mode ${agentMode} of ${this.#how.name} is the permission mode ${meant}, and this session is in ${allowed}. Set permission_mode instead.`,
    );
  }

  /** Only of some agents it is known that a running turn follows a change of mode. */
  #takesLive(mode: PermissionMode, idle: boolean): boolean {
    if (toJson(this.#how.meta(mode)) !== toJson(this.#how.meta(this.#how.config.permission_mode))) return false;
    return idle || this.#how.quirks.modeInTurn === true;
  }

  /** Settings are said again at every start: an agent may forget them, and a permission mode must not widen by a resume. */
  async apply(): Promise<void> {
    const { model, variant, agent_mode, permission_mode } = this.#how.config;
    const settings = this.#settings;
    this.#mode = permission_mode;
    if (model !== null) await settings.setModel(model);
    if (variant !== null) await settings.setVariant(variant);
    const meant = agent_mode === null ? undefined : this.#how.quirks.permissionModes?.[agent_mode];
    const ownMode = agent_mode !== null && (meant === undefined || meant === permission_mode);
    if (ownMode) await settings.setMode(agent_mode);
    if (!ownMode || meant === undefined) await this.#setPermissionMode(permission_mode, ownMode);
  }

  /** `keepMode`: the mode was chosen by name and means no permission mode, so only the policy follows. */
  async #setPermissionMode(wanted: PermissionMode, keepMode = false): Promise<void> {
    const settings = this.#settings;
    const { quirks } = this.#how;
    this.#mode = wanted;
    const refused = !this.#how.config.trusted && quirks.trustedModes?.includes(wanted);
    const mode = refused ? undefined : settings.modeFor(quirks, wanted);
    const planned = await settings.setPlanning(quirks, wanted === "plan");
    if (mode !== undefined && !keepMode) {
      await settings.setMode(mode);
      this.policy = "ask";
      return;
    }
    if (wanted === "plan" && !keepMode && !planned) throw new AgentError("unsupported", `${this.#how.name} has no plan mode.`);
    const asking = settings.modeFor(quirks, "default");
    if (asking !== undefined && !keepMode) await settings.setMode(asking);
    this.policy = wanted === "bypass" ? "all" : wanted === "accept_edits" ? "edits" : "ask";
    // No message of the agent says what our own policy is.
    this.#how.say([{ do: "event", type: "config.changed", data: { permission_mode: wanted } }]);
  }
}
