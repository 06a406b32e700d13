/**
 * A model that plays at random within the rules: text, thinking, calls of the tools on offer with arguments that fit their schemas, and now and then a failure that a
 * client must get over. The same seed and the same conversation give the same answer, so a run can be repeated.
 */
import type { Block, Fault, ModelStep } from "../../agents/scenario.ts";
import { Dice } from "../dice.ts";
import type { ModelRequest } from "./model-request.ts";
import { callable, callsSincePrompt } from "./offered-tools.ts";
import { schemaInstance } from "./schema-instance.ts";

/** Answers with calls before a turn comes to its end. */
const MOST_CALLS = 5;

export function chaosStep(seed: string, request: ModelRequest): ModelStep {
  // Ids are counted by the server: they are no part of what was said.
  const dice = new Dice(`${seed} ${JSON.stringify(request.history.map(({ role, text }) => [role, text]))}`);
  const blocks: Block[] = [];
  if (dice.chance(0.3))
    blocks.push({ type: "thinking", text: dice.words(20), style: dice.of(["summary", "raw", "both"] as const) });
  const tools = callable(request);
  const must = request.choice?.must === true || (callsSincePrompt(request) < MOST_CALLS && dice.chance(0.6));
  const calls = tools.length > 0 && must ? dice.upTo(3) : 0;
  if (calls === 0 || dice.chance(0.5)) blocks.push({ type: "text", text: dice.words(40), chunks: dice.upTo(12) });
  for (let at = 0; at < calls; at += 1) {
    const tool = dice.of(tools);
    const raw_arguments = JSON.stringify(schemaInstance(tool.schema));
    const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace };
    blocks.push({ type: "tool", native_name: tool.name, raw_arguments, chunks: dice.upTo(4), ...namespace });
  }
  const fault = dice.chance(0.15) ? { fault: faultOf(dice) } : {};
  return { blocks, ...fault };
}

/** Each passes when it is asked again. */
function faultOf(dice: Dice): Fault {
  const times = 1;
  return dice.of<Fault>([
    { kind: "http", status: 500, times },
    { kind: "http", status: 429, headers: { "retry-after": "0" }, times },
    { kind: "cut", after_chunks: dice.upTo(3), times },
    { kind: "eof", after_chunks: dice.upTo(3), times },
    { kind: "failed", code: "server_error", times },
    { kind: "refuse_connection", times },
  ]);
}
