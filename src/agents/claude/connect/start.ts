// What a start of Claude Code has in common, whether we run its program ourselves or the Agent SDK does.
import { AgentError, type Connection, type Launch } from "../../contract.ts";
import { isRecord } from "../../json.ts";
import type { NativeRequest } from "../translate/permissions.ts";

/** After SIGTERM the CLI writes its transcript and ends; what does not is killed. */
export const STOP_GRACE_MS = 5_000;
/** Start-up takes a second; slow MCP servers and big machines' disks take more. */
const START_MS = 60_000;

/** The handshake's answer, or an error when it does not come. */
export async function withinStart<T>(answer: Promise<T>): Promise<T> {
  let late: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const message = `Claude Code did not answer within ${START_MS / 1000} s.`;
    late = setTimeout(() => reject(new AgentError("agent_failed_to_start", message)), START_MS);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(late);
  }
}

/** What the translator kept of a request, back from the session. */
export function nativeRequest(native: unknown): NativeRequest {
  if (isRecord(native) && typeof native.request_id === "string") return native as NativeRequest;
  throw new AgentError("agent_refused", "This request cannot be answered any more.");
}

/**
 * A session that never got an answer may be unknown to the CLI: killed in the first moment of its first turn, it had stored nothing. Then it begins anew;
 * one that has answered is never begun anew behind a person's back.
 */
export async function connectOrBeginAnew(launch: Launch, connect: (launch: Launch) => Promise<Connection>): Promise<Connection> {
  try {
    return await connect(launch);
  } catch (error) {
    const unknown = error instanceof AgentError && error.message.includes("No conversation found");
    if (!unknown || launch.resume?.answered !== false || launch.resume.fork) throw error;
    return connect({ ...launch, resume: null });
  }
}
