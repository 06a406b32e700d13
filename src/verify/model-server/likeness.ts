/**
 * Endpoints as their programs are, not as the specification has them: what `model-server --like` leaves out, adds and refuses. For people who test a client of the Responses
 * protocol against servers they do not have.
 */
import { isObject, type JsonObject, objectOf, stringOf } from "./json.ts";
import type { Frame } from "./protocols/protocol.ts";

export interface Likeness {
  /** Streams end in `[DONE]`. */
  readonly doneMark: boolean;
  readonly compact: boolean;
  readonly websocket: boolean;
  /** `tool_choice` is obeyed. */
  readonly toolChoice: boolean;
  /** What becomes of a `previous_response_id`, which no server here can know. */
  readonly previous: "ignored" | "unsupported" | "not_found";
  /** The events of an answer, as this server writes them. */
  frames(frames: readonly Frame[]): Frame[];
}

const asTheyAre = (frames: readonly Frame[]): Frame[] => [...frames];
const STATELESS = { doneMark: false, compact: false, websocket: false, toolChoice: false, previous: "ignored" as const };

export const LIKENESSES: Readonly<Record<string, Likeness>> = {
  openai: { doneMark: false, compact: true, websocket: true, toolChoice: true, previous: "not_found", frames: asTheyAre },
  lmstudio: { ...STATELESS, doneMark: true, previous: "not_found", frames: asTheyAre },
  // No event for an answer that was cut: it is completed.
  ollama: { ...STATELESS, frames: (frames) => frames.map(completedOnly) },
  // Made from chat completions: no numbers, no places, a response of three keys, no end of the arguments.
  llamacpp: { ...STATELESS, previous: "unsupported", frames: (frames) => frames.filter(hasNoArgumentsEnd).map(bare) },
  // Parts around raw reasoning; until late versions the final items had other ids than the streamed ones.
  vllm: { ...STATELESS, toolChoice: true, frames: (frames) => frames.flatMap(withReasoningParts).map(otherFinalIds) },
};

/** Null when the request may be answered. */
export function previousRefusal({ previous }: Likeness, body: JsonObject): string | null {
  const id = stringOf(body.previous_response_id);
  if (id === "" || previous === "ignored") return null;
  return previous === "unsupported" ? "previous_response_id is not supported." : `Previous response with id '${id}' not found.`;
}

const typeOf = ({ data }: Frame): string => stringOf(objectOf(data).type);
const changed = (frame: Frame, data: JsonObject): Frame => ({ ...frame, event: stringOf(data.type), data });

const hasNoArgumentsEnd = (frame: Frame): boolean => typeOf(frame) !== "response.function_call_arguments.done";

function bare(frame: Frame): Frame {
  if (!isObject(frame.data)) return frame;
  const { sequence_number: _, output_index: __, ...data } = frame.data;
  if (!isObject(data.response)) return changed(frame, data);
  const { id, object, status, output, usage } = data.response;
  return changed(frame, { ...data, response: { id, object, status, ...(status === "completed" ? { output, usage } : {}) } });
}

function completedOnly(frame: Frame): Frame {
  const data = objectOf(frame.data);
  if (data.type !== "response.incomplete") return frame;
  const response = { ...objectOf(data.response), status: "completed", incomplete_details: null };
  return changed(frame, { ...data, type: "response.completed", response });
}

/** `response.reasoning_part.added` before the first piece, `.done` after the whole text; numbers stay what they are. */
function withReasoningParts(frame: Frame, index: number, all: readonly Frame[]): Frame[] {
  const data = objectOf(frame.data);
  const part = (step: "added" | "done", text: string): Frame => {
    const { item_id, output_index, content_index, sequence_number } = data;
    const place = { item_id, output_index, content_index, sequence_number, part: { type: "reasoning_text", text } };
    return changed(frame, { type: `response.reasoning_part.${step}`, ...place });
  };
  if (data.type === "response.reasoning_text.done") return [frame, part("done", stringOf(data.text))];
  const isFirst = data.type === "response.reasoning_text.delta" && typeOf(all[index - 1] ?? frame) !== data.type;
  return isFirst ? [part("added", ""), frame] : [frame];
}

function otherFinalIds(frame: Frame): Frame {
  const data = objectOf(frame.data);
  const response = objectOf(data.response);
  if (data.type !== "response.completed" || !Array.isArray(response.output)) return frame;
  const output = response.output.map((item: unknown) => (isObject(item) ? { ...item, id: `final_${stringOf(item.id)}` } : item));
  return changed(frame, { ...data, response: { ...response, output } });
}
