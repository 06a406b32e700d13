// An item: one message, tool call, tool result, status line. The unit a transcript is made of.
import Type from "typebox";
import { ContentPart } from "./content.ts";

export const ItemKind = Type.Enum(["message", "tool_call", "tool_result", "system", "status", "unknown"]);
export type ItemKind = Type.Static<typeof ItemKind>;

export const ItemRole = Type.Union([Type.Enum(["user", "assistant", "system", "tool"]), Type.Null()]);
export type ItemRole = Type.Static<typeof ItemRole>;

/** Who can say a message. */
export type SpeakerRole = Extract<ItemRole, "user" | "assistant">;

export const ItemStatus = Type.Enum(["in_progress", "completed", "failed"]);
export type ItemStatus = Type.Static<typeof ItemStatus>;

export const Item = Type.Object(
  {
    item_id: Type.String(),
    native_item_id: Type.Union([Type.String(), Type.Null()]),
    parent_id: Type.Union([Type.String(), Type.Null()]),
    kind: ItemKind,
    role: ItemRole,
    content: Type.Array(ContentPart),
    status: ItemStatus,
    turn_id: Type.Union([Type.String(), Type.Null()]),
    started_at: Type.String(),
    completed_at: Type.Union([Type.String(), Type.Null()]),
  },
  { title: "Item" },
);
export type Item = Type.Static<typeof Item>;
