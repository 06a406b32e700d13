// Drafts: what a translator says happened, before the session gives it ids, a sequence and its place in the grammar.
// A translator names things by keys of its own choice; it never sees an item_id, a turn_id or a clock.
import type { Actor } from "./actor.ts";
import type { ContentPart } from "./content.ts";
import type {
  DeltaPartType,
  ErrorCode,
  ErrorData,
  EventDataOf,
  PermissionOption,
  PlainReply,
  QuestionPrompt,
  ResolvedBy,
  SessionStatusData,
  StopReason,
  Usage,
} from "./event-data.ts";
import type { ItemKind, ItemRole } from "./item.ts";

/** A translator's own name of an item: never reuse one for a second item of the same process. */
export type ItemKey = string;

/** Bytes that came as base64. The session writes them to the artifact store and puts an image, audio or resource part in place. */
export type MediaPart = { type: "media"; media: "image" | "audio" | "file"; mime: string; base64: string; name?: string };

export type DraftPart = ContentPart | MediaPart;

export type ItemDraft = {
  key: ItemKey;
  /** The agent's own id of the item, null when it has none. */
  native_item_id?: string | null;
  /** The item this one belongs to. One that was never announced is left out, but for tool calls: theirs is made, as an empty message. */
  parent?: ItemKey | null;
  kind: ItemKind;
  role: ItemRole;
  content?: DraftPart[];
  /** True for what really goes on after its turn (a background command): the end of the turn does not close it. */
  outlives_turn?: boolean;
};

/** Plain events that pass through the session unchanged. */
export type PlainEventType =
  | "session.updated"
  | "session.compacted"
  | "config.changed"
  | "usage.updated"
  | "limits.updated"
  | "auth.status"
  | "team.message"
  | "team.task_updated"
  | "team.state_changed"
  | "skill.catalog_updated"
  | "skill.loaded"
  | "skill.invoked"
  | "skill.warning"
  | "checkpoint.created"
  | "checkpoint.rewound"
  | "checkpoint.failed"
  | "task.spawned"
  | "task.status"
  | "task.output"
  | "task.stdin"
  | "task.resized"
  | "task.signalled"
  | "task.cancel_requested"
  | "task.cancelled"
  | "agent.notice";

export type PlainEventDraft = { [T in PlainEventType]: { do: "event"; type: T; data: EventDataOf[T] } }[PlainEventType];

export type Draft = (
  | {
      /** Announces an item in progress. Said twice for one key: the second is an update. */
      do: "item.start";
      item: ItemDraft;
    }
  | {
      /**
       * A fragment of one part. `part_index` counts the item's parts; left out, it is the last part of that type, or a new one.
       * A delta of an item never started makes the session start a stub.
       */
      do: "item.delta";
      key: ItemKey;
      part_type: DeltaPartType;
      delta: string;
      part_index?: number;
      /** Of a tool's output, where the agent distinguishes the two. */
      stream?: "stdout" | "stderr";
      /** Of reasoning that is not meant to be shown. */
      visibility?: "private";
    }
  | {
      /** Full replacement of an item still in progress. What is left out stays. */
      do: "item.update";
      key: ItemKey;
      content?: DraftPart[];
      native_item_id?: string;
      parent?: ItemKey;
      outlives_turn?: boolean;
    }
  | {
      /**
       * The item is final. `content` left out: what the deltas made. The session makes deltas and content agree: it adds the missing tail
       * as a synthetic delta, or, when they contradict each other, replaces the item first. For a key never started it makes the start.
       */
      do: "item.complete";
      key: ItemKey;
      content?: DraftPart[];
      status?: "completed" | "failed";
    }
  | {
      /** A whole item at once: start, one synthetic delta if it is a message, completion. */
      do: "item.add";
      item: ItemDraft;
      status?: "completed" | "failed";
    }
  | {
      /** The item never was. `below`: nor was anything that has it as a parent, or a parent of a parent. */
      do: "item.remove";
      key: ItemKey;
      reason: string;
      below?: true;
    }
  | {
      /**
       * A turn begins. `client`: because of a message that was sent; `agent`: by itself. While a turn is open, a start with the same or no native id
       * is taken as the same turn; with another native id the open one is closed first as interrupted.
       */
      do: "turn.start";
      initiator: "client" | "agent";
      native_turn_id?: string;
    }
  | {
      /** The turn is over. Open items of the turn are closed: completed after `end_turn`, failed when it was cut short. No turn open: nothing happens. */
      do: "turn.end";
      stop_reason: StopReason;
      error_code?: ErrorCode;
      usage?: Usage;
    }
  | { do: "step.start"; key: string }
  | { do: "step.end"; key: string; finish_reason?: string; usage?: Usage; cost_usd?: number }
  | { do: "error"; error: ErrorData }
  | {
      /**
       * Something the session cannot see by itself: retrying, compacting, and `running` when that is over. `idle` and `waiting` follow from turns and
       * open requests; saying them is harmless. Repetitions are swallowed.
       */
      do: "status";
      status: SessionStatusData;
    }
  | {
      do: "permission.request";
      /** The translator's name of the request, used again in `permission.resolve`. */
      key: string;
      /** What it wants to do, for a person: "Run: touch a.txt". */
      action: string;
      tool_name: string;
      input: unknown;
      call_id?: string | null;
      item?: ItemKey | null;
      reason?: string;
      diff?: string;
      paths?: string[];
      options: PermissionOption[];
      /** Handed back untouched to `Connection.replyPermission`: whatever the agent's answer has to quote. */
      native: unknown;
    }
  | {
      do: "permission.resolve";
      key: string;
      status: "approved" | "denied";
      resolved_by: ResolvedBy;
      reply?: PlainReply;
      option_id?: string;
      message?: string;
      updated_input?: unknown;
      /** Who resolved it, when somebody did. */
      actor?: Actor;
    }
  | {
      do: "question.request";
      key: string;
      questions: QuestionPrompt[];
      call_id?: string | null;
      item?: ItemKey | null;
      metadata?: Record<string, unknown>;
      native: unknown;
    }
  | {
      do: "question.resolve";
      key: string;
      status: "answered" | "rejected";
      resolved_by: ResolvedBy;
      answers?: string[][];
      actor?: Actor;
    }
  | {
      /**
       * A command of the agent that goes on beside its turns: it becomes a task of the session. `native` is handed back untouched to `Connection.stopTask`; left
       * out, the agent cannot stop it.
       */
      do: "task.start";
      /** The translator's name of the task: never used for a second one. */
      key: string;
      tool_name: string;
      command: string;
      cwd?: string;
      title?: string;
      native?: unknown;
    }
  | { do: "task.output"; key: string; text: string; stream?: "stdout" | "stderr" }
  | {
      /** `stopped`: the agent, or a person there, ended it. */
      do: "task.end";
      key: string;
      status: "exited" | "stopped" | "failed";
      exit_code?: number;
      error?: string;
    }
  | {
      /** The agent's own id of the session became known, or changed. */
      do: "native_session";
      id: string;
    }
  | PlainEventDraft
) & {
  /** True when the agent did not say this itself: the event's source is then `daemon`. Drafts of messages we sent are always synthetic. */
  synthetic?: boolean;
};

export type DraftOf<D extends Draft["do"]> = Extract<Draft, { do: D }>;
