// How things end that did not go as planned: a message that never reached its agent, an agent that went away.
import { AgentError, type ExitInfo } from "../agents/contract.ts";
import type { Draft } from "../schema/draft.ts";
import type { MessageQueued, SessionEnded } from "../schema/event-data.ts";
import { Withdrawn } from "./trust-gate.ts";

/** The message never reached the agent: its turn is reported all the same, with the reason. */
export function unsentTurn(message: MessageQueued, error: unknown): Draft[] {
  const auth = error instanceof AgentError && error.code === "agent_auth_required";
  const text = error instanceof Error ? error.message : String(error);
  const code = auth ? "provider_auth" : "execution_error";
  const native_code = error instanceof AgentError ? error.code : null;
  const content = [{ type: "text", text: message.text } as const];
  if (error instanceof Withdrawn)
    return [
      { do: "turn.start", initiator: "client" },
      { do: "item.add", item: { key: `unsent:${message.turn_id}`, kind: "message", role: "user", content }, status: "failed" },
      { do: "turn.end", stop_reason: "interrupted" },
    ];
  return [
    { do: "turn.start", initiator: "client" },
    { do: "item.add", item: { key: `unsent:${message.turn_id}`, kind: "message", role: "user", content }, status: "failed" },
    ...(auth ? [{ do: "event", type: "auth.status", data: { status: "required", message: text } } as const] : []),
    { do: "error", error: { message: text, code, details: { error_source: "daemon", native_code, retryable: true } } },
    { do: "turn.end", stop_reason: "error", error_code: code },
  ];
}

/** Why a message is not tried again by itself. */
export const parkedMessage = (tries: number): Error =>
  new Error(
    `The daemon stopped ${tries} times while this message was on its way to the agent, so it is not tried again by itself. See the daemon's log; send the message again if it is not the cause.`,
  );

/** Queued messages that could not be read. They are kept in the data directory; nobody knows what they said. */
export const unreadableMessages = (count: number): Draft[] => [
  {
    do: "error",
    error: {
      message: `${count} queued message(s) could not be read and were set aside. Send them again.`,
      code: "execution_error",
      details: { error_source: "daemon", native_code: "unreadable_message", retryable: false },
    },
  },
];

/** The agent's process went away in mid-turn, and the session can go on in a new one. */
export const lostAgent = (
  message = "The agent's process went away in the middle of the turn. The next message resumes the session.",
): Draft => ({
  do: "error",
  error: { message, code: "execution_error", details: { error_source: "agent", native_code: null, retryable: true } },
});

/** The agent says nothing in a running turn. */
export const stalled = (silentMs: number): Draft => ({
  do: "status",
  status: { status: "stalled", detail: `No sign of life for ${Math.round(silentMs / 1000)} s. Interrupt it, or wait.` },
});

/** What an exit means for a session that cannot be resumed. */
export function endOf({ exit, message }: { exit: ExitInfo | null; message?: string }): SessionEnded {
  if (exit?.code === 0) return { reason: "completed", terminated_by: "agent" };
  const how = exit?.signal ? `ended by ${exit.signal}` : `exited with code ${exit?.code ?? "unknown"}`;
  return {
    reason: "error",
    terminated_by: "agent",
    message: message ?? `The agent ${how}.`,
    exit_code: exit?.code ?? null,
    signal: exit?.signal ?? null,
    ...(exit ? { stderr: exit.stderr } : {}),
  };
}
