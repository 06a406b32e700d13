// An item: one message, tool call, tool result, status line. The unit a transcript is made of.
import Type from "typebox";
import { ContentPart } from "./content.ts";

export const ItemKind = Type.Enum(["message", "tool_call", "tool_result", "system", "status", "unknown"], {
  description: "What it is.",
});
export type ItemKind = Type.Static<typeof ItemKind>;

export const ItemRole = Type.Union([Type.Enum(["user", "assistant", "system", "tool"]), Type.Null()], {
  description: "Who said or did it; null where nobody did.",
});
export type ItemRole = Type.Static<typeof ItemRole>;

/** Who can say a message. */
export type SpeakerRole = Extract<ItemRole, "user" | "assistant">;

export const ItemStatus = Type.Enum(["in_progress", "completed", "failed"], {
  description: "failed: it was cut short, or the tool failed.",
});
export type ItemStatus = Type.Static<typeof ItemStatus>;

export const Item = Type.Object(
  {
    item_id: Type.String({ description: "Id of the item." }),
    native_item_id: Type.Union([Type.String(), Type.Null()], {
      description: "The agent's own id of the item; null where it gave none.",
    }),
    parent_id: Type.Union([Type.String(), Type.Null()], {
      description:
        "The item it belongs to: a message has its tool calls and results as children, a sub-agent's items have the call that started it as parent. Null: none.",
    }),
    kind: ItemKind,
    role: ItemRole,
    content: Type.Array(ContentPart, { description: "Its parts, in order." }),
    status: ItemStatus,
    turn_id: Type.Union([Type.String(), Type.Null()], { description: "The turn it belongs to; null: it came between turns." }),
    started_at: Type.String({ description: "When it began: RFC 3339." }),
    completed_at: Type.Union([Type.String(), Type.Null()], {
      description: "When it was finished: RFC 3339; null while it is in progress.",
    }),
  },
  { description: "One entry of the transcript.", title: "Item" },
);
export type Item = Type.Static<typeof Item>;
