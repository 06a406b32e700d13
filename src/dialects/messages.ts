/**
 * The messages dialect: one event in, one message out; two when a turn was interrupted, and one for each thing that a change of configuration changes. No
 * event type is left out.
 */

import type { Dialect, DialectEvent, DialectLine, DialectReader } from "../schema/dialect.ts";
import type { EventOf, UniversalEvent } from "../schema/event.ts";
import type { ErrorCode, EventType } from "../schema/event-data.ts";
import { itemMessage } from "./item-messages.ts";
import { MessageContext, type TurnError } from "./message-context.ts";
import { type Said, type UnifiedErrorMeta, type UnifiedMessage, unifiedMessageTypes } from "./unified-message.ts";

export const messagesDialect: Dialect = {
  lineTypes: unifiedMessageTypes,
  versions: [1],
  nativeOf: new Set(),
  open: () => new MessagesReader(),
};

class MessagesReader implements DialectReader {
  readonly #context = new MessageContext();

  remember({ json }: DialectEvent): void {
    this.#context.take(JSON.parse(json) as UniversalEvent);
  }

  lines({ json }: DialectEvent): DialectLine[] {
    const messages = messagesOf(JSON.parse(json) as UniversalEvent, this.#context);
    return messages.map((message) => ({ type: message.type, json: JSON.stringify(message) }));
  }
}

/** The context is what the events before made it, and is moved on. */
export function messagesOf(event: UniversalEvent, context: MessageContext): UnifiedMessage[] {
  const said = say(event, context);
  context.take(event);
  return said.map((said, index) => ({
    id: index === 0 ? event.event_id : `${event.event_id}.${index + 1}`,
    sequence: event.sequence,
    timestamp: Date.parse(event.time),
    session_id: event.session_id,
    type: said.type,
    subtype: said.subtype ?? event.type,
    role: said.role ?? "system",
    content: said.content ?? [],
    parent_id: said.parent_id ?? null,
    metadata: {
      ...said.metadata,
      native_session_id: event.native_session_id,
      synthetic: event.synthetic,
      ...(event.raw === null || event.raw === undefined ? {} : { raw: event.raw }),
    },
  }));
}

function say(event: UniversalEvent, context: MessageContext): Said[] {
  switch (event.type) {
    case "item.started":
    case "item.updated":
    case "item.completed":
    case "item.delta":
    case "item.removed":
      return [itemMessage(event, context)];
    case "turn.ended":
      return turnEnded(event, context.error);
    case "error":
      return [{ type: "status_change", subtype: "error", metadata: errorMeta(event.data) }];
    case "permission.requested":
      return [{ type: "permission_request", subtype: "permission", metadata: permission(event) }];
    case "permission.resolved":
      return [{ type: "permission_response", subtype: "permission", role: "user", metadata: permission(event) }];
    case "question.requested":
      return [
        { type: "permission_request", subtype: "question", metadata: { request_id: event.data.question_id, ...event.data } },
      ];
    case "question.resolved":
      return [
        {
          type: "permission_response",
          subtype: "question",
          role: "user",
          metadata: { request_id: event.data.question_id, ...event.data },
        },
      ];
    case "config.changed":
      return configChanges(event.data);
    case "task.status":
      return [
        { type: isOver(event.data.status) ? "tool_use_summary" : "tool_progress", role: "tool", metadata: taskMeta(event.data) },
      ];
    case "task.spawned":
    case "task.output":
    case "task.stdin":
    case "task.resized":
    case "task.signalled":
      return [{ type: "tool_progress", role: "tool", metadata: taskMeta(event.data) }];
    case "task.cancelled":
      return [{ type: "tool_use_summary", role: "tool", metadata: taskMeta({ status: "cancelled", ...event.data }) }];
    case "task.cancel_requested":
      return [{ type: "interrupt", subtype: "task", role: "user", metadata: taskMeta(event.data) }];
    case "session.started":
      return [{ type: "session_init", metadata: { ...event.data.metadata } }];
    case "agent.notice":
      // What an agent did with its own session has no event of its own.
      return event.data.name.startsWith("session.")
        ? [{ type: "session_lifecycle", subtype: event.data.name, metadata: { ...event.data } }]
        : [{ type: "unknown", metadata: { ...event.data } }];
    case "agent.unparsed":
      return [{ type: "unknown", metadata: { ...event.data } }];
    default:
      return [{ type: plainTypes[event.type], metadata: { ...event.data } }];
  }
}

type SaidAbove =
  | `item.${string}`
  | `task.${string}`
  | `permission.${string}`
  | `question.${string}`
  | `agent.${string}`
  | "turn.ended"
  | "error"
  | "config.changed"
  | "session.started";

/** Events whose data is the message as it is. A new event type does not compile until it stands here or above. */
const plainTypes: Record<Exclude<EventType, SaidAbove>, UnifiedMessage["type"]> = {
  "message.queued": "status_change",
  "message.updated": "status_change",
  "message.removed": "status_change",
  "turn.started": "status_change",
  "step.started": "status_change",
  "step.ended": "status_change",
  "session.status": "status_change",
  "usage.updated": "status_change",
  "limits.updated": "status_change",
  "session.ended": "session_lifecycle",
  "session.updated": "session_lifecycle",
  "session.compacted": "session_lifecycle",
  "session.moved": "session_lifecycle",
  "checkpoint.created": "session_lifecycle",
  "artifact.written": "session_lifecycle",
  // Going back and failing at it are answers to what somebody asked for.
  "checkpoint.rewound": "control_response",
  "checkpoint.failed": "control_response",
  "auth.status": "auth_status",
  "team.message": "team_message",
  "team.task_updated": "team_task_update",
  "team.state_changed": "team_state_change",
  "skill.catalog_updated": "configuration_change",
  "skill.loaded": "configuration_change",
  "skill.invoked": "tool_progress",
  "skill.warning": "status_change",
};

/** What went wrong is reported in the agent's own words, where the error before it has the same code. */
function turnEnded({ data }: EventOf<"turn.ended">, error: TurnError | null): Said[] {
  const { turn_id, stop_reason, error_code, usage } = data;
  const code = error_code ?? endCodes[stop_reason];
  const told = error?.code === code ? error : null;
  const result: Said = {
    type: "result",
    subtype: stop_reason,
    metadata: {
      turn_id,
      stop_reason,
      usage: usage ?? null,
      ...(code === undefined
        ? { is_error: false }
        : ({
            is_error: true,
            error_code: code,
            error_message: told?.message ?? errorTitles[code],
            error_source: told?.details.error_source ?? "agent",
          } satisfies UnifiedErrorMeta)),
    },
  };
  if (stop_reason !== "interrupted") return [result];
  return [{ type: "interrupt", subtype: "turn", role: "user", metadata: { turn_id } }, result];
}

/** Ends that are faults even when the agent gave no code. */
const endCodes: Partial<Record<EventOf<"turn.ended">["data"]["stop_reason"], ErrorCode>> = {
  error: "unknown",
  interrupted: "aborted",
  output_length: "output_length",
  max_turns: "max_turns",
  max_budget: "max_budget",
};

/** What a result says when only the code is known. */
const errorTitles: Record<ErrorCode, string> = {
  provider_auth: "The provider refused the credentials.",
  api_error: "The provider's API failed.",
  context_overflow: "The conversation is too long for the model.",
  output_length: "The answer reached the longest length allowed.",
  aborted: "The turn was stopped.",
  rate_limit: "The provider's rate limit was reached.",
  max_turns: "The turn reached the highest number of steps allowed.",
  max_budget: "The turn reached its budget.",
  execution_error: "The agent failed while it worked.",
  unknown: "The turn failed.",
};

function errorMeta({ message, code, details }: EventOf<"error">["data"]): UnifiedErrorMeta & Record<string, unknown> {
  const { error_source, ...rest } = details;
  return { is_error: true, error_code: code, error_message: message, error_source, ...rest };
}

function permission({ data }: EventOf<"permission.requested"> | EventOf<"permission.resolved">): Record<string, unknown> {
  const { metadata, permission_id, action, status } = data;
  return { request_id: permission_id, permission_id, action, status, ...metadata, tool_use_id: metadata.call_id };
}

type Config = EventOf<"config.changed">["data"];

/** Which fields a message of each subtype has; what stands in none of them is a `config.changed`. */
const configFields: readonly [string, readonly (keyof Config)[]][] = [
  ["current_mode_update", ["agent_mode", "permission_mode", "modes"]],
  ["model_update", ["model", "variant", "models"]],
  ["available_commands_update", ["commands"]],
  ["config.changed", ["mcp_servers", "tools", "options"]],
];

/** One message for each thing that changed: a page that waits for models must not look into messages about commands. */
function configChanges(data: Config): Said[] {
  const { actor } = data;
  const said = configFields.flatMap(([subtype, fields]): Said[] => {
    const own = fields.filter((field) => data[field] !== undefined);
    if (own.length === 0) return [];
    const metadata = Object.fromEntries([...own.map((field) => [field, data[field]]), ...(actor ? [["actor", actor]] : [])]);
    return [{ type: "configuration_change", subtype, metadata }];
  });
  return said.length > 0 ? said : [{ type: "configuration_change", metadata: { ...data } }];
}

const isOver = (status: string): boolean => status === "exited" || status === "cancelled" || status === "failed";

const taskMeta = (data: { task_id: string; status?: string }): Record<string, unknown> => ({
  ...data,
  tool_use_id: data.task_id,
});
