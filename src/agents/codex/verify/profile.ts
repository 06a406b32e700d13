// Codex against the scripted model server: each scenario has a CODEX_HOME of its own with a provider that points there.
import { join } from "node:path";
import { expects, OWN_RULES, REFUSED } from "../../kit/verify/adjustments.ts";
import { writeText } from "../../kit/verify/config-file.ts";
import type { VerifyProfile } from "../../kit/verify/profile.ts";
import { codexDifferences } from "./differences.ts";
import { codexLoads } from "./hostile-settings.ts";
import { codexHome, codexScenarios } from "./scenarios.ts";

/** Has the classic tools; newer models have one tool that runs scripts. */
const MODEL = "gpt-5.5";

export const codexProfile: VerifyProfile = {
  agent: "codex",
  scenarios: codexScenarios,
  adjustments: [expects(OWN_RULES, REFUSED, "mode-plan-own-rules", "mode-repository-rules"), codexLoads],
  shown: true,
  marks: true,
  models: { first: MODEL, other: "gpt-5.5-other" },
  compact: "/compact",
  differences: codexDifferences,
  parallel: 2,
  setUp: async () => ({ env: { RUST_LOG: "error" } }),
  async forScenario(scenario, { own, modelUrl }) {
    const home = join(own, "codex");
    const native = scenario.session?.native ?? {};
    const model = scenario.session?.model ?? MODEL;
    await writeText(join(home, "config.toml"), codexHome({ url: modelUrl, model, native }));
    return { env: { CODEX_HOME: home } };
  },
  async permissive({ own }) {
    await writeText(join(own, "codex", "rules", "default.rules"), 'prefix_rule(pattern = ["touch"], decision = "allow")\n');
    return {};
  },
};
