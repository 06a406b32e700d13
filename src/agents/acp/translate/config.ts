// Modes, models, config options and commands as config.changed. Lists replace the older list whole; only what changed is said.
import type { Draft } from "../../../schema/draft.ts";
import type { ConfigChanged } from "../../../schema/event-data.ts";
import { arr, isRecord, type JsonRecord, own, rec, records, str } from "../../json.ts";
import type { SessionState, Surroundings } from "./session-state.ts";

/** Everything a session/new, load, resume or fork result says about the session's settings. */
export function sessionSettings(state: SessionState, around: Surroundings, result: JsonRecord): Draft[] {
  const change: ConfigChanged = {
    ...modesChange(state, around, rec(result.modes)),
    ...modelsChange(state, rec(result.models)),
    ...optionsChange(state, around, result.configOptions),
    ...commandsChange(state, result.availableCommands),
  };
  return said(change);
}

export const optionsChanged = (state: SessionState, around: Surroundings, options: unknown): Draft[] =>
  said(optionsChange(state, around, options));

export const commandsChanged = (state: SessionState, commands: unknown): Draft[] => said(commandsChange(state, commands));

/** qwen 0.24 names its skills beside its commands. */
export function skillsChanged(state: SessionState, names: unknown): Draft[] {
  if (!Array.isArray(names) || (names.length === 0 && !state.said.has("skills")) || !state.isNews("skills", names)) return [];
  return [{ do: "event", type: "skill.catalog_updated", data: { count: names.length, roots: [] } }];
}

export const modeChanged = (state: SessionState, around: Surroundings, mode: string): Draft[] =>
  said(modeChange(state, around, mode));

export const modelChanged = (state: SessionState, model: string): Draft[] => said(state.isNews("model", model) ? { model } : {});

const said = (change: ConfigChanged): Draft[] =>
  Object.keys(change).length === 0 ? [] : [{ do: "event", type: "config.changed", data: change }];

function modeChange(state: SessionState, around: Surroundings, mode: string): ConfigChanged {
  if (!state.isNews("mode", mode)) return {};
  const permission = own(around.quirks.permissionModes ?? {}, mode);
  return { agent_mode: mode, ...(permission === undefined ? {} : { permission_mode: permission }) };
}

function modesChange(state: SessionState, around: Surroundings, modes: JsonRecord): ConfigChanged {
  const available = records(modes.availableModes).map((mode) => named(str(mode.id) ?? "", mode));
  const current = str(modes.currentModeId);
  return {
    ...(available.length > 0 && state.isNews("modes", available) ? { modes: available } : {}),
    ...(current === undefined ? {} : modeChange(state, around, current)),
  };
}

/** `models` left the schema, but gemini, qwen, codex-acp 2.6 and claude 0.16 still send it. */
function modelsChange(state: SessionState, models: JsonRecord): ConfigChanged {
  const available = records(models.availableModels).map((model) => named(str(model.modelId) ?? "", model));
  const current = str(models.currentModelId);
  return {
    ...(available.length > 0 && state.isNews("models", available) ? { models: available } : {}),
    ...(current !== undefined && state.isNews("model", current) ? { model: current } : {}),
  };
}

function optionsChange(state: SessionState, around: Surroundings, value: unknown): ConfigChanged {
  if (!Array.isArray(value)) return {};
  const options = records(value).map(readOption);
  const change: ConfigChanged = state.isNews("options", options) ? { options } : {};
  for (const [index, raw] of records(value).entries()) {
    const option = options[index];
    const current = str(raw.currentValue);
    if (option === undefined || current === undefined) continue;
    const choices = (option.choices ?? []).map((choice) => ({ ...choice, id: String(choice.value) }));
    switch (str(raw.category)) {
      case "mode":
        // codex-acp 2.6 has two of that category; the first is the session's mode.
        if (firstOf(value, "mode") === raw)
          Object.assign(change, modeChange(state, around, current), listed(state, "modes", choices));
        break;
      case "model":
        if (firstOf(value, "model") === raw) {
          if (state.isNews("model", current)) change.model = current;
          Object.assign(change, listed(state, "models", choices));
        }
        break;
      case "thought_level":
        if (state.isNews("variant", current)) change.variant = current;
        break;
      default:
    }
  }
  return change;
}

const firstOf = (options: unknown[], category: string): unknown =>
  records(options).find((option) => option.category === category);

type Choice = { id: string; name?: string; description?: string };

function listed(state: SessionState, what: "modes" | "models", choices: Choice[]): ConfigChanged {
  const list = choices.map(({ id, name, description }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
  }));
  return list.length > 0 && state.isNews(what, list) ? { [what]: list } : {};
}

export type ReadOption = NonNullable<ConfigChanged["options"]>[number];

/** v1 says `id`, v2 `configId`; choices may be grouped. */
export function readOption(option: JsonRecord): ReadOption {
  const id = str(option.id) ?? str(option.configId) ?? "";
  const name = str(option.name);
  const choices = records(option.options)
    .flatMap((choice) => (Array.isArray(choice.options) ? records(choice.options) : [choice]))
    .map((choice) => {
      const label = str(choice.name);
      const description = str(choice.description);
      return {
        value: choice.value ?? null,
        ...(label === undefined ? {} : { name: label }),
        ...(description === undefined ? {} : { description }),
      };
    });
  return {
    id,
    ...(name === undefined ? {} : { name }),
    value: option.currentValue ?? null,
    ...(Array.isArray(option.options) ? { choices } : {}),
  };
}

function commandsChange(state: SessionState, value: unknown): ConfigChanged {
  if (!Array.isArray(value)) return {};
  const commands = arr(value)
    .filter(isRecord)
    .map((command) => {
      const description = str(command.description);
      const hint = str(rec(command.input).hint);
      return {
        name: str(command.name) ?? "",
        ...(description === undefined ? {} : { description }),
        ...(hint === undefined ? {} : { input_hint: hint }),
      };
    });
  return state.isNews("commands", commands) ? { commands } : {};
}

function named(id: string, value: JsonRecord): Choice {
  const name = str(value.name);
  const description = str(value.description);
  return { id, ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) };
}
