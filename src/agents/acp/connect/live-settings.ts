// Model, mode and variant of a live session: which of ACP's three ways this agent offers to change them, and what it offers.
import type { PermissionMode } from "../../../schema/event-data.ts";
import { AgentError } from "../../contract.ts";
import { type JsonRecord, rec, records, str } from "../../json.ts";
import { type ReadOption, readOption } from "../translate/config.ts";
import type { Quirks } from "../translate/quirks.ts";

type Ask = (method: string, params: JsonRecord) => Promise<unknown>;

export class LiveSettings {
  readonly #ask: Ask;
  readonly #sessionId: string;
  readonly #version: number;
  #modes: JsonRecord = {};
  #models: JsonRecord = {};
  #options: JsonRecord[] = [];

  constructor(sessionId: string, version: number, ask: Ask) {
    this.#sessionId = sessionId;
    this.#version = version;
    this.#ask = ask;
  }

  /** A session/new, load or resume result, or a later update: configOptions replace the older list whole. */
  learn(said: JsonRecord): void {
    if (said.modes !== undefined && said.modes !== null) this.#modes = rec(said.modes);
    if (said.models !== undefined && said.models !== null) this.#models = rec(said.models);
    if (Array.isArray(said.configOptions)) this.#options = records(said.configOptions);
    const mode = str(said.currentModeId);
    if (mode !== undefined) this.#modes = { ...this.#modes, currentModeId: mode };
  }

  get mode(): string | undefined {
    return this.#current("mode") ?? str(this.#modes.currentModeId);
  }

  get model(): string | undefined {
    return this.#current("model") ?? str(this.#models.currentModelId);
  }

  get variant(): string | undefined {
    return this.#current("thought_level");
  }

  modeIds(): string[] {
    const listed = records(this.#modes.availableModes).flatMap((mode) => str(mode.id) ?? []);
    return listed.length > 0 ? listed : this.#choices("mode");
  }

  models(): { id: string; name?: string; description?: string }[] {
    const listed = records(this.#models.availableModels).map((model) =>
      named(str(model.modelId) ?? "", str(model.name), str(model.description)),
    );
    if (listed.length > 0) return listed;
    return (this.#read("model")?.choices ?? []).map((choice) => named(String(choice.value), choice.name, choice.description));
  }

  modes(): { id: string; name?: string; description?: string }[] {
    const listed = records(this.#modes.availableModes).map((mode) =>
      named(str(mode.id) ?? "", str(mode.name), str(mode.description)),
    );
    if (listed.length > 0) return listed;
    return (this.#read("mode")?.choices ?? []).map((choice) => named(String(choice.value), choice.name, choice.description));
  }

  async setModel(model: string): Promise<void> {
    if (model === this.model) return;
    const byOption = this.#choices("model").includes(model);
    if (!byOption && records(this.#models.availableModels).length > 0) {
      await this.#change(
        "session/set_model",
        { modelId: model },
        `model ${model}`,
        this.models().map((each) => each.id),
      );
      this.#models = { ...this.#models, currentModelId: model };
      return;
    }
    await this.#setOption("model", model, `model ${model}`);
  }

  /** Always sent: what an agent last said of its mode may be old (qwen 0.24 keeps an option of that name as it was), and a mode must hold. */
  async setMode(mode: string): Promise<void> {
    if (records(this.#modes.availableModes).length === 0) return this.#setOption("mode", mode, `mode ${mode}`);
    await this.#change("session/set_mode", { modeId: mode }, `mode ${mode}`, this.modeIds());
    this.#modes = { ...this.#modes, currentModeId: mode };
  }

  setVariant(variant: string): Promise<void> {
    return variant === this.#current("thought_level")
      ? Promise.resolve()
      : this.#setOption("thought_level", variant, `variant ${variant}`);
  }

  /** Turns planning on or off where it is an option; false when there is no such option. */
  async setPlanning({ planOption }: Quirks, planning: boolean): Promise<boolean> {
    const current = planOption === undefined ? undefined : this.#current(planOption.id);
    if (planOption === undefined || current === undefined) return false;
    const wanted = planning ? planOption.on : planOption.off;
    if (current !== wanted) await this.#setOption(planOption.id, wanted, `mode ${wanted}`);
    return true;
  }

  /** The agent's own mode for a permission mode; undefined when it has none. */
  modeFor(quirks: Quirks, wanted: PermissionMode): string | undefined {
    return this.modeIds().find((id) => quirks.permissionModes?.[id] === wanted);
  }

  async #setOption(category: string, value: string, what: string): Promise<void> {
    const raw = this.#raw(category);
    if (raw === undefined)
      throw new AgentError(
        "unsupported",
        `This agent offers no way to change its ${category.replace("thought_level", "variant")} over ACP.`,
      );
    const configId = str(raw.id) ?? str(raw.configId) ?? category;
    const typed = this.#version >= 2 ? { type: "id", value } : { value };
    const result = await this.#change("session/set_config_option", { configId, ...typed }, what, this.#choices(category));
    this.learn(rec(result));
  }

  async #change(method: string, params: JsonRecord, what: string, offered: string[]): Promise<unknown> {
    try {
      return await this.#ask(method, { sessionId: this.#sessionId, ...params });
    } catch (error) {
      const list = offered.length > 0 ? ` It offers: ${offered.slice(0, 20).join(", ")}.` : "";
      throw new AgentError(
        "agent_refused",
        `The agent did not take the ${what}: ${error instanceof Error ? error.message : String(error)}.${list}`,
        { cause: error },
      );
    }
  }

  #raw(category: string): JsonRecord | undefined {
    return (
      this.#options.find((option) => option.category === category) ??
      this.#options.find((option) => (option.id ?? option.configId) === category)
    );
  }

  #read(category: string): ReadOption | undefined {
    const raw = this.#raw(category);
    return raw === undefined ? undefined : readOption(raw);
  }

  #choices(category: string): string[] {
    return (this.#read(category)?.choices ?? []).map((choice) => String(choice.value));
  }

  #current(category: string): string | undefined {
    return str(this.#raw(category)?.currentValue);
  }
}

const named = (id: string, name: string | undefined, description: string | undefined) => ({
  id,
  ...(name === undefined ? {} : { name }),
  ...(description === undefined ? {} : { description }),
});
