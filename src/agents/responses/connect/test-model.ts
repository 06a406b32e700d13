/** For tests: an endpoint that does what the last message of the person says. */
import {
  answerStream,
  block,
  message,
  resource,
  sendStream,
  startEndpoint,
  streamOf,
  type TestEndpoint,
} from "../../../openresponses/test-endpoint.ts";
import { asText, rec, records, str } from "../../json.ts";

export const startModel = (): Promise<TestEndpoint> =>
  startEndpoint((response, { body }) => {
    const last = records(rec(JSON.parse(body)).input).at(-1);
    if (str(last?.type) === "function_call_output") return sendStream(response, answerStream([{ text: "Done." }]));
    const said = asText(last?.content);
    const count = Number(/flood (\d+)/.exec(said)?.[1] ?? 1);
    if (said.includes("ask")) return sendStream(response, answerStream([{ call: "bash", args: { command: "touch made" } }]));
    if (said.includes("hang")) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(block({ type: "response.created", sequence_number: 0, response: resource("in_progress") }));
      return;
    }
    const garbage = said.includes("garbage") ? block({ type: "response.of_tomorrow", sequence_number: 0 }) : "";
    sendStream(response, garbage + streamOf(words(count)));
  });

/** An answer in so many deltas. */
function words(count: number): unknown[] {
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const deltas = Array.from({ length: count }, (_, index) => `${index} `);
  const text = deltas.join("");
  const part = { type: "output_text", text, annotations: [] };
  return [
    { type: "response.created", response: resource("in_progress") },
    { type: "response.output_item.added", output_index: 0, item: message("", "in_progress") },
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    ...deltas.map((delta) => ({ type: "response.output_text.delta", ...place, delta })),
    { type: "response.output_text.done", ...place, text },
    { type: "response.content_part.done", ...place, part },
    { type: "response.output_item.done", output_index: 0, item: message(text) },
    { type: "response.completed", response: resource("completed", { output: [message(text)] }) },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
}
