/**
 * Refuses a configuration the agent cannot honour, before anything is stored or sent. Not here: values that only the running agent knows, such as the
 * names of its models.
 */
import type { Agent, AgentHost, ConfigPatch, SessionConfig } from "../agents/contract.ts";
import { ProblemError } from "../schema/problem-codes.ts";

const NAMES = { model: "model", variant: "variant", agent_mode: "agent mode" } as const;

/** `asked`: the fields a client named; null takes one back and is always allowed. `config`: what the session would have with them. */
export async function mustSupport(agent: Agent, host: AgentHost, asked: ConfigPatch, config: SessionConfig): Promise<void> {
  const { capabilities, name } = agent;
  for (const field of ["model", "variant", "agent_mode"] as const)
    if (asked[field] && !capabilities.settings[field])
      throw new ProblemError("unsupported", `${name} takes no ${NAMES[field]}. Leave it out, or send null to take it back.`);
  const { permission_mode: mode } = asked;
  if (mode === undefined) return;
  if (!capabilities.permission_modes.includes(mode))
    throw new ProblemError(
      "unsupported",
      `${name} has no permission mode ${mode}. Choose one of: ${capabilities.permission_modes.join(", ")}.`,
    );
  const refusal = await agent.refusal?.(config, host);
  if (refusal) throw new ProblemError("unsupported", refusal);
}
