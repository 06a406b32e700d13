/** What the runtime says while it works: event frames without their envelope. Whoever listens gives them an id, a sequence number and a time. */
import type { JsonObject } from "../openresponses/json.ts";
import type { ProviderEvent } from "../openresponses/provider-event.ts";
import type { TurnEndReason } from "./records.ts";

export type RuntimeFrame =
  | { readonly type: "turn_started"; readonly turn_id: string }
  | ({ readonly type: "provider_event"; readonly provider: "openresponses" } & ProviderEvent)
  | { readonly type: "output_text_delta"; readonly delta: string }
  /** The items of this attempt are void: it is asked again. */
  | {
      readonly type: "retrying";
      readonly attempt: number;
      readonly wait_ms: number;
      readonly code: string;
      readonly message: string;
    }
  | {
      readonly type: "tool_started";
      readonly tool_id: string;
      readonly name: string;
      readonly args: JsonObject;
      readonly timeout_ms: number | null;
    }
  | { readonly type: "tool_stdout" | "tool_stderr"; readonly tool_id: string; readonly chunk: string }
  | {
      readonly type: "tool_ended";
      readonly tool_id: string;
      readonly exit_code: number;
      readonly duration_ms: number;
      readonly artifacts: JsonObject | null;
    }
  | { readonly type: "tool_failed"; readonly tool_id: string; readonly error: string }
  | { readonly type: "compacted"; readonly method: string; readonly pre_tokens: number; readonly post_tokens: number }
  | { readonly type: "turn_ended"; readonly turn_id: string; readonly reason: TurnEndReason; readonly message: string | null };

/** Called in order. It must not throw. */
export type FrameListener = (frame: RuntimeFrame) => void;
