/** What an agent can do, written as what it does differently from one that can do everything the wire offers. */
import type { AgentCapabilities } from "../contract.ts";

/** What most agents have. Few run a call with changed input, so that is off. */
const ABLE: AgentCapabilities = {
  permissions: true,
  edit_input: false,
  questions: true,
  steer: true,
  interrupt: true,
  resume: true,
  fork: true,
  images: true,
  mcp_servers: true,
  system_prompt: true,
  deltas: true,
  reasoning: true,
  plans: true,
  subagents: true,
  settings: { model: true, variant: true, agent_mode: true },
  live: { model: true, variant: true, agent_mode: true, permission_mode: true },
  permission_modes: ["default", "plan", "accept_edits", "bypass"],
};

/** What differs from `ABLE`. */
export type CapabilityDifferences = Partial<Omit<AgentCapabilities, "settings" | "live">> & {
  readonly settings?: Partial<AgentCapabilities["settings"]> | undefined;
  readonly live?: Partial<AgentCapabilities["live"]> | undefined;
};

export const capabilities = ({ settings, live, ...rest }: CapabilityDifferences = {}): AgentCapabilities => ({
  ...ABLE,
  ...rest,
  settings: { ...ABLE.settings, ...settings },
  live: { ...ABLE.live, ...live },
});
