// The model of bench/runtime.mjs, in a process of its own: it answers with calls of `read` and then with text, as much as the prompt says (`steps=200 deltas=0 hold=1`).
import { createServer } from "node:http";

const event = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 110,
};
const resource = (status, output) => ({ id: "resp_1", object: "response", created_at: 1, status, model: "m", output, usage });

function stream(item, deltas) {
  let n = 0;
  const numbered = (data) => event({ ...data, sequence_number: n++ });
  const place = { item_id: item.id, output_index: 0, content_index: 0 };
  const parts = [
    numbered({ type: "response.created", response: resource("in_progress", []) }),
    numbered({
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", ...(item.content ? { content: [] } : {}) },
    }),
  ];
  const part = (text) => ({ type: "output_text", text, annotations: [] });
  if (item.content) {
    parts.push(numbered({ type: "response.content_part.added", ...place, part: part("") }));
    for (const delta of deltas) parts.push(numbered({ type: "response.output_text.delta", ...place, delta }));
    parts.push(numbered({ type: "response.output_text.done", ...place, text: deltas.join("") }));
    parts.push(numbered({ type: "response.content_part.done", ...place, part: part(deltas.join("")) }));
  }
  parts.push(numbered({ type: "response.output_item.done", output_index: 0, item }));
  parts.push(numbered({ type: "response.completed", response: resource("completed", [item]) }));
  return parts.join("");
}

let serial = 0;
const held = [];
const server = createServer((request, response) => {
  if (request.url === "/release") {
    for (const send of held.splice(0)) send();
    return response.end();
  }
  if (request.url === "/held") return response.end(String(held.length));
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { input } = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    const at = input.findLastIndex(({ role }) => role === "user");
    const asked = Object.fromEntries(
      Array.from(JSON.stringify(input[at]).matchAll(/(\w+)=(\d+)/g), ([, name, value]) => [name, Number(value)]),
    );
    const done = input.slice(at).filter(({ type }) => type === "function_call_output").length;
    serial += 1;
    const answer =
      done < (asked.steps ?? 0)
        ? stream(
            {
              type: "function_call",
              id: `fc_${serial}`,
              call_id: `call_${serial}`,
              name: "read",
              arguments: JSON.stringify({ path: "a.txt", offset: done + 1, limit: 5 }),
              status: "completed",
            },
            [],
          )
        : text(asked.deltas ?? 1);
    const send = () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(answer);
    };
    if (asked.hold && done === 0) held.push(send);
    else send();
  });
});

function text(count) {
  const deltas = Array.from({ length: count }, (_, index) => `word ${index} `);
  const content = [{ type: "output_text", text: deltas.join(""), annotations: [] }];
  return stream({ type: "message", id: `msg_${serial}`, role: "assistant", status: "completed", content }, deltas);
}

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));
