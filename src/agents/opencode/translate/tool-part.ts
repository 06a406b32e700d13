// What is kept of one tool part of a message.
import type { DraftPart, ItemKey } from "../../../schema/draft.ts";

export type ToolPart = {
  kind: "tool";
  id: string;
  /** The agent's id of the call. */
  native: string;
  /** What the call is called: that, unless it is the id of another open call of the session. */
  call_id: string;
  /** The name the model asked for: an unknown tool is renamed to `invalid` on the way. */
  name: string;
  callKey: ItemKey;
  resultKey: ItemKey;
  /** The last state as JSON: 1.18 sends the same `running` twice. */
  last: string;
  input: unknown;
  /** Output reported so far as deltas. */
  output: string;
  resultStarted: boolean;
  /** Only its arguments are being written. */
  pending: boolean;
  open: boolean;
  failed: boolean;
  /** Reverted: its items are gone, but may come back. */
  hidden: boolean;
  call: DraftPart[];
  result: DraftPart[] | null;
  /** The session the task tool runs in. */
  child: string | null;
};

/** `name`: of its items, for good. */
export const newToolPart = (id: string, name: string, call: Pick<ToolPart, "call_id" | "name">): ToolPart => ({
  kind: "tool",
  id,
  native: call.call_id,
  ...call,
  callKey: `call:${name}`,
  resultKey: `result:${name}`,
  last: "",
  input: {},
  output: "",
  resultStarted: false,
  pending: true,
  open: true,
  failed: false,
  hidden: false,
  call: [],
  result: null,
  child: null,
});
