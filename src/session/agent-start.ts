/** What an agent is started with, and who must agree before. */
import { AgentError } from "../agents/contract.ts";
import type { ConnectionTarget } from "./agent-connection.ts";
import type { SessionContext } from "./session-context.ts";
import { configOf, type SessionRow } from "./session-row.ts";
import type { TrustGate } from "./trust-gate.ts";

type Context = Pick<SessionContext, "agent" | "host" | "agentEnvironment">;

/** A person may have to decide. What is loaded is known only then: a repository's rules may break the session's mode. */
export async function mayStart(row: SessionRow, gate: TrustGate, { agent, host }: Context): Promise<void> {
  await gate.pass();
  const refusal = await agent.refusal?.(configOf(row, gate.trusted), host);
  if (refusal) throw new AgentError("unsupported", refusal);
}

export function startTarget(row: SessionRow, trusted: boolean, { agent, agentEnvironment }: Context): ConnectionTarget {
  const { native_session_id, fork, fork_at: at, answered } = row;
  const config = configOf(row, trusted);
  const own = agent.sharesProcess ? {} : agentEnvironment(row.session_id);
  return {
    config: { ...config, env: { ...config.env, ...own } },
    resume:
      native_session_id === null
        ? null
        : { native_session_id, fork, answered: answered !== false, ...(fork && at !== undefined ? { at } : {}) },
  };
}
