// What each turn took: time, wait for the first sign, tokens, cost.
import type { UniversalEvent } from "../../../src/schema/event.ts";
import type { Usage } from "../../../src/schema/event-data.ts";

export type TurnMeasure = {
  turn_id: string;
  duration: number;
  first: number | null;
  input: number | null;
  output: number | null;
  context: number | null;
  cost: number | null;
};

type Open = { started: number; first: number | null; steps: Usage[]; stepCost: number | null };

export function turnMeasures(events: Iterable<UniversalEvent>): TurnMeasure[] {
  const open = new Map<string, Open>();
  const done: TurnMeasure[] = [];
  let context: number | null = null;
  for (const event of events) {
    const at = Date.parse(event.time);
    if (event.type === "turn.started") open.set(event.data.turn_id, { started: at, first: null, steps: [], stepCost: null });
    if (event.type === "usage.updated") context = event.data.context_used ?? context;
    if (event.type === "item.started" && event.data.item.role !== "user") {
      const turn = open.get(event.data.item.turn_id ?? "");
      if (turn) turn.first ??= at - turn.started;
    }
    if (event.type === "step.ended") {
      const turn = open.get(event.data.turn_id);
      if (turn && event.data.usage) turn.steps.push(event.data.usage);
      if (turn && event.data.cost_usd !== undefined) turn.stepCost = (turn.stepCost ?? 0) + event.data.cost_usd;
    }
    if (event.type === "turn.ended") {
      const turn = open.get(event.data.turn_id);
      if (!turn) continue;
      open.delete(event.data.turn_id);
      const { usage } = event.data;
      done.push({
        turn_id: event.data.turn_id,
        duration: at - turn.started,
        first: turn.first,
        input: usage?.input_tokens ?? sum(turn.steps.map((step) => step.input_tokens)),
        output: usage?.output_tokens ?? sum(turn.steps.map((step) => step.output_tokens)),
        context: usage?.context_used ?? context,
        cost: usage?.cost_usd ?? turn.stepCost,
      });
    }
  }
  return done;
}

const sum = (values: number[]): number | null => (values.length === 0 ? null : values.reduce((a, b) => a + b, 0));
