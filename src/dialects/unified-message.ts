// The messages dialect's shapes: for user interfaces that think in messages instead of events.
import type { ErrorCode, ErrorDetails } from "../schema/event-data.ts";
import type { ItemRole } from "../schema/item.ts";

/** All types there are. A page that handles these handles every agent. */
export const unifiedMessageTypes = [
  "session_init",
  "status_change",
  "assistant",
  "result",
  "stream_event",
  "permission_request",
  "permission_response",
  "control_response",
  "tool_progress",
  "tool_use_summary",
  "auth_status",
  "user_message",
  "interrupt",
  "configuration_change",
  "team_message",
  "team_task_update",
  "team_state_change",
  "session_lifecycle",
  "unknown",
] as const;
export type UnifiedMessageType = (typeof unifiedMessageTypes)[number];

export type UnifiedContent =
  | { type: "text"; text: string }
  | { type: "thinking"; thinking: string; visibility: "public" | "private" }
  | { type: "code"; code: string; language: string | null }
  | { type: "refusal"; refusal: string }
  /** `source` names where the bytes are: a path of this API, or a file. They never travel in a message. */
  | { type: "image" | "audio"; source: string; media_type: string | null }
  | { type: "tool_use"; id: string; name: string; input: unknown; kind: string | null; title: string | null; paths: string[] }
  | {
      type: "tool_result";
      tool_use_id: string;
      content: string;
      is_error: boolean;
      exit_code: number | null;
      duration_ms: number | null;
      /** Where the whole output is when `content` is only its beginning. */
      artifact: string | null;
    }
  | { type: "file"; path: string; action: "read" | "write" | "patch"; diff: string | null }
  | { type: "plan"; entries: { text: string; status: string; priority?: string }[] }
  | { type: "resource"; uri: string; media_type: string | null; text: string | null }
  | { type: "json"; json: unknown }
  | { type: "status"; label: string; detail: string | null };

/** The same three keys for every fault of every agent. */
export type UnifiedErrorMeta = {
  is_error: true;
  error_code: ErrorCode;
  error_message: string;
  error_source: ErrorDetails["error_source"];
};

export type UnifiedMessage = {
  /** The event's; a second message of the same event ends with `.2`. */
  id: string;
  /** The event's: what to resume after. */
  sequence: number;
  /** Milliseconds since 1970. */
  timestamp: number;
  session_id: string;
  type: UnifiedMessageType;
  /** What kind of its type; the universal event type where there is no better word. */
  subtype: string;
  role: NonNullable<ItemRole>;
  content: UnifiedContent[];
  /** The message or tool call this belongs under: a sub-agent's work. */
  parent_id: string | null;
  /** Keys in snake_case, the same for every agent. */
  metadata: Record<string, unknown>;
};

/** What a projection says of a message; the rest is the envelope. */
export type Said = Pick<UnifiedMessage, "type"> &
  Partial<Pick<UnifiedMessage, "subtype" | "role" | "content" | "parent_id" | "metadata">>;
