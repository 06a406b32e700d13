/** For tests: a program that speaks as Claude Code does on its pipes. What it does is written in the prompt. */
export const claudeProgram = `#!${process.execPath}
const say = (o) => process.stdout.write(JSON.stringify(o) + "\\n");
const session_id = (process.argv.find((each) => each.startsWith("--resume")) ?? "=s1").split("=")[1] ?? "s1";
const id = { session_id, parent_tool_use_id: null };
let turn = 0;
const stream = (event) => say({ type: "stream_event", event, ...id });
const message = (deltas) => {
  const name = "m" + process.pid + "-" + turn;
  stream({ type: "message_start", message: { id: name, type: "message", role: "assistant", model: "m", content: [], usage: {} } });
  stream({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
  for (const text of deltas) stream({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
  say({ type: "assistant", message: { id: name, model: "m", role: "assistant", content: [{ type: "text", text: deltas.join("") }] }, ...id, uuid: name });
  stream({ type: "content_block_stop", index: 0 });
  stream({ type: "message_stop" });
};
const end = () => say({ type: "result", subtype: "success", is_error: false, stop_reason: "end_turn", result: "done", session_id, uuid: "r" + process.pid + "-" + turn });
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const frame = JSON.parse(line);
  if (frame.type === "control_request")
    return say({ type: "control_response", response: { subtype: "success", request_id: frame.request_id, response: {} } });
  if (frame.type !== "user") return;
  turn += 1;
  say({ type: "system", subtype: "init", model: "m", permissionMode: "default", tools: [], mcp_servers: [], session_id, uuid: "i" + turn });
  const text = typeof frame.message.content === "string" ? frame.message.content : frame.message.content.map((block) => block.text).join("");
  if (text === "hang") return;
  if (text === "ask") return say({ type: "control_request", request_id: "r1", request: { subtype: "can_use_tool", tool_name: "Bash", tool_use_id: "t", input: { command: "x" } } });
  if (text === "garbage") process.stdout.write("this is no JSON\\n");
  const count = Number((/^flood (.+)$/.exec(text) ?? [])[1] ?? 1);
  message(Array.from({ length: count }, (_, index) => index + " "));
  end();
}).on("close", () => process.exit(0));
`;
