// What was open in a stream when its daemon died, read back from the log: only from the point where something was open, never the whole session.
import type { Stream } from "../log/contract.ts";
import type { UniversalEvent } from "../schema/event.ts";
import type { PermissionData, QuestionData, SessionStatusName } from "../schema/event-data.ts";
import { ItemProjection } from "../schema/projection/item-projection.ts";
import type { Item } from "../schema/item.ts";
import type { Turn } from "./scribe.ts";

export type OpenState = {
  turn: Turn | null;
  steps: { key: string; step_id: string }[];
  items: Item[];
  permissions: PermissionData[];
  questions: QuestionData[];
  status: SessionStatusName | null;
  ended: boolean;
};

export function readOpenState(stream: Stream, openSince: number): OpenState {
  const fold = new ItemProjection();
  const open = new Set<string>();
  const permissions = new Map<string, PermissionData>();
  const questions = new Map<string, QuestionData>();
  const steps = new Set<string>();
  let turn: Turn | null = null;
  let status: SessionStatusName | null = null;
  let ended = false;

  for (const event of eventsAfter(stream, openSince - 1)) {
    fold.apply(event);
    switch (event.type) {
      case "item.started":
        open.add(event.data.item.item_id);
        break;
      case "item.completed":
        open.delete(event.data.item.item_id);
        break;
      case "item.removed":
        open.delete(event.data.item_id);
        break;
      case "permission.requested":
        permissions.set(event.data.permission_id, event.data);
        break;
      case "permission.resolved":
        permissions.delete(event.data.permission_id);
        break;
      case "question.requested":
        questions.set(event.data.question_id, event.data);
        break;
      case "question.resolved":
        questions.delete(event.data.question_id);
        break;
      case "turn.started":
        turn = { turn_id: event.data.turn_id, native_turn_id: null, initiator: event.data.initiator };
        break;
      case "turn.ended":
        turn = null;
        break;
      case "step.started":
        steps.add(event.data.step_id);
        break;
      case "step.ended":
        steps.delete(event.data.step_id);
        break;
      case "session.status":
        status = event.data.status;
        break;
      case "session.ended":
        ended = true;
        break;
      default:
        break;
    }
  }
  return {
    turn,
    steps: [...steps].map((step_id) => ({ key: step_id, step_id })),
    items: fold.items().filter((item) => open.has(item.item_id)),
    permissions: [...permissions.values()],
    questions: [...questions.values()],
    status,
    ended,
  };
}

function* eventsAfter(stream: Stream, after: number): Generator<UniversalEvent> {
  let cursor = after;
  for (;;) {
    const page = stream.read({ after: cursor, limit: 1_000 });
    for (const json of page.events) yield JSON.parse(json) as UniversalEvent;
    if (!page.has_more) return;
    cursor = page.next;
  }
}
