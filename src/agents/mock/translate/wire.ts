// What the mock agent's process and its connection say to each other, one JSON a line. A small protocol of its own, as every agent has one.
import type { ContentPart, PlanEntry, ToolKind } from "../../../schema/content.ts";
import type { PlainEventDraft } from "../../../schema/draft.ts";
import type {
  ErrorCode,
  PermissionOption,
  PlainReply,
  QuestionPrompt,
  SessionStatusData,
  StopReason,
  Usage,
} from "../../../schema/event-data.ts";

/** A message for the mock; text and files. */
export type MockPrompt<T extends string> = {
  type: T;
  id: string;
  text: string;
  attachments: { name: string; mime: string; data: string }[];
};

/** Daemon → mock. */
export type MockCommand =
  | MockPrompt<"prompt">
  | MockPrompt<"steer">
  | { type: "interrupt" }
  | { type: "configure"; model?: string | null; variant?: string | null; agent_mode?: string | null; permission_mode?: string }
  | {
      type: "permission_reply";
      id: string;
      reply: PlainReply;
      option_id: string | null;
      message: string | null;
      input?: unknown;
    }
  | { type: "question_reply"; id: string; answers: string[][] | null };

/** Mock → daemon. `m` is a message id, `c` a call id, `p` a parent call (a sub-agent's work). */
export type MockEvent =
  | { type: "hello"; session: string; resumed: boolean; remembered: number }
  | { type: "turn"; id: string; by: "client" | "self" }
  | { type: "done"; reason: StopReason; code?: ErrorCode; usage?: Usage }
  | { type: "text" | "thought" | "refusal"; m: string; d: string; p?: string; trace?: string }
  | {
      type: "part";
      m: string;
      part: ContentPart | { type: "media"; media: "image" | "audio" | "file"; mime: string; base64: string; name?: string };
      p?: string;
    }
  | { type: "message_end"; m: string; failed?: boolean }
  | { type: "message_gone"; m: string; why: string }
  | {
      type: "call";
      c: string;
      m?: string;
      name: string;
      kind: ToolKind;
      title: string;
      /** Absent: the arguments come with `call_args`. */
      input?: unknown;
      paths?: string[];
      p?: string;
      background?: boolean;
    }
  | { type: "call_args"; c: string; d: string }
  | { type: "output"; c: string; d: string }
  | { type: "result"; c: string; output: string; error?: boolean; exit_code?: number; ms?: number; parts?: ContentPart[] }
  | { type: "plan"; id: string; entries: PlanEntry[] }
  | { type: "step"; id: string; end?: { finish_reason: string; usage: Usage; cost_usd: number } }
  | {
      type: "ask";
      id: string;
      c: string;
      action: string;
      name: string;
      input: unknown;
      options: PermissionOption[];
      reason?: string;
    }
  | { type: "question"; id: string; questions: QuestionPrompt[]; c?: string; metadata?: Record<string, unknown> }
  | { type: "withdrawn"; id: string }
  | { type: "status"; status: SessionStatusData }
  | { type: "fault"; message: string; code: ErrorCode; retryable: boolean }
  | { type: "note"; name: string; detail?: unknown }
  | { type: "ping" }
  | { type: "event"; event: Omit<PlainEventDraft, "do"> };
