// What `dragoman verify` needs to know of Codex beyond the common scenarios: how to point it at the model server, and scenarios only Codex can play.

import { type JsonRecord, rec } from "../../json.ts";
import type { Scenario } from "../../scenario.ts";
import { classicScenarios } from "./scenarios-classic.ts";
import { codeModeScenarios } from "./scenarios-code-mode.ts";
import { faultScenarios } from "./scenarios-faults.ts";

export type CodexHomeOptions = {
  /** The model server, without a slash at the end. */
  url: string;
  model: string;
  /** `session.native` of the scenario: `features`, and TOML text for the top (`config`), the provider (`provider`) and the end (`tables`). */
  native: JsonRecord;
};

/** A config.toml for a run without account and without internet. */
export function codexHome({ url, model, native }: CodexHomeOptions): string {
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  const features = {
    apps: false,
    plugins: false,
    remote_plugin: false,
    enable_request_compression: false,
    shell_snapshot: false,
    default_mode_request_user_input: true,
    ...rec(native.features),
  };
  return `model = ${JSON.stringify(model)}
model_provider = "verify"
check_for_update_on_startup = false
model_reasoning_summary = "detailed"
suppress_unstable_features_warning = true
${text(native.config)}

[model_providers.verify]
name = "verify"
base_url = ${JSON.stringify(`${url}/v1`)}
wire_api = "responses"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 2
stream_idle_timeout_ms = 3000
${text(native.provider)}

[analytics]
enabled = false

[feedback]
enabled = false

[tools.update_plan]
enabled = true

[features]
${Object.entries(features)
  .map(([name, on]) => `${name} = ${String(on)}`)
  .join("\n")}
${text(native.tables)}
`;
}

export const codexScenarios: readonly Scenario[] = [...classicScenarios, ...codeModeScenarios, ...faultScenarios].map(
  (scenario) => ({
    ...scenario,
    only: ["codex"],
  }),
);
